"""Whether an SLO holds over a window's requests, limit by limit (DESIGN.md section 6). Imports no engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from simcore.catalogue import resolve_machine, resolve_model
from simcore.evaluation import LimitResult
from simcore.fluid.lone import lone_times
from simcore.latency.compile import compile_curve
from simcore.latency.curve import PS_PER_S, IterationCurve
from simcore.slo.distribution import Numbers, gap_percentiles, percentiles_of_own
from simcore.slo.latencies import INFINITE, Latencies
from simcore.spec import (
    AbsoluteSlo,
    AttainmentSlo,
    Case,
    LatencySpec,
    Limit,
    PoolSpec,
    Slo,
    SlowdownSlo,
    SpecError,
    decode,
)

DECODE_BATCH = 32
DECODE_CONTEXT_TOKENS = 4096
"""The decode iteration that ``limit_x_decode`` counts in (Sarathi-Serve, OSDI 2024, section 5.1)."""
ATTAINMENT = "attainment"

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class SloOutcome:
    """What came of each limit; all must hold."""

    met: bool
    limits: tuple[LimitResult, ...]


@dataclass(frozen=True)
class Objective:
    """An SLO ready to be checked: its reference machine and its decode iteration compiled once."""

    slo: Slo
    reference: IterationCurve | None = None
    """Slowdown: the machine that a request is alone on."""
    decode_iteration_s: float | None = None
    """``limit_x_decode``: its unit on the design's own replica."""

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """Those of percentiles, made once: an attainment has none."""
        if isinstance(self.slo, AttainmentSlo):
            return ()
        return self.slo.limits() if isinstance(self.slo, SlowdownSlo) else self.slo.limits


def objective(case: Case) -> Objective:
    """The case's SLO with what it is relative to.

    The reference machine runs a request alone: batch 1, all its accelerators tensor-parallel, the case's model and
    precision, and the latency source of the case (that of a pool on the same machine, if the pool has its own).
    Whether the model fits its memory is ignored. SpecError where a ``curve`` source leaves the reference without a
    latency, where the source has no data for the reference, and where a limit does not suit the kind.
    """
    if isinstance(case.slo, SlowdownSlo):
        return Objective(case.slo, reference=_reference_curve(case, case.slo))
    if isinstance(case.slo, AbsoluteSlo):
        for i, limit in enumerate(case.slo.limits):
            if limit.metric.endswith("_slowdown"):
                raise SpecError(
                    f"slo.limits[{i}].metric: found {limit.metric}, expected a metric in seconds with kind absolute"
                )
        if any(limit.limit_x_decode is not None for limit in case.slo.limits):
            return Objective(case.slo, decode_iteration_s=decode_iteration_s(case))
    return Objective(case.slo)


class Waits(Protocol):
    """What the requests of a window waited for, as far as an SLO asks."""

    def __len__(self) -> int:
        """How many requests there are."""

    def percentiles(self, metric: str, wanted: Sequence[float]) -> list[float]:
        """A metric at some percentiles, in its unit: TBT over all gaps, TPOT over requests with a second token."""

    def tpot_of_all_s(self, percentile: float) -> float:
        """TPOT over all requests: 0 where there is no second token."""

    def in_time(self, ttft_limit_ps: float, tpot_limit_ps: float) -> int:
        """How many requests keep both limits; one output token: no TPOT to miss."""


@dataclass(frozen=True)
class ColumnsOfWaits:
    """``Waits`` of whole columns: the plain ones."""

    goal: Objective
    latencies: Latencies

    def __len__(self) -> int:
        return len(self.latencies)

    def percentiles(self, metric: str, wanted: Sequence[float]) -> list[float]:
        """Each metric is sorted once."""
        latencies = self.latencies
        if self.goal.reference is not None:
            return percentiles_of_own(slowdown(self.goal.reference, latencies, metric), wanted)
        if metric == "tbt_s":
            found = gap_percentiles(latencies.gaps, latencies.gaps_never, wanted)
        else:
            found = percentiles_of_own(values_ps(metric, latencies), wanted)
        return [value / PS_PER_S for value in found]

    def tpot_of_all_s(self, percentile: float) -> float:
        """Of the column with its zeros."""
        return percentiles_of_own(self.latencies.tpot_ps, [percentile])[0] / PS_PER_S

    def in_time(self, ttft_limit_ps: float, tpot_limit_ps: float) -> int:
        """One piece after the other."""
        parts = self.latencies.parts()
        kept = (np.count_nonzero((p.ttft_ps <= ttft_limit_ps) & (p.tpot_ps <= tpot_limit_ps)) for p in parts)
        return sum(map(int, kept))


def check(goal: Objective, latencies: Latencies) -> SloOutcome:
    """Each limit of the SLO over all requests of the window; percentile = inverse empirical CDF, never-finished =
    infinite."""
    return judge(goal, ColumnsOfWaits(goal, latencies))


def judge(goal: Objective, waits: Waits) -> SloOutcome:
    """``check`` of the window's waits, however they are kept."""
    if isinstance(goal.slo, AttainmentSlo):
        limits = _attainment(goal.slo, waits)
    else:
        found = zip(goal.limits, _values_at(waits, goal.limits), strict=True)
        limits = [_result(limit, value, given_limit(limit, goal)) for limit, value in found]
    return SloOutcome(all(limit.met for limit in limits), tuple(limits))


def percentiles_asked(goal: Objective) -> dict[str, tuple[float, ...]]:
    """By metric, what ``judge`` asks of the waits."""
    if isinstance(goal.slo, AttainmentSlo):
        return {"ttft_s": (attainment_percentile(goal.slo),)}
    metrics = dict.fromkeys(limit.metric for limit in goal.limits)
    return {metric: tuple(it.percentile for it in goal.limits if it.metric == metric) for metric in metrics}


def slowdown(reference: IterationCurve, latencies: Latencies, metric: str) -> Float64:
    """Each request's time over its time alone on the reference: TTFT, E2E, and TPOT (named TBT as in Splitwise's Table
    VI) of the requests with a second token."""
    return latencies.in_pieces(lambda part: _slowdown(reference, part, metric))


def _slowdown(reference: IterationCurve, latencies: Latencies, metric: str) -> Float64:
    alone = lone_times(reference, 1, latencies.prompt_tokens, latencies.cached_prompt_tokens, latencies.output_tokens)
    if metric == "ttft_slowdown":
        return _ratio(latencies.ttft_ps, alone.ttft_ps)
    if metric == "e2e_slowdown":
        return _ratio(latencies.e2e_ps, alone.e2e_ps)
    steps = np.maximum(latencies.output_tokens - 1, 1)
    return latencies.of_several(latencies.tpot_ps / np.maximum(alone.decode_ps / steps, 1.0))


def limit_values(goal: Objective, latencies: Latencies, limit: LimitResult) -> Float64 | None:
    """The limit's metric of each request it is over, in order of arrival and in its unit; None where it has none a
    request (TBT over gaps, an attainment's share)."""
    if limit.metric in ("tbt_s", ATTAINMENT):
        return None
    if goal.reference is not None:
        return slowdown(goal.reference, latencies, limit.metric)
    values = values_ps(limit.metric, latencies)
    return np.where(values == INFINITE, np.inf, values) / PS_PER_S


def decode_iteration_s(case: Case) -> float:
    """A decode iteration at batch 32 and context 4096 on the design's own replica, all pipeline stages, in seconds.

    The replica is one of the case's first pool that decodes.
    """
    pool = next(pool for pool in case.pools if pool.role != "prefill")
    curve = compile_curve(
        resolve_model(case.model),
        resolve_machine(pool.machine),
        pool.tensor_parallel,
        pool.pipeline_parallel,
        pool.latency or case.latency,
    )
    return curve.iteration_ps([], [DECODE_CONTEXT_TOKENS] * DECODE_BATCH) * pool.pipeline_parallel / PS_PER_S


def reference_latency(case: Case, slo: SlowdownSlo) -> LatencySpec:
    """The latency source of the reference machine: given outright, else the design's own (see ``objective``)."""
    if slo.reference_latency is not None:
        return decode(LatencySpec, slo.reference_latency, "slo.reference_latency")
    sources = [pool.latency or case.latency for pool in case.pools]
    if any(source.source == "curve" for source in sources):
        raise SpecError(
            "slo.reference_latency: missing, expected a latency source for the reference machine,"
            " as latency.source curve describes the design's replicas only"
        )
    own = [source for pool, source in zip(case.pools, sources, strict=True) if _machine_id(pool) == slo.reference]
    return own[0] if own else case.latency


def _reference_curve(case: Case, slo: SlowdownSlo) -> IterationCurve:
    try:
        machine = resolve_machine(slo.reference)
    except SpecError as error:
        raise SpecError(f"slo.reference: {error}") from None
    latency, model = reference_latency(case, slo), resolve_model(case.model)
    try:
        return compile_curve(model, machine, machine.accelerators, 1, latency)
    except SpecError as error:
        raise SpecError(
            f"slo.reference: '{slo.reference}' with all {machine.accelerators} accelerators: {error}"
        ) from None


def _machine_id(pool: PoolSpec) -> str:
    return pool.machine if isinstance(pool.machine, str) else pool.machine.id


def values_ps(metric: str, latencies: Latencies) -> Numbers:
    """The column of a metric in seconds that each request has, in picoseconds; TPOT of those with a second token."""
    if metric == "tpot_s":
        return latencies.tpot_of_several_ps
    return {"ttft_s": latencies.ttft_ps, "e2e_s": latencies.e2e_ps, "queue_s": latencies.queue_ps}[metric]


def _values_at(waits: Waits, limits: Sequence[Limit]) -> list[float]:
    """Each limit's metric at its percentile; each metric is asked for once."""
    found: dict[tuple[str, float], float] = {}
    for metric in dict.fromkeys(limit.metric for limit in limits):
        wanted = [limit.percentile for limit in limits if limit.metric == metric]
        found.update({(metric, p): value for p, value in zip(wanted, waits.percentiles(metric, wanted), strict=True)})
    return [found[limit.metric, limit.percentile] for limit in limits]


def given_limit(limit: Limit, goal: Objective) -> float:
    """The limit in its unit: as it is written, or so many decode iterations."""
    if limit.limit is not None:
        return limit.limit
    assert limit.limit_x_decode is not None and goal.decode_iteration_s is not None  # noqa: S101, PT018 - Limit has one of the two
    return limit.limit_x_decode * goal.decode_iteration_s


def _result(limit: Limit, value: float, given: float) -> LimitResult:
    return LimitResult(limit.metric, limit.percentile, given, value if math.isfinite(value) else None, value <= given)


def _attainment(slo: AttainmentSlo, waits: Waits) -> list[LimitResult]:
    """The share that meets both, the same request both; and each limit by itself at the share, which the share implies:
    they say which of the two is short."""
    both = waits.in_time(slo.ttft_s * PS_PER_S, slo.tpot_s * PS_PER_S)
    met = both >= math.ceil(Fraction(repr(slo.share)) * len(waits))
    p = attainment_percentile(slo)
    parts = [
        _result(Limit("ttft_s", p, slo.ttft_s), waits.percentiles("ttft_s", [p])[0], slo.ttft_s),
        _result(Limit("tpot_s", p, slo.tpot_s), waits.tpot_of_all_s(p), slo.tpot_s),
    ]
    return [LimitResult(ATTAINMENT, 0.0, slo.share, both / len(waits), met), *parts]


def attainment_percentile(slo: AttainmentSlo) -> float:
    """At which each limit by itself is told."""
    return round(100 * slo.share, 9)


def _ratio(values: NDArray[np.int64], alone: NDArray[np.int64]) -> Float64:
    ratio = values / np.maximum(alone, 1)
    ratio[values == INFINITE] = np.inf
    return ratio
