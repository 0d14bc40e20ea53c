"""Generation stalls: requests that are decoding get no token for a while, because prompts are computed meanwhile.

**A stall** on a replica is the time from the end of one iteration in which decodes got tokens to the end of the next,
where it is longer than a threshold, prompt tokens were computed in between, and at least one request had its first
token by its beginning and its last not before its end. With pipeline stages, where other micro-batches run in between,
it is one micro-batch of prompts and decodes together that takes longer than the threshold.

**The threshold** is the largest limit that the SLO sets on a time between tokens in seconds; where it sets none, what
Sarathi-Serve (OSDI 2024) calls strict: five decode iterations at batch 32 and context 4096 on the design's own replica.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import IterationLog, RequestResults
from simcore.latency.curve import PS_PER_S, BatchKind
from simcore.slo.objective import Objective, decode_iteration_s, given_limit
from simcore.spec import AttainmentSlo, Case

DECODE_ITERATIONS = 5
BETWEEN_TOKENS = ("tbt_s", "tpot_s")
Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Threshold:
    """A longer time between tokens is a stall."""

    seconds: float
    words: str


@dataclass(frozen=True)
class Stall:
    """One stall."""

    replica: int
    start_ps: int
    end_ps: int
    waiting: int
    """Requests that were decoding throughout."""

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end_ps - self.start_ps) / PS_PER_S

    def as_json(self) -> dict[str, Any]:
        """Times in seconds from the run's beginning."""
        start_s, end_s = self.start_ps / PS_PER_S, self.end_ps / PS_PER_S
        return {"replica": self.replica, "start_s": start_s, "end_s": end_s, "waiting": self.waiting}


def threshold(case: Case, goal: Objective) -> Threshold:
    """By the rule above."""
    if isinstance(goal.slo, AttainmentSlo):
        return Threshold(goal.slo.tpot_s, "the limit on time per output token")
    given = [given_limit(limit, goal) for limit in goal.limits if limit.metric in BETWEEN_TOKENS]
    if given:
        return Threshold(max(given), "the largest limit on the time between tokens")
    words = f"{DECODE_ITERATIONS} decode iterations at batch 32 and context 4096"
    return Threshold(DECODE_ITERATIONS * decode_iteration_s(case), words)


def stalls(inputs: ClusterInputs, requests: RequestResults, log: IterationLog, longer_than_s: float) -> list[Stall]:
    """All that the log has, by replica and time."""
    found: list[Stall] = []
    for replica in np.unique(log.replica).tolist():
        part = _Part.of(log, log.replica == replica)
        between = part.micro_batches if inputs.replicas[replica].stages > 1 else part.between_tokens
        spans = between(round(longer_than_s * PS_PER_S))
        if spans:
            found += _with_waiting(spans, replica, requests)
    return found


@dataclass(frozen=True)
class _Part:
    """The iterations of one replica, by time."""

    start_ps: Int64
    end_ps: Int64
    decodes: Int64
    has_prompts: NDArray[np.bool_]

    @classmethod
    def of(cls, log: IterationLog, here: NDArray[np.bool_]) -> _Part:
        return cls(log.start_ps[here], log.end_ps[here], log.decodes[here], log.kind[here] != int(BatchKind.DECODE))

    def between_tokens(self, longer_than_ps: int) -> list[tuple[int, int]]:
        """From one end of an iteration with decodes to the next, with prompt tokens computed in between."""
        gives = np.flatnonzero(self.decodes > 0)
        first, second = gives[:-1], gives[1:]
        prompts = np.concatenate([[0], np.cumsum(self.has_prompts)])
        stalled = self.end_ps[second] - self.end_ps[first] > longer_than_ps
        stalled &= prompts[second + 1] > prompts[first + 1]
        return list(zip(self.end_ps[first[stalled]].tolist(), self.end_ps[second[stalled]].tolist(), strict=True))

    def micro_batches(self, longer_than_ps: int) -> list[tuple[int, int]]:
        """Those of prompts and decodes together."""
        stalled = (self.decodes > 0) & self.has_prompts & (self.end_ps - self.start_ps > longer_than_ps)
        return list(zip(self.start_ps[stalled].tolist(), self.end_ps[stalled].tolist(), strict=True))


def _with_waiting(spans: list[tuple[int, int]], replica: int, requests: RequestResults) -> list[Stall]:
    """Those during which somebody waited."""
    here = (requests.decode_replica == replica) & (requests.first_token_ps >= 0)
    since = requests.first_token_ps[here]
    until = np.where(requests.finish_ps[here] < 0, np.iinfo(np.int64).max, requests.finish_ps[here])
    waiting = [(span, int(np.count_nonzero((since <= span[0]) & (until >= span[1])))) for span in spans]
    return [Stall(replica, *span, count) for span, count in waiting if count]
