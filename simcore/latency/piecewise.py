"""A table of measured points as a piecewise linear function, in exact arithmetic."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Piecewise:
    """Linear between knots, along the end segments beyond them."""

    knots: tuple[int, ...]
    values: tuple[Fraction, ...]

    def at(self, x: int) -> Fraction:
        """The value at ``x``."""
        if len(self.knots) == 1:
            return self.values[0]
        high = min(max(bisect.bisect_left(self.knots, x), 1), len(self.knots) - 1)
        low = high - 1
        slope = (self.values[high] - self.values[low]) / (self.knots[high] - self.knots[low])
        return self.values[low] + slope * (x - self.knots[low])

    def floored(self) -> Piecewise:
        """The same with end knots added so that its end segments never go below the nearest measured value.

        A knot at 1 with the larger of the extension and the first value; a flat tail where the last segment falls.
        """
        first, last = self.knots[0], self.knots[-1]
        knots, values = list(self.knots), list(self.values)
        if first > 1:
            knots.insert(0, 1)
            values.insert(0, max(self.at(1), self.values[0]))
        if self.at(last + 1) < self.values[-1]:
            knots.append(last + 1)
            values.append(self.values[-1])
        return Piecewise(tuple(knots), tuple(values))
