"""Bracket and narrowing over arrival rates: ``(holds, fails)`` pairs, closed in run by run.

A run says how hard pressed the SLO is: its worst value over its limit, so that the next rate to try can be read off a
straight line through two runs. Only whether a run holds decides; the line merely saves runs.
"""

from __future__ import annotations

import math
from typing import Protocol

RESOLUTION = 1.01
"""The search ends when the lowest rate that fails is within 1 % of the highest that holds."""
SHORT_RESOLUTION = 1.08
SHORT_SECONDS, SHORT_REQUESTS = 20, 2000
"""The ladder's first rung: runs of this length only say where the long ones should look."""
FIRST_GUESS = 0.5
"""Of the fluid bound; then halved."""
HALVINGS = 4
LEAST_SHARE = 1e-3
"""A design that fails even at this share of the bound, where requests are all but alone, has no capacity."""
STEPS = (1.03, 1.08, 1.2, 1.5, 2.0, 4.0, 16.0, 64.0, 256.0)
STEEPNESS = 8.0
"""Near its capacity a design's worst value grows at least with this power of the rate, mostly: how far a miss sends
us."""
CHECKED_BELOW = (0.9, 0.8)
MOST_LOWERINGS = 3
LINES_IN_A_ROW = 2
"""After so many tries by the line, halve: a line may lead astray, halving never does."""


class Runs(Protocol):
    """What the search asks."""

    def pressure(self, rate_req_per_s: float, requests: int) -> float:
        """A run's worst value over its limit, at most 1 where the rate is feasible, above 1 (or infinite) where not."""


def short_bracket(runs: Runs, bound: float) -> tuple[float, float]:
    """(holds, fails) by short runs below the bound; (0, lowest rate tried) where nothing holds.

    Halves from half of the bound; after four halvings the lowest rate decides whether going on is worth it.
    """
    least = bound * LEAST_SHARE
    high, rate, halvings = bound, bound * FIRST_GUESS, 0
    while not _holds(runs, rate, short_requests(rate)):
        halvings += 1
        high, rate = rate, rate * FIRST_GUESS
        if rate <= least or (halvings == HALVINGS and not _holds(runs, least, short_requests(least))):
            return 0.0, high
    return close_in(runs, rate, high, short_requests(rate), SHORT_RESOLUTION)


def bracket(runs: Runs, guess: float, bound: float, requests: int) -> tuple[float, float]:
    """(holds, fails) by runs of so many requests, in growing steps from a guess.

    (0, lowest rate tried) where nothing holds, (bound, bound) where even the bound does.
    """
    if not _holds(runs, guess, requests):
        return _down(runs, guess, requests)
    low = guess
    for step in (*STEPS, math.inf):
        high = min(guess * step, bound)
        if not _holds(runs, high, requests):
            return low, high
        low = high
        if high == bound:
            break
    return low, low


def close_in(runs: Runs, low: float, high: float, requests: int, resolution: float = RESOLUTION) -> tuple[float, float]:
    """(holds, fails) until they are within the resolution: by the line through both, every third time by halving."""
    tries = 0
    while high > low * resolution:
        by_line = tries % (LINES_IN_A_ROW + 1) < LINES_IN_A_ROW
        middle = _crossing(runs, low, high, requests, resolution) if by_line else math.sqrt(low * high)
        low, high = (middle, high) if _holds(runs, middle, requests) else (low, middle)
        tries += 1
    return low, high


def check_below(runs: Runs, low: float, high: float, requests: int, warnings: list[str]) -> tuple[float, float]:
    """Feasibility need not be monotone: where 0.9 or 0.8 of the capacity fails, the capacity is below that, and said
    so."""
    for _ in range(MOST_LOWERINGS):
        failing = [low * share for share in CHECKED_BELOW if not _holds(runs, low * share, requests)]
        if not failing:
            break
        worst = min(failing)
        warnings.append(f"{low:.4g} requests/s hold the SLO, {worst:.4g} do not: the capacity is taken from below that")
        low, high = bracket(runs, worst / STEPS[0], worst, requests)
        if low == 0.0:
            break
        low, high = close_in(runs, low, high, requests)
    return low, high


def short_requests(rate_req_per_s: float) -> int:
    """Requests of a short run: 20 s of arrivals, at least 2,000."""
    return max(SHORT_REQUESTS, math.ceil(rate_req_per_s * SHORT_SECONDS))


def _holds(runs: Runs, rate: float, requests: int) -> bool:
    return runs.pressure(rate, requests) <= 1.0


def _down(runs: Runs, guess: float, requests: int) -> tuple[float, float]:
    """Down from a rate that fails, by growing steps, the first ones as far as the miss says."""
    high = guess
    for step in STEPS:
        missed = math.pow(min(runs.pressure(high, requests), 100.0), 1 / STEEPNESS)
        rate = min(guess / step, high / missed)
        if _holds(runs, rate, requests):
            return rate, high
        high = rate
    return 0.0, high


def _crossing(runs: Runs, low: float, high: float, requests: int, resolution: float) -> float:
    """Where ln(pressure) over ln(rate) crosses 0 between the two, a little below; at least the resolution from either
    end, so that one more run closes the bracket if the line is right. The middle where there is no line."""
    if high <= low * resolution**2:
        return math.sqrt(low * high)
    holds, fails = runs.pressure(low, requests), runs.pressure(high, requests)
    if not 0 < holds < fails < math.inf:
        return math.sqrt(low * high)
    share = -math.log(holds) / (math.log(fails) - math.log(holds))
    crossing: float = low * math.pow(high / low, share) / math.sqrt(resolution)
    return min(max(crossing, low * resolution), high / resolution)
