"""How many requests an engine served at once while it was measured: what its results show, beside what we count.

By our count a replica holds as many as its batch size and KV memory take. An engine may hold more (KV in fewer bits, a
larger batch): as many as were seen being decoded at once at any load, requests/s x TPOT x (output tokens - 1), it held.
It may hold fewer (a smaller ``max_num_seqs``): then most requests of a closed loop wait, which is seen as few of them
decoding beside a TTFT far above what prefills explain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from simcore.calibration.target import Target
from simcore.latency.curve import IterationCurve
from simcore.measurements import Flag, Flags, ServingPoint
from simcore.memory import DoesNotFit, kv_capacity
from simcore.spec import MemorySpec
from simcore.steady_state.loops import Lengths, Serving, closed_loop

DECODING_SHARE = 0.75
"""With fewer than this of those in flight being decoded ..."""
TTFT_TIMES = 4.0
"""... and TTFT so many times what the shipped coefficients expect, most waited for a place."""
NEARLY = 1.1
"""Those being prefilled have a place too."""


@dataclass(frozen=True)
class Places:
    """Of one replica at one degree."""

    batch_size: float
    kv_tokens: float

    def serving(self, target: Target) -> Serving:
        """How the replica batches."""
        return Serving(
            token_budget=target.token_budget,
            prefill_apart=target.engine == "vllm-2023",
            max_batch_size=self.batch_size,
            kv_tokens=self.kv_tokens,
        )


def places(points: Sequence[ServingPoint], target: Target, degree: int, flags: Flags) -> Places:
    """Of the points of one degree, all of one engine."""
    seen = [(decoding(point) / replicas_of(point, target), lengths_of(point).resident) for point in points]
    batch = max((sequences for sequences, _ in seen), default=0.0) * NEARLY
    tokens = max((sequences * resident for sequences, resident in seen), default=0.0) * NEARLY
    return Places(max(target.max_batch_size, batch), max(_counted(points, target, degree, flags), tokens))


def most_wait(point: ServingPoint, served: float, curve: IterationCurve, serving: Serving) -> bool:
    """Whether most of ``served`` requests in flight had no place (``curve``: by the shipped coefficients)."""
    ttft = point.ttft_median_s or point.ttft_s
    share = decoding(point) / served if served else 1.0
    if ttft is None or share >= DECODING_SHARE or share == 0:
        return False
    return ttft > TTFT_TIMES * closed_loop(curve, lengths_of(point), serving, served).ttft_s


def decoding(point: ServingPoint) -> float:
    """Sequences that were decoded at once, all replicas together."""
    if not (point.requests_per_s and point.tpot_s and point.output_tokens):
        return 0.0
    return point.requests_per_s * point.tpot_s * (point.output_tokens - 1)


def lengths_of(point: ServingPoint) -> Lengths:
    """Of a mean request."""
    return Lengths.of(max(point.prompt_tokens or 1.0, 1.0), max(point.output_tokens or 1.0, 1.0))


def replicas_of(point: ServingPoint, target: Target) -> int:
    """That shared the load."""
    return point.setting.replicas or target.replicas or 1


def _counted(points: Sequence[ServingPoint], target: Target, degree: int, flags: Flags) -> float:
    """KV tokens by our count; no limit where the weights do not fit, which the results disprove."""
    try:
        return kv_capacity(target.model, target.machine, degree, 1, MemorySpec()).tokens
    except DoesNotFit as error:
        found, reason = f"TP{degree}", f"by our count it does not fit: {error}"
        flags.add(Flag(points[0].file, points[0].where, "", found, reason, "noted"))
        return math.inf
