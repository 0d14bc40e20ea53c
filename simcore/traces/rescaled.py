"""A trace at another rate by each of the three ways, beside the trace as it is: how bursty each comes out.

Arrivals alone are looked at, in whole units of which a second at the asked rate has as many as it takes: no time is
rounded anew, so that a million requests take a quarter of a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

import numpy as np

from simcore.traces.arrivals import UNITS_PER_GAP, exact_rate, poisson_gaps, scaled
from simcore.traces.errors import TraceError
from simcore.traces.resample import POISSON_STREAM, How, copies_for, factor_to, rotated_copies
from simcore.traces.statistics import dispersion, gap_cv, index_of_dispersion
from simcore.traces.trace import MAX_ARRIVAL_S, PS_PER_S, IntArray, Trace

WINDOWS_S = (1, 2, 5, 10, 20, 60, 120, 300)
MOST_REQUESTS = 1_000_000
"""Of superposed copies, or of a Poisson process: of longer traces the first part is taken, and that is said."""
LEAST_UNITS = 10**6
"""A second: fewer would round windows."""


@dataclass(frozen=True)
class Times:
    """Arrivals in order from 0 on, in units of which there are so many a second."""

    units: IntArray
    per_s: Fraction

    @classmethod
    def of(cls, arrival_ps: IntArray) -> Times:
        """As they are."""
        return cls(arrival_ps - arrival_ps[0], Fraction(PS_PER_S))

    @property
    def rate_req_per_s(self) -> float:
        """Gaps over duration; infinite where all come at one instant."""
        span = int(self.units[-1])
        return float((len(self.units) - 1) / (span / self.per_s)) if span else math.inf

    def dispersions(self) -> dict[int, float | None]:
        """The index of dispersion by window: of windows of a second, and of so many of them together."""
        units, per_s = self.units, self.per_s
        if per_s < LEAST_UNITS:
            units, per_s = units * LEAST_UNITS, per_s * LEAST_UNITS
        second = round(per_s)
        whole = int(units[-1]) // second
        counts = np.bincount(units[: int(np.searchsorted(units, whole * second))] // second, minlength=whole)
        return {window: _together(counts, window) for window in WINDOWS_S}


@dataclass(frozen=True)
class Burstiness:
    """Of one sequence of arrivals. dispersion: by window in seconds, None where there are fewer than two."""

    requests: int
    rate_req_per_s: float
    dispersion: dict[int, float | None]
    gap_cv: float | None
    problem: str = ""
    """Why there are no such arrivals; then all else says nothing."""
    of_first: int | None = None
    """How many of the trace's requests it is of, where that is not all of them."""

    @classmethod
    def of(cls, times: Times, of_first: int | None = None) -> Burstiness:
        """Of arrivals."""
        return cls(len(times.units), times.rate_req_per_s, times.dispersions(), gap_cv(times.units), of_first=of_first)


def rescaled(arrival_ps: IntArray, rate_req_per_s: float, seed: int = 0) -> dict[How, Burstiness]:
    """What each way makes of a trace's arrivals."""
    found: dict[How, Burstiness] = {}
    for how in get_args(How):
        try:
            found[how] = _brought(arrival_ps, exact_rate(rate_req_per_s), how, seed)
        except TraceError as error:
            found[how] = Burstiness(0, rate_req_per_s, {}, None, str(error))
    return found


def expected_dispersion(trace: Trace, rate_req_per_s: float, how: How, window_s: float) -> float | None:
    """The index of a window that a way leads to, from the trace's own alone: compressed k times, it is that of a window
    k times as long; of independent copies, that of one of them."""
    if how == "poisson":
        return 1.0
    own = trace.rate_per_s
    if not math.isfinite(own):
        return None
    copies = max(1, round(rate_req_per_s / own)) if how == "superpose" else 1
    return index_of_dispersion(trace, window_s * rate_req_per_s / (own * copies))


def _brought(arrival_ps: IntArray, rate: Fraction, how: How, seed: int) -> Burstiness:
    """As ``resample.at_rate`` does, the rounding to whole picoseconds left out."""
    if how == "poisson":
        kept = arrival_ps[:MOST_REQUESTS]
        gaps = poisson_gaps(len(kept), seed, POISSON_STREAM)
        scaled(gaps[-1:], 1 / rate * Fraction(PS_PER_S, UNITS_PER_GAP), MAX_ARRIVAL_S * PS_PER_S)
        return Burstiness.of(Times(gaps - gaps[0], rate * UNITS_PER_GAP), _first(kept, arrival_ps))
    copies, kept = 1, arrival_ps
    if how == "superpose":
        copies = copies_for(arrival_ps, rate)
        kept = arrival_ps[: max(MOST_REQUESTS // copies, 2)]
    offsets = kept - kept[0]
    if copies > 1:
        offsets = np.sort(rotated_copies(offsets, copies, seed))
        offsets -= offsets[0]
    factor = factor_to(offsets, rate, "the trace")
    scaled(offsets[-1:], factor, MAX_ARRIVAL_S * PS_PER_S)  # raises where it would last too long
    return Burstiness.of(Times(offsets, PS_PER_S / factor), _first(kept, arrival_ps))


def _first(kept: IntArray, arrival_ps: IntArray) -> int | None:
    return len(kept) if len(kept) < len(arrival_ps) else None


def _together(counts: IntArray, seconds: int) -> float | None:
    windows = len(counts) // seconds
    return dispersion(counts[: windows * seconds].reshape(windows, seconds).sum(axis=1)) if windows > 1 else None
