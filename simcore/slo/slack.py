"""How much tighter an SLO could be, or how much looser it would have to be, for a run to hold it.

What a run waits for does not depend on its SLO, so one run at a rate says of every multiple of the SLO (all latency
limits times the same factor, percentiles and shares as they are) whether it is held there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simcore.evaluation import LimitResult
from simcore.latency.curve import PS_PER_S
from simcore.slo.distribution import percentile
from simcore.slo.latencies import INFINITE, Latencies
from simcore.slo.objective import attainment_percentile
from simcore.spec import AttainmentSlo, Slo


def least_multiplier(slo: Slo, limits: Sequence[LimitResult], latencies: Latencies) -> float | None:
    """The least factor at which a stable run holds the SLO; None where it holds at none (requests that never finish).

    Of limits at percentiles: the largest of value over limit. Of an attainment: the percentile, at its share, of the
    larger of TTFT and TPOT over their limits, request by request, as the same request must meet both.
    """
    if isinstance(slo, AttainmentSlo):
        return _finite(percentile(_over_limits(slo, latencies), attainment_percentile(slo)))
    return of_limits(limits)


def of_limits(limits: Sequence[LimitResult]) -> float | None:
    """The same of limits at percentiles alone."""
    return _finite(max(math.inf if limit.value is None else limit.value / limit.limit for limit in limits))


def _over_limits(slo: AttainmentSlo, latencies: Latencies) -> NDArray[np.float64]:
    ttft = np.where(latencies.ttft_ps == INFINITE, np.inf, latencies.ttft_ps / (slo.ttft_s * PS_PER_S))
    return np.maximum(ttft, latencies.tpot_ps / (slo.tpot_s * PS_PER_S))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
