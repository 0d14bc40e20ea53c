"""A request alone on one replica: ``simcore/fluid/lone.py`` of one request, where no product leaves int64."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.curve import Curve, base_ps, chunk_ps, curve_table, knot_array
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import address_of, numbers, row_of, table
from simcore.engine.inputs import ClusterInputs, Int64, ReplicaInputs
from simcore.engine.tally.records import NO_REFERENCE, Alone, Walk, alone_row
from simcore.fluid.lone import INT64_SAFE
from simcore.fluid.lone import base_ps as base_of_many_ps
from simcore.latency.curve import ATTENTION_FRACTION_BITS, BatchKind, IterationCurve
from simcore.same import Same

KNOWN_TOKENS = 8192
"""A table of 64 KiB a curve; longer prompts are looked up between the curve's knots."""
KEPT = 64
PREFILL = int(BatchKind.PREFILL)
curve_row = row_of(Curve)


@dataclass(frozen=True)
class Growth:
    """No number on the way to a replica's times alone is above quadratic x n**2 + linear x n + constant, of so many
    tokens n."""

    quadratic: int
    linear: int
    constant: int

    @classmethod
    def of(cls, curve: IterationCurve, stages: int) -> Growth:
        """All terms of the formula together."""
        values, decode_ps = curve.prefill_ps, decode_iteration_ps(curve)
        steepest = max((abs(b - a) for a, b in pairwise(values)), default=0)
        read = curve.chunk_read_ps << ATTENTION_FRACTION_BITS
        linear, constant = read + steepest + decode_ps, steepest * curve.tokens[-1] + max(values)
        return cls(stages * (curve.attention + curve.context_ps + 1), stages * linear, stages * constant)

    def fits(self, tokens: int) -> bool:
        """Whether int64 holds them all."""
        return (self.quadratic * tokens + self.linear) * tokens + self.constant < INT64_SAFE


@dataclass(frozen=True)
class Replicas:
    """What requests are alone on: the replicas of a case, each curve with its stages once, and the reference."""

    fields: dict[str, int]
    """Of ``Walk``; none where not even short requests are told exactly."""
    growths: list[Growth]
    held: list[NDArray[Any]]
    """What the fields point to."""

    def fit(self, tokens: int) -> bool:
        """Whether the longest request of so many tokens is told exactly."""
        return bool(self.fields) and all(growth.fits(tokens + 1) for growth in self.growths)


def replicas_of(inputs: ClusterInputs, reference: IterationCurve | None) -> Replicas:
    """The same as long as it is kept: a search asks for it run after run."""
    return _kept(Same(inputs.replicas), Same(reference))


@lru_cache(maxsize=KEPT)
def _kept(replicas: Same[tuple[ReplicaInputs, ...]], reference: Same[IterationCurve | None]) -> Replicas:
    places: dict[tuple[IterationCurve, int], int] = {}
    by_pool = {it.pool: places.setdefault((it.curve, it.stages), len(places)) for it in replicas.value}
    served = [*places, *([(reference.value, 1)] if reference.value is not None else [])]
    growths = [Growth.of(*one) for one in served]
    if not all(growth.fits(KNOWN_TOKENS) for growth in growths):
        return Replicas({}, growths, [])
    curves, knots = curve_table([curve for curve, _ in served]), knot_array([curve for curve, _ in served])
    pool_of = np.array([by_pool[it.pool] for it in replicas.value], np.int64)
    known = [_known_base(Same(curve)) for curve, _ in served]
    alone = table(
        Alone,
        len(served),
        curve=[address_of(curves) + place * curves.itemsize for place in range(len(served))],
        stages=[stages for _, stages in served],
        decode_ps=[decode_iteration_ps(curve) for curve, _ in served],
        known_base=[address_of(column) for column in known],
        known_tokens=KNOWN_TOKENS,
    )
    fields = {
        "alone": address_of(alone),
        "knots": address_of(knots),
        "pool_of": address_of(pool_of),
        "pools": len(places),
        "reference": len(places) if reference.value is not None else NO_REFERENCE,
    }
    return Replicas(fields, growths, [alone, curves, knots, pool_of, *known])


def decode_iteration_ps(curve: IterationCurve) -> int:
    """A decode alone, but for its context."""
    return curve.base_ps(BatchKind.DECODE, 1) + curve.decode_seq_ps


@lru_cache(maxsize=KEPT)
def _known_base(curve: Same[IterationCurve]) -> Int64:
    return np.ascontiguousarray(base_of_many_ps(curve.value, BatchKind.PREFILL, np.arange(KNOWN_TOKENS)), np.int64)


@step
def alone_ttft_ps(walk: Walk, place: int, prompt_tokens: int, cached_tokens: int) -> int:
    """Arrival to first token."""
    alone = alone_row(walk.alone, place)
    curve, new = curve_row(alone.curve, 0), prompt_tokens - cached_tokens
    known = new < alone.known_tokens
    base = numbers(alone.known_base)[new] if known else base_ps(curve, walk.knots, PREFILL, new)
    return (base + chunk_ps(curve, new, cached_tokens)) * alone.stages


@step
def alone_decode_ps(walk: Walk, place: int, prompt_tokens: int, steps: int) -> int:
    """First token to last."""
    alone = alone_row(walk.alone, place)
    contexts = steps * prompt_tokens + ((steps * (steps - 1)) >> 1)
    return (steps * alone.decode_ps + curve_row(alone.curve, 0).context_ps * contexts) * alone.stages
