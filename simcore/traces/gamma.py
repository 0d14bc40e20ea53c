"""Gaps between arrivals with a chosen coefficient of variation: a gamma distribution, on any machine the same.

A gap is a function of an exponential variate, tabulated once for a coefficient of variation (rounded to 10^-9 of the
mean gap, linear between the points), so that the random numbers are those of a Poisson process of the same seed.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simcore.traces.arrivals import UNITS_PER_GAP
from simcore.traces.splitmix import exponentials
from simcore.traces.trace import IntArray

KNOTS = 4000
LARGEST_EXPONENTIAL = 37.0
"""-ln of the smallest variate: 2^-53."""
GRAIN = 1_000_000_000


def gamma_gaps(gap_cv: float, requests: int, seed: int, stream: int) -> IntArray:
    """Gaps in 10^-12 of the mean gap."""
    at, gap = _table(gap_cv)
    variates = exponentials(seed, stream, requests)
    knot = np.minimum(np.searchsorted(at, variates, side="right") - 1, KNOTS - 1)
    share = (variates - at[knot]) / (at[knot + 1] - at[knot])
    gaps: IntArray = np.rint((gap[knot] + share * (gap[knot + 1] - gap[knot])) * UNITS_PER_GAP).astype(np.int64)
    return gaps


@lru_cache(maxsize=8)
def _table(gap_cv: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Exponential variates, and the gaps of a mean of 1 that as many do not exceed."""
    from scipy.special import gammainccinv, gammaincinv

    shape = 1 / (gap_cv * gap_cv)
    at = LARGEST_EXPONENTIAL * (np.arange(KNOTS + 1) / KNOTS) ** 2
    low = gammaincinv(shape, -np.expm1(-at))
    high = gammainccinv(shape, np.exp(-at))
    gap = np.rint(np.where(at < 1, low, high) / shape * GRAIN) / GRAIN
    return at, gap
