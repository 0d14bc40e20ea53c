"""What an engine gives back: whole numbers only, the same arrays bit for bit from oracle and fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from simcore.slo.latencies import TokenGaps

Int64 = NDArray[np.int64]

FINISHED, REFUSED, UNFINISHED = 0, 1, 2
NEVER = -1
"""A time that did not come."""


class BubbleCause(IntEnum):
    """Why a pipeline's stage stands idle while its replica has a micro-batch in flight."""

    UNEQUAL_PROMPTS = 0
    """Two micro-batches that both hold prompt tokens take unlike times."""
    PREFILL_AGAINST_DECODE = 1
    """One with prompt tokens and one without do."""
    UNEQUAL_DECODE_CONTEXTS = 2
    """Two of decodes alone do."""
    UNFILLED = 3
    """Fewer are in flight than there are stages, as nothing more could be formed."""


@dataclass(frozen=True)
class RequestResults:
    """One entry a request, in order of arrival. Times are absolute ps, ``NEVER`` where they did not come."""

    status: Int64
    first_scheduled_ps: Int64
    """Start of the first iteration with any of its prompt."""
    first_token_ps: Int64
    finish_ps: Int64
    max_gap_ps: Int64
    """Longest gap between two consecutive tokens; 0 with one output token."""
    prefill_replica: Int64
    decode_replica: Int64
    preemptions: Int64


@dataclass(frozen=True)
class ReplicaResults:
    """One entry a replica. Times are sums of ps over its stages."""

    busy_ps: Int64
    """[replica, BatchKind]: stage time in prefill, decode, hybrid."""
    iterations: Int64
    """[replica, BatchKind]: micro-batches."""
    prefill_tokens: Int64
    """[replica, BatchKind], like the six that follow: new prompt tokens, recomputed ones included."""
    prompt_ends: Int64
    """Prompts (or recomputations) that ended, which gives a token each."""
    decode_tokens: Int64
    prefill_pairs: Int64
    """Sum over chunks of c*q + q(q+1)/2: attended pairs."""
    chunk_read_tokens: Int64
    """Sum over chunks of c: cached tokens read for them."""
    context_tokens: Int64
    """Sum over decodes of c: cached tokens read for them."""
    padding_tokens: Int64
    """Computed for nobody, and in none of the counts above: padded prompts, slots of finished requests."""
    bubble_ps: Int64
    """[replica, stage, BubbleCause]: a stage idle with a micro-batch in flight on the replica."""
    blocked_ps: Int64
    """Nothing in flight, with a request waiting that its KV cannot hold."""
    transfer_wait_ps: Int64
    """Nothing in flight, with nothing to run but KV on its way in."""
    nic_busy_ps: Int64
    kv_peak_tokens: Int64
    """Most tokens' worth of blocks taken at once."""
    energy_nj: Int64
    """Nanojoules above idle: sum of power (mW) x (end_us - start_us) over micro-batches, times floored to whole us."""


class KeptGaps(TokenGaps, Protocol):
    """Token gaps of the window's requests, in whichever form an engine keeps them."""

    def counted(self) -> tuple[Int64, Int64]:
        """Distinct gaps, increasing, and how often each came: as many entries as there are lengths."""


@dataclass(frozen=True)
class CountedGaps:
    """Each distinct gap, increasing, with how often it came."""

    gap_ps: Int64
    gap_count: Int64

    @cached_property
    def total(self) -> int:
        """How many came."""
        return int(self.gap_count.sum())

    def at_ranks(self, ranks: Sequence[int]) -> list[int]:
        """Of all in increasing order those at these places, from 1."""
        found: list[int] = self.gap_ps[np.searchsorted(np.cumsum(self.gap_count), ranks, side="left")].tolist()
        return found

    def counted(self) -> tuple[Int64, Int64]:
        """As they are kept."""
        return self.gap_ps, self.gap_count


@dataclass(frozen=True)
class IterationLog:
    """The micro-batches that were under way within ``ClusterInputs.log_ps``, by replica, then by start."""

    replica: Int64
    start_ps: Int64
    """When its first stage took it up."""
    end_ps: Int64
    """Of its last stage; earlier where its replica failed."""
    kind: Int64
    tokens: Int64
    """All that was computed in it: new tokens and decodes, with padding."""
    decodes: Int64
    """Its members that get a token each."""


def log_in_order(
    replica: Int64, start_ps: Int64, end_ps: Int64, kind: Int64, tokens: Int64, decodes: Int64
) -> IterationLog:
    """The same log however it was written down."""
    order = np.lexsort((decodes, tokens, kind, end_ps, start_ps, replica))
    return IterationLog(*(column[order] for column in (replica, start_ps, end_ps, kind, tokens, decodes)))


@dataclass(frozen=True)
class RunResult:
    """A whole run."""

    requests: RequestResults
    replicas: ReplicaResults
    gaps: KeptGaps
    """Of the window's requests."""
    energy_by_second_nj: Int64
    """Of the cluster above idle, one entry a second from time 0 to the last finish."""
    end_ps: int
    """Last finish (0 with none)."""
    busy_until_ps: int
    """Last end of a micro-batch: later than the last finish where requests stay unfinished."""
    events: int
    """What the engine handled: arrivals, selections of a batch, finishes and transfers. The oracle selects before every
    micro-batch, the fast engine not while a batch goes on unchanged."""
    gave_up: bool = False
    """A wait limit was missed by more requests than it allows, and the run ended there: of all else only what was
    counted so far is known."""
    log: IterationLog | None = None
    """Where one was asked for."""

    @property
    def gap_ps(self) -> Int64:
        """Distinct token gaps, increasing."""
        return self.gaps.counted()[0]

    @property
    def gap_count(self) -> Int64:
        """How often each came."""
        return self.gaps.counted()[1]
