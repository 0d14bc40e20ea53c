"""Whether a queue grew over a window: the test that takes a rate as one that cannot be sustained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.distribution import mean_of
from simcore.latency.curve import PS_PER_S

GROWTH_PER_S = 0.02
"""Seconds of delay gained a second: an overload of 2 %."""
GROWTH_OF_LONE = 0.5
"""Growth is told from noise and warm-up above this share of a request's mean time alone."""
LEAST_REQUESTS = 30
"""Fewer say nothing about growth."""


@dataclass(frozen=True)
class Stability:
    """What the window showed."""

    stable: bool
    growth_s: float
    """Mean delay of the last third of the window's requests less that of the first third."""
    allowed_s: float
    judged: bool
    """False where the window has too few requests to tell; such a window counts as stable, and is warned of."""


def stability(arrival_ps: NDArray[np.int64], delay_ps: NDArray[np.int64], lone_ps: NDArray[np.int64]) -> Stability:
    """A window is unstable where requests are delayed ever more from its first third to its last.

    Delay = arrival to last token, less the request's time alone on its own replicas: waiting and sharing, whatever
    the request's length. At a rate above what the cluster serves it gains (1 - service rate / arrival rate) s a second
    without end. Unstable: the mean delay of the last third exceeds that of the first by more than 2 % of the time
    between their mean arrivals and by more than half of the mean time alone (so that batches filling up at the start,
    or noise in a light load, do not count). Finished requests only, in order of arrival; entries are ps.
    """
    third = len(arrival_ps) // 3
    if len(arrival_ps) < LEAST_REQUESTS:
        return Stability(True, 0.0, 0.0, judged=False)
    growth = _mean_s(delay_ps[-third:]) - _mean_s(delay_ps[:third])
    apart = _mean_s(arrival_ps[-third:]) - _mean_s(arrival_ps[:third])
    allowed = max(GROWTH_PER_S * apart, GROWTH_OF_LONE * _mean_s(lone_ps))
    return Stability(growth <= allowed, growth, allowed, judged=True)


def _mean_s(values_ps: NDArray[np.int64]) -> float:
    return mean_of(values_ps) / PS_PER_S
