"""The search over the grid of rates: short runs say where to look, long runs decide, step by step of the grid.

A run says how hard pressed the SLO is: its worst value over its limit. Near a queue's limit waiting grows as
1/(1 - load), so 1/pressure falls on a straight line over the rate, to 0 where the queue grows without end: where two
such lines cross 1 is the next rate to try. Only whether a long run holds decides; the line, and all that short runs
say, merely save runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from simcore.rate_grid import grid_rate, steps_of

LADDER = (0.2, 1.0)
"""Lengths of the runs of each rung, as shares of the deciding run's."""
SHORT, DECIDING = 0, 1
SHORT_STEPS = 8
"""Short runs bracket to 8 %: they differ from the long ones by about as much."""
FIRST_GUESS = 0.5
"""Of the highest rate; then halved."""
HALVINGS = 4
STEEPNESS = 8.0
"""Where no line is known: the worst value grows at least with this power of the rate, mostly."""
MOST_MISSED = 100.0
LINES_IN_A_ROW = 2
"""After so many tries by the line, halve: a line may lead astray, halving never does."""
CHECKED_BELOW = (0.9, 0.8)
MOST_LOWERINGS = 3


class Runs(Protocol):
    """What the search asks."""

    def pressure(self, k: int, rung: int) -> float:
        """Of a run at the k-th rate of the grid, of the rung's length: its worst value over its limit, at most 1 where
        the rate is feasible, above 1 (or infinite) where not."""


@dataclass
class RateSearch:
    """The highest rate of the grid that holds, ``lowest`` <= k <= ``highest``: nothing above can be sustained, below
    nothing is worth looking for."""

    runs: Runs
    lowest: int
    highest: int
    warnings: list[str] = field(default_factory=list)

    def find(self) -> int | None:
        """The k that holds where k + 1 does not (or is above the highest), by long runs, and that holds at 0.9 and 0.8
        of it too; None where nothing does.

        Where feasibility is monotone in the rate this is what plain bisection between ``lowest`` and ``highest`` by
        long runs gives.
        """
        guess = self._guess()
        if guess is None:
            low, high = self._lowest()
        else:
            low, high = self._bracket(guess)
        low = self._close_in(low, high, DECIDING, 1)[0]
        low = self._check_below(low)
        return low if low >= self.lowest else None

    def _holds(self, k: int, rung: int) -> bool:
        return self.runs.pressure(k, rung) <= 1.0

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
        return self._crossing(low, high, SHORT)

    def _lowest(self) -> tuple[int, int]:
        """Short runs found nothing; a long one at the lowest rate is sure of it."""
        if not self._holds(self.lowest, DECIDING):
            return self.lowest - 1, self.lowest
        return self._up(self.lowest)

    def _bracket(self, guess: int) -> tuple[int, int]:
        """(holds, fails) by long runs around a guess; ``lowest`` - 1 and ``highest`` + 1 need no run."""
        return self._up(guess) if self._holds(guess, DECIDING) else self._down(guess)

    def _up(self, low: int) -> tuple[int, int]:
        step = self._distance(low)
        while low < self.highest:
            high = min(low + step, self.highest)
            if not self._holds(high, DECIDING):
                return low, high
            low, step = high, 2 * step
        return low, self.highest + 1

    def _down(self, high: int) -> tuple[int, int]:
        step = self._distance(high)
        while high > self.lowest:
            low = max(high - step, self.lowest)
            if self._holds(low, DECIDING):
                return low, high
            high, step = low, 2 * max(step, self._distance(low))
        return self.lowest - 1, high

    def _distance(self, k: int) -> int:
        """How many steps one long run's pressure is from 1, by the usual steepness."""
        missed = min(self.runs.pressure(k, DECIDING), MOST_MISSED)
        return max(round(abs(steps_of(missed)) / STEEPNESS), 1) if missed > 0 else 1

    def _close_in(self, low: int, high: int, rung: int, within: int) -> tuple[int, int]:
        """(holds, fails) until they are ``within`` so many steps: by the line, every third time by halving."""
        tries = 0
        while high - low > within:
            by_line = tries % (LINES_IN_A_ROW + 1) < LINES_IN_A_ROW
            k = self._crossing(low, high, rung) if by_line else (low + high) // 2
            k = min(max(k, low + 1), high - 1)
            low, high = (k, high) if self._holds(k, rung) else (low, k)
            tries += 1
        return low, high

    def _crossing(self, low: int, high: int, rung: int) -> int:
        """The last k below the crossing of 1 by the line of 1/pressure over the rate; the middle without a line."""
        if low < self.lowest or high > self.highest:
            return (low + high) // 2
        holds, fails = self.runs.pressure(low, rung), self.runs.pressure(high, rung)
        if not 0 < holds < fails:
            return (low + high) // 2
        share = (1 / holds - 1) / (1 / holds - 1 / fails)
        rate = grid_rate(low) + share * (grid_rate(high) - grid_rate(low))
        return low + math.floor(math.log(rate / grid_rate(low)) / math.log(1.01))

    def _check_below(self, low: int) -> int:
        """Feasibility need not be monotone: where 0.9 or 0.8 of the capacity fails, the capacity is below that, and
        said so."""
        for _ in range(MOST_LOWERINGS):
            failing = [k for k in checked_below(low, self.lowest) if not self._holds(k, DECIDING)]
            if not failing:
                break
            worst = min(failing)
            self.warnings.append(
                f"{grid_rate(low):.4g} requests/s hold the SLO, {grid_rate(worst):.4g} do not:"
                " the capacity is taken from below that"
            )
            low = self._close_in(*self._down(worst), DECIDING, 1)[0]
        return low


def checked_below(k: int, lowest: int) -> list[int]:
    """Where a capacity is checked again: the grid rates nearest to 0.9 and 0.8 of it."""
    return [k + steps_of(share) for share in CHECKED_BELOW if k + steps_of(share) >= lowest]
