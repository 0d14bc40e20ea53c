"""How much is kept of a run's token gaps: all while they are few, then what the percentiles may need.

Where a record has *windows*, only those runs are kept that reach into one. How many gaps are shorter than a window is
known, so a rank that falls in the window is found as exactly as among all gaps. A window is around where a reported
percentile is so far, with ``margin`` of all gaps to either side (less for the outer percentiles, which chance moves
less); when the runs fill the room that a record may take, windows become half as wide::

    gaps so far   ....:::|||||||||||||||:::::......:......:...........
    windows              [   P50   ]            [ P90 ][P95][ P99][ max ..
    runs kept             === =====              ==== === == =  =  =
    below         <----->

Windows only shrink: what is in one was kept from the start. Should a percentile end up outside, the run is simulated
once more with a record of what lies between the windows there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import NDArray

from simcore.distribution import REPORTED, rank
from simcore.engine.fast.gap_ranks import END_OF_TIME, count_below, gap_of_rank, keep_runs

FIRST_MARGIN, LEAST_MARGIN = 0.125, 1e-6


class Window(NamedTuple):
    """Gaps of at least ``low_ps`` and less than ``high_ps``, of which every one is kept."""

    low_ps: int
    high_ps: int
    below: int
    """How many gaps are shorter."""
    within: int
    """How many gaps it has."""


@dataclass
class GapRecord:
    """Which gaps are kept by their runs, in a table whose first ``counted`` rows it has looked at."""

    windows: list[Window] = field(default_factory=lambda: [Window(0, END_OF_TIME, 0, 0)])
    total: int = 0
    """How many gaps there were."""
    margin: float = FIRST_MARGIN
    shrinks: bool = True
    """Whether windows may shrink for want of room."""
    counted: int = 0

    @classmethod
    def between(cls, low_ps: int, high_ps: int) -> GapRecord:
        """A record of these gaps, however much room it takes."""
        return cls([Window(low_ps, high_ps, 0, 0)], shrinks=False)

    @property
    def is_whole(self) -> bool:
        """Whether every gap is kept."""
        return self.windows[0][:2] == (0, END_OF_TIME)

    def count(self, runs: NDArray[Any]) -> None:
        """The runs that came since the last time."""
        new = runs[self.counted :]
        if len(new):
            self.total += count_below(new, END_OF_TIME)
            self.windows = [self._counted(window, new) for window in self.windows]
            self.counted = len(runs)

    def thin(self, runs: NDArray[Any], most: int) -> int:
        """Count the runs and move those to the front that are kept: so many at most, if windows may shrink that far.
        Returns how many they are."""
        self.count(runs)
        self.counted = keep_runs(runs, [window[:2] for window in self.windows])
        while self.counted > most and self.shrinks and self.margin > LEAST_MARGIN:
            self._shrink(runs[: self.counted])
            self.counted = keep_runs(runs[: self.counted], [window[:2] for window in self.windows])
        return self.counted

    def settle(self, runs: NDArray[Any], due: int) -> None:
        """All of so many gaps that were due have come that ever will: the reported percentiles are windows of one
        picosecond from now on, for which no run is needed."""
        self.count(runs)
        ranks = {place for place in (rank(p, due) for p in REPORTED) if place <= self.total}
        gaps = {self.gap_at(runs, place) for place in ranks if self.window_at(place) is not None}
        self.windows = [self._part(runs, gap, gap + 1) for gap in sorted(gaps)]

    def window_at(self, place: int) -> Window | None:
        """The window in which a rank falls."""
        return next((w for w in self.windows if w.below < place <= w.below + w.within), None)

    def gap_at(self, runs: NDArray[Any], place: int) -> int:
        """The gap of a rank that falls in a window."""
        window = self.window_at(place)
        assert window is not None  # noqa: S101 - whoever asks has seen to it
        return gap_of_rank(runs, window.low_ps, window.high_ps, place - window.below)

    def around(self, place: int) -> tuple[int, int]:
        """Between which two windows the gap of a rank lies that falls in none."""
        low = max((w.high_ps for w in self.windows if w.below + w.within < place), default=0)
        return low, min((w.low_ps for w in self.windows if w.below >= place), default=END_OF_TIME)

    def _counted(self, window: Window, new: NDArray[Any]) -> Window:
        below, upto = count_below(new, window.low_ps), count_below(new, window.high_ps)
        return window._replace(below=window.below + below, within=window.within + upto - below)

    def _shrink(self, runs: NDArray[Any]) -> None:
        """Windows around where the percentiles are so far, within those there are."""
        wanted: list[tuple[int, int]] = []
        for share in (p / 100 for p in REPORTED):
            margin = self.margin * 2 * (share * (1 - share)) ** 0.5
            low, high = self._edge(runs, share - margin, 0), self._edge(runs, share + margin, 1) + 1
            wanted.append((low, high if share + margin < 1 else END_OF_TIME))
        parts = [(max(a, w.low_ps), min(b, w.high_ps)) for a, b in _joined(wanted) for w in self.windows]
        self.windows = [self._part(runs, low, high) for low, high in sorted(parts) if low < high]
        self.margin /= 2

    def _edge(self, runs: NDArray[Any], share: float, side: int) -> int:
        """The gap at a share of all so far; where it is in no window, the edge of the next one on this side of it."""
        place = min(max(int(share * self.total), 1), self.total)
        return self.gap_at(runs, place) if self.window_at(place) else self.around(place)[1 - side]

    def _part(self, runs: NDArray[Any], low_ps: int, high_ps: int) -> Window:
        """Part of a window."""
        whole = next(w for w in self.windows if w.low_ps <= low_ps and high_ps <= w.high_ps)
        low, high = count_below(runs, low_ps), count_below(runs, high_ps)
        return Window(low_ps, high_ps, whole.below + low - count_below(runs, whole.low_ps), high - low)


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that meet are one."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return joined
