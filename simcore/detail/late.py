"""Which requests are late: beyond the limit of a metric at its highest percentile; of an attainment, beyond either."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simcore.evaluation import LimitResult
from simcore.latency.curve import PS_PER_S
from simcore.slo.latencies import INFINITE, Latencies
from simcore.slo.objective import Objective, limit_values
from simcore.spec import AttainmentSlo

Late = tuple[NDArray[np.bool_], float]
"""Of each request whether it is late, and the share that may be."""


def late_by_metric(goal: Objective, latencies: Latencies, limits: Sequence[LimitResult]) -> list[Late]:
    """Which requests are late by each metric, and the share that may be."""
    if isinstance(goal.slo, AttainmentSlo):
        ttft, tpot = (limit * PS_PER_S for limit in (goal.slo.ttft_s, goal.slo.tpot_s))
        late = (latencies.ttft_ps > ttft) | (latencies.ttft_ps == INFINITE) | (latencies.tpot_ps > tpot)
        return [(late, 1 - goal.slo.share)]
    highest = {limit.metric: limit for limit in sorted(limits, key=lambda limit: limit.percentile)}
    found = []
    for limit in highest.values():
        values = limit_values(goal, latencies, limit)
        if values is not None:
            found.append((_of_all(latencies, values) > limit.limit, 1 - limit.percentile / 100))
    return found


def _of_all(latencies: Latencies, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """One entry a request: what only requests with a second token have is 0 of the others."""
    if len(values) == len(latencies):
        return values
    every = np.zeros(len(latencies))
    every[latencies.has_tpot] = values
    return every
