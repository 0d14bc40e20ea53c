"""How a run's times are spread: cumulative distributions of each time that matters, exact at their percentiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simcore.evaluation import LimitResult
from simcore.latency.curve import PS_PER_S
from simcore.slo.distribution import Numbers, finite, gap_percentiles, percentiles
from simcore.slo.latencies import Latencies
from simcore.slo.objective import Objective, slowdown, values_ps

PERCENTILES = (
    *range(1, 90),
    *(90 + step / 2 for step in range(18)),
    *(99 + step / 10 for step in range(10)),
    99.99,
    100,
)
"""Where a distribution is told, closer together where limits lie; a limit's own percentile is told besides."""
ALWAYS = ("ttft_s", "tbt_s")
GAPS = "tbt_s"
"""The one metric that is over tokens, not over requests."""


@dataclass(frozen=True)
class Cdf:
    """At each percentile the least value that so many do not exceed, as everywhere (``simcore.slo.distribution``)."""

    metric: str
    over: str
    """``requests`` or ``gaps`` between tokens."""
    count: int
    infinite: int
    """Those that never came: they are beyond every value."""
    percentiles: tuple[float, ...]
    values: tuple[float | None, ...]
    """In seconds, or times slower; None: infinite."""
    limits: tuple[LimitResult, ...]
    """Those of the SLO on this metric."""

    def as_json(self) -> dict[str, Any]:
        """By field; a limit by its own."""
        return self.__dict__ | {"limits": [limit.__dict__ for limit in self.limits]}


def cdfs(goal: Objective, latencies: Latencies, limits: Sequence[LimitResult]) -> list[Cdf]:
    """Of each metric that the SLO limits, and of TTFT and TBT in seconds, over the requests of a window."""
    limited = (limit.metric for limit in limits if limit.percentile)
    return [_cdf(metric, goal, latencies, limits) for metric in dict.fromkeys((*limited, *ALWAYS))]


def _cdf(metric: str, goal: Objective, latencies: Latencies, limits: Sequence[LimitResult]) -> Cdf:
    own = tuple(limit for limit in limits if limit.metric == metric and limit.percentile)
    wanted = _wanted(limit.percentile for limit in own)
    if metric == GAPS:
        never = latencies.gaps_never
        found = [value / PS_PER_S for value in gap_percentiles(latencies.gaps, never, wanted)]
        return Cdf(metric, "gaps", latencies.gaps.total + never, never, wanted, _finite(found), own)
    values = _values(metric, goal, latencies)
    scale = 1.0 if metric.endswith("_slowdown") else PS_PER_S
    found = [value / scale for value in percentiles(values, wanted)]
    never = len(latencies) - int(np.count_nonzero(latencies.done))
    return Cdf(metric, "requests", len(values), never, wanted, _finite(found), own)


def _wanted(besides: Iterable[float]) -> tuple[float, ...]:
    return tuple(sorted({*map(float, PERCENTILES), *besides}))


def _values(metric: str, goal: Objective, latencies: Latencies) -> Numbers:
    if metric.endswith("_slowdown"):
        assert goal.reference is not None  # noqa: S101 - such a limit has one
        return slowdown(goal.reference, latencies, metric)
    return values_ps(metric, latencies)


def _finite(values: Sequence[float]) -> tuple[float | None, ...]:
    return tuple(finite(value) if not math.isnan(value) else None for value in values)
