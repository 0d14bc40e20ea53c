"""Bracket and bisection over arrival rates: ``(holds, fails)`` pairs, narrowed run by run."""

from __future__ import annotations

import math
from typing import Protocol

RESOLUTION = 1.01
"""The search ends when the lowest rate that fails is within 1 % of the highest that holds."""
SHORT_RESOLUTION = 1.05
SHORT_SECONDS, SHORT_REQUESTS = 30, 2000
"""The ladder's first rung: runs of this length only say where the long ones should look."""
FIRST_GUESS = 0.5
"""Of the fluid bound; then halved."""
HALVINGS = 4
LEAST_SHARE = 1e-3
"""A design that fails even at this share of the bound, where requests are all but alone, has no capacity."""
STEPS = (1.02, 1.05, 1.1, 1.2, 1.4, 2.0)
FAR_STEPS = (4.0, 16.0, 64.0, 256.0)
CHECKED_BELOW = (0.9, 0.8)
MOST_LOWERINGS = 3


class Runs(Protocol):
    """What the search asks: whether a rate is feasible in a run of so many requests."""

    def holds(self, rate_req_per_s: float, requests: int) -> bool:
        """One run."""


def short_bracket(runs: Runs, bound: float) -> tuple[float, float]:
    """(holds, fails) by short runs below the bound; (0, lowest rate tried) where nothing holds.

    Halves from half of the bound; after four halvings the lowest rate decides whether going on is worth it.
    """
    least = bound * LEAST_SHARE
    high, rate, halvings = bound, bound * FIRST_GUESS, 0
    while not runs.holds(rate, short_requests(rate)):
        halvings += 1
        high, rate = rate, rate * FIRST_GUESS
        if rate <= least or (halvings == HALVINGS and not runs.holds(least, short_requests(least))):
            return 0.0, high
    return bisect(runs, rate, high, short_requests(bound), SHORT_RESOLUTION)


def bracket(runs: Runs, guess: float, bound: float, requests: int) -> tuple[float, float]:
    """(holds, fails) by runs of so many requests, in growing steps from a guess.

    (0, lowest rate tried) where nothing holds, (bound, bound) where even the bound does.
    """
    if not runs.holds(guess, requests):
        return _down(runs, guess, requests)
    low = guess
    for step in (*STEPS, *FAR_STEPS, math.inf):
        high = min(guess * step, bound)
        if not runs.holds(high, requests):
            return low, high
        low = high
        if high == bound:
            break
    return low, low


def bisect(runs: Runs, low: float, high: float, requests: int, resolution: float = RESOLUTION) -> tuple[float, float]:
    """Halves (holds, fails), by ratio, until they are within the resolution."""
    while high > low * resolution:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if runs.holds(middle, requests) else (low, middle)
    return low, high


def check_below(runs: Runs, low: float, high: float, requests: int, warnings: list[str]) -> tuple[float, float]:
    """Feasibility need not be monotone: where 0.9 or 0.8 of the capacity fails, the capacity is below that, and said
    so."""
    for _ in range(MOST_LOWERINGS):
        failing = [low * share for share in CHECKED_BELOW if not runs.holds(low * share, requests)]
        if not failing:
            break
        worst = min(failing)
        warnings.append(f"{low:.4g} requests/s hold the SLO, {worst:.4g} do not: the capacity is taken from below that")
        low, high = bracket(runs, worst / STEPS[1], worst, requests)
        if low == 0.0:
            break
        low, high = bisect(runs, low, high, requests)
    return low, high


def short_requests(rate_req_per_s: float) -> int:
    """Requests of a short run: 30 s of arrivals, at least 2,000."""
    return max(SHORT_REQUESTS, math.ceil(rate_req_per_s * SHORT_SECONDS))


def _down(runs: Runs, guess: float, requests: int) -> tuple[float, float]:
    high = guess
    for step in (*STEPS, *FAR_STEPS):
        if runs.holds(guess / step, requests):
            return guess / step, high
        high = guess / step
    return 0.0, high
