"""Token gaps as the engine keeps them: runs, of which the percentiles are read off without writing them out.

::

    first_ps   growth_ps  terms  count
    31,200,000    4,000     250     12     twelve requests have 250 gaps: 31,200,000; 31,204,000; ... 32,196,000
    58,000,000        0       1     12     one iteration with a chunk beside the same twelve

All gaps are counted in the bins of a logarithmic scale, which tells in which bin a rank falls and at which place there;
what the runs have in the bin tells the gap (``gap_ranks.py``). Of a long run of the engine not all runs are kept, but
what the percentiles of ``distribution.REPORTED`` need (``gap_record.py``). What is asked for elsewhere is simulated
once more: engines give the same bits each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.gap_bins import count_growing, pick_marked
from simcore.engine.fast.gap_ranks import gap_in_bin
from simcore.engine.fast.gap_record import GapRecord
from simcore.engine.fast.gap_scale import UNMARKED
from simcore.engine.fast.layout import Int64
from simcore.engine.outputs import KeptGaps

Again = Callable[[GapRecord], KeptGaps]
"""The same gaps with another record of them."""


@dataclass(frozen=True)
class RunsOfGaps:
    """``KeptGaps`` by their runs, in no order."""

    runs: NDArray[Any]
    """Rows of ``GapRun``."""
    growing_counted: int
    """The first so many of the runs are counted, those that grow as well."""
    record: GapRecord
    again: Again
    found: dict[int, int] = field(default_factory=dict)
    """Gaps by rank, as far as they were asked for."""

    @cached_property
    def upto(self) -> Int64:
        """How many gaps each bin and those before it have."""
        count_growing(self.runs[self.growing_counted :], self.record.bins)
        return np.cumsum(self.record.counts)

    @property
    def total(self) -> int:
        """How many gaps there are."""
        return int(self.upto[-1])

    def at_ranks(self, ranks: Sequence[int]) -> list[int]:
        """Of all gaps in increasing order those at these places, from 1 to ``total``; exact."""
        missing = [rank for rank in dict.fromkeys(ranks) if rank not in self.found]
        if missing:
            self._find(missing)
        return [self.found[rank] for rank in ranks]

    def settled(self, ranks: Sequence[int]) -> RunsOfGaps:
        """The same where only these ranks will be asked for, as long as their runs are kept: the others go."""
        places = dict(zip(ranks, self._bins_of(ranks), strict=True))
        self._look_up({rank: place for rank, place in places.items() if self.record.bins[place] >= 0}, self.runs)
        counted = GapRecord(self.record.counts + UNMARKED, shrinks=False)
        return RunsOfGaps(self.runs[:0].copy(), 0, counted, self.again, self.found)

    def counted(self) -> tuple[Int64, Int64]:
        """Every gap of every run: distinct ones, increasing, and how often each came."""
        if not self.record.marks.all():
            return self.again(GapRecord.of_all()).counted()
        first, growth, terms, count = (self.runs[name].astype(np.int64) for name in self.runs.dtype.names or ())
        run = np.repeat(np.arange(len(terms)), terms)
        place = np.arange(len(run)) - np.repeat(np.cumsum(terms) - terms, terms)
        return merged(first[run] + place * growth[run], count[run])

    def _bins_of(self, ranks: Sequence[int]) -> list[int]:
        """In which bin each rank falls."""
        found: list[int] = np.searchsorted(self.upto, ranks, side="left").tolist()
        return found

    def _find(self, ranks: Sequence[int]) -> None:
        """By the runs in the rank's bin; where they are not kept, by a run of the engine that keeps them."""
        places = dict(zip(ranks, self._bins_of(ranks), strict=True))
        lacking = {rank: place for rank, place in places.items() if self.record.bins[place] < 0}
        if lacking:
            others = self.again(GapRecord.of_bins(list(lacking.values())))
            self.found.update(zip(lacking, others.at_ranks(list(lacking)), strict=True))
        here = {rank: place for rank, place in places.items() if rank not in lacking}
        if here:
            self._look_up(here, np.empty(len(self.runs), self.runs.dtype))

    def _look_up(self, places: dict[int, int], room: NDArray[Any]) -> None:
        """Ranks whose bins' runs are kept; these are put into ``room``."""
        wanted = GapRecord.of_bins(list(places.values())).bins
        part = room[: pick_marked(self.runs, wanted, room)]
        for rank, place in places.items():
            before = int(self.upto[place - 1]) if place else 0
            self.found[rank] = gap_in_bin(part, place, rank - before)


def merged(gap_ps: Int64, counts: Int64) -> tuple[Int64, Int64]:
    """Distinct gaps, increasing, and how often each was met."""
    order = np.argsort(gap_ps)
    gaps, ordered = gap_ps[order], counts[order]
    firsts = np.flatnonzero(np.diff(gaps, prepend=-1))
    return gaps[firsts], np.add.reduceat(ordered, firsts) if len(gaps) else ordered
