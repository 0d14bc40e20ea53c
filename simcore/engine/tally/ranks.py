"""Exact percentiles of columns that are never written whole.

Of few requests every value of a column is kept, and put in order as far as the ranks need it. Of many, a sample says
between which bounds a rank lies, almost certainly; one walk over all counts what is below the bounds and keeps what is
between them, in which the rank is then found (Floyd and Rivest's SELECT). Where chance has it outside, or more lies
between than there is room for, nothing is found here: the caller writes the column::

    sample    . .. . :. .:::|:::. . .: . |.  . . .        all    below low: counted   [low .. high]: kept
                         ^ low   ^ high                           rank - below = the place among those kept
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.layout import address_of, table
from simcore.engine.inputs import Int64
from simcore.engine.tally.records import Bracket
from simcore.slo.distribution import put_in_place

MOST_KEPT_WHOLE = 65_536
"""Requests of which every value is kept."""
STRIDE_SHARE = 24
"""Every so-manyth request is in the sample: the square root of their number over this."""
DEVIATIONS, SPARE = 4.0, 2
"""Bounds are so many standard deviations of the sample's rank away, and so many places."""
ROOM, LEAST_ROOM = 2.0, 8192
"""Room for what is between bounds, over what the sample has it to be: the longest waits are bunched."""
LOWEST, HIGHEST = -1, int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Kept:
    """Brackets, and where the walk puts their values."""

    rows: NDArray[Any]
    values: list[Int64]

    @classmethod
    def of(cls, bounds: Sequence[tuple[int, int, int, int]]) -> Kept:
        """Of (column, low, high, room) each."""
        values = [np.empty(room, np.int64) for *_, room in bounds]
        rows = table(
            Bracket,
            len(bounds),
            column=[column for column, *_ in bounds],
            low=[low for _, low, _, _ in bounds],
            high=[high for _, _, high, _ in bounds],
            kept=[address_of(column) for column in values],
            room=[room for *_, room in bounds],
        )
        return cls(rows, values)

    @classmethod
    def whole(cls, columns: Sequence[int], room: int) -> Kept:
        """Every value of these columns."""
        return cls.of([(column, 0, 0, room) for column in columns])

    def between(self, place: int) -> Int64:
        """The values of a bracket that were kept."""
        return self.values[place][: self.rows["between"][place]]

    def at_rank(self, place: int, rank: int) -> int | None:
        """The value that has this rank in its column, from 1, where it is in the bracket."""
        row = self.rows[place]
        low, high, between = int(row["low"]), int(row["high"]), int(row["between"])
        within = rank - int(row["below"]) - int(row["at_low"])
        if within <= 0:
            return low if within > -int(row["at_low"]) else None
        if within > between:
            return high if within <= between + int(row["at_high"]) else None
        return select(self.between(place), within) if between <= int(row["room"]) else None


def stride_of(requests: int) -> int:
    """How far apart the sample's requests are; 1: all of them."""
    return 1 if requests <= MOST_KEPT_WHOLE else max(isqrt(requests) // STRIDE_SHARE, 1)


def select(values: Int64, rank: int) -> int:
    """The value at a rank, from 1, of values that are put in another order."""
    values.partition(rank - 1)
    return int(values[rank - 1])


def in_order(values: Int64, ranks: Sequence[int]) -> dict[int, int]:
    """The value at each rank, from 1, of whole columns, which are put in another order."""
    put_in_place(values, sorted({rank - 1 for rank in ranks}))
    return {rank: int(values[rank - 1]) for rank in ranks}


def bounds(sample: Int64, rank: int, count: int, column: int) -> tuple[int, int, int, int]:
    """A bracket for a rank among ``count`` values, by a sorted sample of them."""
    size, share = len(sample), rank / count
    away = DEVIATIONS * sqrt(size * share * (1 - share)) + SPARE
    first, last = int(size * share - away), int(size * share + away) + 1
    low = int(sample[first]) if first >= 0 else LOWEST
    high = max(int(sample[last]), low + 1) if last < size else HIGHEST
    between = min(last, size) - max(first, 0)
    return column, low, high, min(int(between * count / max(size, 1) * ROOM) + LEAST_ROOM, count)
