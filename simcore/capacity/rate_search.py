"""The search over the grid of rates: short runs say where to look, long runs decide, step by step of the grid.

A run says how hard pressed the SLO is: requests that miss it over those that may. Below the capacity their logarithm
grows about evenly over the rate's, so that the runs that hold say how far it is; above it a burst of the trace may
decide at once, and there is no such line. Only whether a long run holds decides; all else merely saves runs. Of a run
that fails nothing else is asked, so that giving it up early changes no capacity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from simcore.search.rate_grid import grid_rate, steps_of

LADDER = (0.2, 1.0)
"""Lengths of the runs of each rung, as shares of the deciding run's."""
SHORT, DECIDING = 0, 1
SHORT_STEPS = 24
"""Short runs bracket to 24 %: they differ from the long ones by about as much."""
FIRST_GUESS = 0.5
"""Of the highest rate; then halved."""
HALVINGS = 4
SLOPE, LEAST_SLOPE, MOST_SLOPE = 0.05, 0.02, 0.3
"""Of the pressure's logarithm below the capacity, a step of the grid: where two runs do not say, and what is believed
of two that do."""
STEPS_DOWN = 12
"""From a rate that fails to the next try; then doubled. What a run that fails says of the distance is not asked: it
depends on when the run was given up, and so would the capacity where feasibility is not monotone."""
SHARE_DOWN = 4
"""Between a rate that holds and one that fails, where the estimate is beyond: this part of the way down."""
ESTIMATES_IN_A_ROW = 2
"""After so many tries by estimate, halve: an estimate may lead astray, halving never does."""
CHECKED_BELOW = (0.9, 0.8)
CHECKED_WITHIN = 5
"""Steps: a run that held as near as that to where a capacity is to be checked is the check."""
FIRST_STEPS_BELOW = 24
"""The first long run is so far below where the short ones say: it and the next are the checks, and their pressures
say how far the capacity is."""
FAR_STEPS = 16
"""Where the capacity is estimated to be further, the next try stays below it, to be the check at 0.9 of it."""
MOST_LOWERINGS = 3
UPS = 3
"""Tries upward before the steps are doubled."""


class Runs(Protocol):
    """What the search asks."""

    def pressure(self, k: int, rung: int) -> float:
        """Of a run at the k-th rate of the grid, of the rung's length: above 0, at most 1 where the rate is feasible,
        above 1 where not."""


@dataclass
class RateSearch:
    """The highest rate of the grid that holds, ``lowest`` <= k <= ``highest``: nothing above can be sustained, below
    nothing is worth looking for."""

    runs: Runs
    lowest: int
    highest: int
    warnings: list[str] = field(default_factory=list)
    held: tuple[set[int], ...] = field(default_factory=lambda: tuple(set() for _ in LADDER))
    """The rates that hold, by rung."""

    def find(self) -> int | None:
        """The k that holds where k + 1 does not (or is above the highest), by long runs, and that holds at 0.9 and 0.8
        of it too; None where nothing does.

        Where feasibility is monotone in the rate this is what plain bisection between ``lowest`` and ``highest`` by
        long runs gives.
        """
        guess = self._guess()
        low, high = self._lowest() if guess is None else self._bracket(guess)
        low = self._close_in(low, high, DECIDING, 1)[0]
        low = self._check_below(low)
        return low if low >= self.lowest else None

    def _holds(self, k: int, rung: int) -> bool:
        """The answer of a run, which is kept as one that holds."""
        holds = self.runs.pressure(k, rung) <= 1.0
        if holds:
            self.held[rung].add(k)
        return holds

    def _guess(self) -> int | None:
        """Where short runs say that the capacity is; None where they find nothing that holds.

        Halves from half of the highest rate; after four halvings the lowest rate says whether going on is worth it.
        """
        high, k, halvings = self.highest + 1, self.highest + steps_of(FIRST_GUESS), 0
        while k > self.lowest and not self._holds(k, SHORT):
            halvings += 1
            high, k = k, k + steps_of(FIRST_GUESS)
            if halvings == HALVINGS and not self._holds(self.lowest, SHORT):
                return None
        if k <= self.lowest and not self._holds(self.lowest, SHORT):
            return None
        low, high = self._close_in(max(k, self.lowest), high, SHORT, SHORT_STEPS)
        return min(low + self._distance(low, SHORT), high - 1)

    def _lowest(self) -> tuple[int, int]:
        """Short runs found nothing; a long one at the lowest rate is sure of it."""
        if not self._holds(self.lowest, DECIDING):
            return self.lowest - 1, self.lowest
        return self._up(self.lowest, self.lowest)

    def _bracket(self, guess: int) -> tuple[int, int]:
        """(holds, fails) by long runs about a guess, from below it; ``lowest`` - 1 and ``highest`` + 1 need no run."""
        first = max(guess - FIRST_STEPS_BELOW, self.lowest)
        return self._up(first, guess) if self._holds(first, DECIDING) else self._down(first)

    def _up(self, low: int, guess: int) -> tuple[int, int]:
        """From a rate that holds to the first try that fails; up to the guess no further than it."""
        tries = 0
        while low < self.highest:
            steps = self._distance(low, DECIDING)
            steps = min(steps, guess - low) if low < guess else steps
            steps = steps + steps_of(CHECKED_BELOW[0]) if steps > FAR_STEPS else steps
            high = min(low + max(steps, 2 ** max(tries - UPS, 0)), self.highest)
            if not self._holds(high, DECIDING):
                return low, high
            low, tries = high, tries + 1
        return low, self.highest + 1

    def _down(self, high: int) -> tuple[int, int]:
        steps = STEPS_DOWN
        while high > self.lowest:
            low = max(high - steps, self.lowest)
            if self._holds(low, DECIDING):
                return low, high
            high, steps = low, 2 * steps
        return self.lowest - 1, high

    def _close_in(self, low: int, high: int, rung: int, within: int) -> tuple[int, int]:
        """(holds, fails) until they are ``within`` so many steps: by estimate, every third time by halving."""
        tries = 0
        while high - low > within:
            k = (low + high) // 2
            if low >= self.lowest and tries % (ESTIMATES_IN_A_ROW + 1) < ESTIMATES_IN_A_ROW:
                estimate = low + self._distance(low, rung)
                k = estimate if estimate < high else max(high - math.ceil((high - low) / SHARE_DOWN), low + 1)
            low, high = (k, high) if self._holds(k, rung) else (low, k)
            tries += 1
        return low, high

    def _distance(self, low: int, rung: int) -> int:
        """How many steps above a rate that holds the capacity is by the line of the pressure's logarithm: at least 1.
        The line goes through the next lower run that holds, where there is one."""
        slope, pressure = SLOPE, self.runs.pressure(low, rung)
        below = max((k for k in self.held[rung] if k < low), default=None)
        if below is not None:
            slope = math.log(pressure / self.runs.pressure(below, rung)) / (low - below)
        return max(math.floor(-math.log(pressure) / min(max(slope, LEAST_SLOPE), MOST_SLOPE)), 1)

    def _check_below(self, low: int) -> int:
        """Feasibility need not be monotone: where 0.9 or 0.8 of the capacity fails, the capacity is below that, and
        said so."""
        for _ in range(MOST_LOWERINGS):
            failing = [k for k in self.checks(low) if not self._holds(k, DECIDING)]
            if not failing:
                break
            worst = min(failing)
            self.warnings.append(
                f"{grid_rate(low):.4g} requests/s hold the SLO, {grid_rate(worst):.4g} do not:"
                " the capacity is taken from below that"
            )
            low = self._close_in(*self._down(worst), DECIDING, 1)[0]
        return low

    def checks(self, k: int) -> list[int]:
        """Where a capacity is checked again: the rates nearest to 0.9 and 0.8 of it at which a long run held, else the
        grid's own nearest."""
        exact = [k + steps_of(share) for share in CHECKED_BELOW]
        return [self._held_near(check) for check in exact if check >= self.lowest]

    def _held_near(self, k: int) -> int:
        near = [held for held in self.held[DECIDING] if abs(held - k) <= CHECKED_WITHIN]
        return min(near, key=lambda held: (abs(held - k), held), default=k)
