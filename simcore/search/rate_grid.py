"""The rates at which capacities are looked for: one geometric grid for all designs, ``rate_k = 1.01 ** k`` requests/s.

A capacity is a rate of the grid, so it does not depend on the path of its search, and two designs are run at the same
rates, on the same requests at the same times: common random numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

STEP = Fraction(101, 100)
"""The resolution of a capacity: 1 %."""
MOST_RATE_REQ_PER_S = 1e6
"""Searched up to where iterations take no time."""


@lru_cache(maxsize=4096)
def grid_rate(k: int) -> float:
    """Requests/s of the k-th rate, k any whole number: the exact power rounded once, so the same on any machine."""
    return float(STEP**k)


def grid_at_most(rate_req_per_s: float) -> int:
    """The k of the highest grid rate that is at most ``rate_req_per_s`` (which is positive)."""
    k = math.floor(math.log(rate_req_per_s) / math.log(STEP))
    while grid_rate(k) > rate_req_per_s:
        k -= 1
    while grid_rate(k + 1) <= rate_req_per_s:
        k += 1
    return k


def grid_below(rate_req_per_s: float) -> int:
    """The k of the highest grid rate below ``rate_req_per_s`` (which is positive)."""
    k = grid_at_most(rate_req_per_s)
    return k - 1 if grid_rate(k) == rate_req_per_s else k


def steps_of(ratio: float) -> int:
    """How many steps of the grid come nearest to a ratio of two rates: -11 for 0.9, -22 for 0.8."""
    return round(math.log(ratio) / math.log(STEP))
