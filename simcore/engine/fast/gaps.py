"""Token gaps as the engine keeps them: runs, of which the percentiles are read off without writing them out.

A run is ``count`` requests that share ``terms`` gaps: the first, and each by ``growth`` longer than the one before.

::

    first_ps   growth_ps  terms  count
    31,200,000    4,000     250     12     12 x (31,200,000; 31,204,000; ... 32,196,000)
    58,000,000        0       1     12     one iteration with a chunk beside the same twelve
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simcore.engine.fast.gap_ranks import COLUMNS, ROOM, find_ranks
from simcore.engine.fast.layout import Int64


@dataclass(frozen=True)
class RunsOfGaps:
    """``KeptGaps`` by their runs, in no order."""

    first_ps: Int64
    growth_ps: Int64
    terms: Int64
    count: Int64

    @cached_property
    def total(self) -> int:
        """How many gaps there are."""
        return int(np.dot(self.terms, self.count))

    def at_ranks(self, ranks: Sequence[int]) -> list[int]:
        """Of all gaps in increasing order those at these places, from 1 to ``total``; exact (``gap_ranks.py``)."""
        runs = (self.first_ps, self.growth_ps, self.terms, self.count)
        first, growth, terms, count = (np.ascontiguousarray(column) for column in runs)
        part, bins = np.empty(COLUMNS * len(terms), np.int64), np.zeros(ROOM, np.int64)
        found = np.array(ranks, np.int64)
        find_ranks(
            first.ctypes.data, growth.ctypes.data, terms.ctypes.data, count.ctypes.data, part.ctypes.data,
            bins.ctypes.data, found.ctypes.data, len(terms), len(found),
        )  # fmt: skip
        numbers: list[int] = found.tolist()
        return numbers

    def counted(self) -> tuple[Int64, Int64]:
        """Every gap of every run: distinct ones, increasing, and how often each came."""
        run = np.repeat(np.arange(len(self.terms)), self.terms)
        place = np.arange(len(run)) - np.repeat(np.cumsum(self.terms) - self.terms, self.terms)
        return merged(self.first_ps[run] + place * self.growth_ps[run], self.count[run])


def merged(gap_ps: Int64, counts: Int64) -> tuple[Int64, Int64]:
    """Distinct gaps, increasing, and how often each was met."""
    order = np.argsort(gap_ps)
    gaps, ordered = gap_ps[order], counts[order]
    firsts = np.flatnonzero(np.diff(gaps, prepend=-1))
    return gaps[firsts], np.add.reduceat(ordered, firsts) if len(gaps) else ordered
