"""Token gaps as the engine keeps them: runs, of which the percentiles are read off without writing them out.

::

    first_ps   growth_ps  terms  count
    31,200,000    4,000     250     12     twelve requests have 250 gaps: 31,200,000; 31,204,000; ... 32,196,000
    58,000,000        0       1     12     one iteration with a chunk beside the same twelve

Of a long run of the engine not all of this is kept, but what the percentiles of ``distribution.REPORTED`` need
(``gap_record.py``). What is asked for elsewhere is simulated once more: engines give the same bits each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.gap_ranks import END_OF_TIME, count_bins, gaps_of_ranks
from simcore.engine.fast.gap_record import GapRecord
from simcore.engine.fast.layout import Int64
from simcore.engine.outputs import KeptGaps

Again = Callable[[GapRecord], KeptGaps]
"""The same gaps with another record of them."""


@dataclass(frozen=True)
class RunsOfGaps:
    """``KeptGaps`` by their runs, in no order."""

    runs: NDArray[Any]
    """Rows of ``GapRun``."""
    record: GapRecord
    again: Again

    @property
    def total(self) -> int:
        """How many gaps there are."""
        self.record.count(self.runs)
        return self.record.total

    def at_ranks(self, ranks: Sequence[int]) -> list[int]:
        """Of all gaps in increasing order those at these places, from 1 to ``total``; exact (``gap_ranks.py``)."""
        if self.record.is_whole:
            return gaps_of_ranks(self.runs, self._bins, ranks)
        self.record.count(self.runs)
        return [self._gap_at(rank) for rank in ranks]

    def _gap_at(self, rank: int) -> int:
        """By the window that the rank falls in; where there is none, by a run that keeps what is there."""
        window = self.record.window_at(rank)
        if window is None:
            return self.again(GapRecord.between(*self.record.around(rank))).at_ranks([rank])[0]
        return window.low_ps if window.high_ps == window.low_ps + 1 else self.record.gap_at(self.runs, rank)

    @cached_property
    def _bins(self) -> Int64:
        return count_bins(self.runs)

    def counted(self) -> tuple[Int64, Int64]:
        """Every gap of every run: distinct ones, increasing, and how often each came."""
        if not self.record.is_whole:
            return self.again(GapRecord.between(0, END_OF_TIME)).counted()
        first, growth, terms, count = (self.runs[name].astype(np.int64) for name in self.runs.dtype.names or ())
        run = np.repeat(np.arange(len(terms)), terms)
        place = np.arange(len(run)) - np.repeat(np.cumsum(terms) - terms, terms)
        return merged(first[run] + place * growth[run], count[run])


def merged(gap_ps: Int64, counts: Int64) -> tuple[Int64, Int64]:
    """Distinct gaps, increasing, and how often each was met."""
    order = np.argsort(gap_ps)
    gaps, ordered = gap_ps[order], counts[order]
    firsts = np.flatnonzero(np.diff(gaps, prepend=-1))
    return gaps[firsts], np.add.reduceat(ordered, firsts) if len(gaps) else ordered
