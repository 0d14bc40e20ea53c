"""Whether a queue grew over a window: the test that takes a rate as one that cannot be sustained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.latency.curve import PS_PER_S
from simcore.slo.distribution import exact_sum

Int64 = NDArray[np.int64]

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


def stability(arrival_ps: Int64, delay_ps: Int64, lone_ps: Int64) -> Stability:
    """A window is unstable where requests are delayed ever more from its first third to its last.

    Delay = arrival to last token, less the request's time alone on its own replicas: waiting and sharing, whatever
    the request's length. At a rate above what the cluster serves it gains (1 - service rate / arrival rate) s a second
    without end. Unstable: the mean delay of the last third exceeds that of the first by more than 2 % of the time
    between their mean arrivals and by more than half of the mean time alone (so that batches filling up at the start,
    or noise in a light load, do not count). Finished requests only, in order of arrival; entries are ps.
    """
    return stability_of_parts(len(arrival_ps), [(arrival_ps, delay_ps, lone_ps)])


def stability_of_parts(requests: int, parts: Iterable[tuple[Int64, Int64, Int64]]) -> Stability:
    """``stability`` of so many requests, whose arrivals, delays and times alone are given one part after the other."""
    third, seen, lone = requests // 3, 0, 0
    first, last = [0, 0], [0, 0]
    for arrival_ps, delay_ps, lone_ps in parts:
        early, late = max(third - seen, 0), max(requests - third - seen, 0)
        for i, values in enumerate((arrival_ps, delay_ps)):
            first[i] += exact_sum(values[:early])
            last[i] += exact_sum(values[late:])
        lone += exact_sum(lone_ps)
        seen += len(arrival_ps)
    return stability_of_sums(requests, first, last, lone)


def stability_of_sums(requests: int, first: Sequence[int], last: Sequence[int], lone: int) -> Stability:
    """``stability`` of so many requests by sums: of arrivals and delays of the first third, of the last, of the times
    alone of all."""
    if requests < LEAST_REQUESTS:
        return Stability(True, 0.0, 0.0, judged=False)
    third = requests // 3
    apart, growth = (
        late / third / PS_PER_S - early / third / PS_PER_S for early, late in zip(first, last, strict=True)
    )
    allowed = max(GROWTH_PER_S * apart, GROWTH_OF_LONE * (lone / requests / PS_PER_S))
    return Stability(growth <= allowed, growth, allowed, judged=True)
