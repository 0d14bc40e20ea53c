"""How much is kept of a run's token gaps: all while they are few, then what the percentiles may need.

Every gap is counted in its bin (``gap_scale.py``). Of runs those are kept that reach into a *marked* bin: a rank that
falls in one is found exactly. At first all bins are marked. When the runs fill the room that a record may take, the
marks shrink to where a reported percentile is so far, with ``margin`` of all gaps to either side (less for the outer
percentiles, which chance moves less), at least its own bin, and to half as much until there is room again::

    gaps so far   ....:::|||||||||||||||:::::......:......:...........
    marked bins          [   P50   ]            [ P90 ][P95][ P99][ max
    runs kept             === =====              ==== === == =  =  =

Marks only shrink: what reaches into a marked bin was kept from the start. Should a percentile end up outside, the run
is simulated once more with a record of its bin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.gap_bins import pick_marked
from simcore.engine.fast.gap_scale import BINS, UNMARKED
from simcore.engine.fast.layout import Int64
from simcore.slo.distribution import REPORTED

FIRST_MARGIN, LEAST_MARGIN = 0.125, 1e-6


@dataclass
class GapRecord:
    """Which bins' gaps are kept by their runs."""

    bins: Int64 = field(default_factory=lambda: np.zeros(BINS, np.int64))
    """How many gaps came; below 0, from ``UNMARKED`` on, where the bin is not marked."""
    margin: float = FIRST_MARGIN
    shrinks: bool = True
    """Whether marks may be taken away for want of room."""

    @classmethod
    def of_bins(cls, places: Sequence[int]) -> GapRecord:
        """A record of the gaps in these bins, however much room it takes."""
        bins = np.full(BINS, UNMARKED)
        bins[list(places)] = 0
        return cls(bins, shrinks=False)

    @classmethod
    def of_all(cls) -> GapRecord:
        """A record of every gap, however much room it takes."""
        return cls(shrinks=False)

    @property
    def marks(self) -> NDArray[np.bool_]:
        """Which bins are marked."""
        return self.bins >= 0

    @property
    def counts(self) -> Int64:
        """How many gaps came, by bin; as long as all are marked the bins themselves."""
        if self.bins.min() >= 0:
            return self.bins
        return np.where(self.marks, self.bins, self.bins - UNMARKED)

    def thin(self, runs: NDArray[Any], most: int) -> int:
        """Move those of the runs to the front that are kept: so many at most, if the marks may shrink that far.
        Every gap so far is counted. Returns how many they are."""
        kept = pick_marked(runs, self.bins, runs)
        if kept > most and self.shrinks:
            upto = np.cumsum(self.counts)
            while kept > most and self.margin > LEAST_MARGIN:
                self._shrink(upto)
                kept = pick_marked(runs[:kept], self.bins, runs)
        return kept

    def _shrink(self, upto: Int64) -> None:
        """Marks around where the percentiles are so far, of those there are."""
        wanted, total = np.zeros(BINS, bool), int(upto[-1])
        for share in (p / 100 for p in REPORTED):
            margin = self.margin * 2 * (share * (1 - share)) ** 0.5
            ranks = [min(max(int(at * total), 1), total) for at in (share - margin, share + margin)]
            low, high = np.searchsorted(upto, ranks, side="left").tolist()
            wanted[low : BINS if share + margin >= 1 else high + 1] = True
        self.bins[self.marks & ~wanted] += UNMARKED
        self.margin /= 2
