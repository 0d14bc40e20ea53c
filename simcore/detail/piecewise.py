"""What goes on, on average, in each step of a stretch of time: exact means of what lasts from a start to an end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Lasting:
    """Things that last, each with a value that goes evenly from a first to a last one meanwhile."""

    start_ps: Int64
    end_ps: Int64
    first: Float64
    last: Float64

    @classmethod
    def level(cls, start_ps: Int64, end_ps: Int64, weight: Int64 | Float64 | None = None) -> Lasting:
        """Things of one value throughout; without a weight they are counted."""
        value = np.ones(len(start_ps)) if weight is None else weight.astype(np.float64)
        return cls(start_ps, end_ps, value, value)

    def chosen(self, which: NDArray[np.bool_]) -> Lasting:
        """Some of them."""
        return Lasting(self.start_ps[which], self.end_ps[which], self.first[which], self.last[which])

    def means(self, edges_ps: Int64) -> Float64:
        """The mean over each step between two edges of the sum of all values."""
        here = self.chosen((self.start_ps < edges_ps[-1]) & (self.end_ps > edges_ps[0]))
        steps = zip(edges_ps[:-1].tolist(), edges_ps[1:].tolist(), strict=True)
        return np.array([here._integral(*step) / (step[1] - step[0]) for step in steps])

    def _integral(self, from_ps: int, until_ps: int) -> float:
        """Of each the time that it lasts there, times its value in the middle of that."""
        began, ended = np.maximum(self.start_ps, from_ps), np.minimum(self.end_ps, until_ps)
        lasted = np.maximum(ended - began, 0)
        middle = (began - self.start_ps + lasted / 2) / np.maximum(self.end_ps - self.start_ps, 1)
        return float(((self.first + (self.last - self.first) * middle) * lasted).sum())
