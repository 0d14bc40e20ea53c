"""What is known to be enough: machines that hold the required rate, and which counts beside them may still matter.

A pair of counts matters where it may come first under some prices and limits: no design that holds the rate uses no
more of any machine (and less of one), or at some ratio of the two machines' prices it costs less than all of its
family that hold the rate. No price is asked. Both are true of fewer machines where they are true of more, so beside
each count of the first pool there is a most of the second.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Pairs = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST = 1 << 40
"""More machines than there are."""
FINE = 64
"""Up to so many machines a pool every pair counts; of more, designs that differ by less than this part are alike."""
LEAST_RATIO, MOST_RATIO = 1 / 8, 8.0
"""Of the second machine's price over the first's, in their watts: where a family's own cheapest is looked for."""


def none() -> Pairs:
    """No pair at all."""
    return np.zeros((0, 2), np.int64)


@dataclass(frozen=True)
class Enough:
    """Counts of two pools' machines that hold the rate; (both together, 0) where the pools' machines are the same."""

    alike: bool
    watts_ratio: float = 1.0
    """Of the second pool's machine over the first's."""
    anywhere: Pairs = field(default_factory=none)
    """Of any design that needs no other machines."""
    of_family: Pairs = field(default_factory=none)
    """Of the line's own family."""

    def most(self, firsts: Pairs, limits: Pairs) -> Pairs:
        """For each count of the first pool the most of the second, up to a limit, that may still matter beside it."""
        if self.alike:
            fewest = [_a_little_less(known)[:, 0].min(initial=MOST) for known in (self.anywhere, self.of_family)]
            found: Pairs = np.minimum(limits, max(fewest) - 1 - firsts)
            return found
        return np.maximum(self._most_unbeaten(firsts, limits), self._most_cheapest(firsts, limits))

    def may_matter(self, first: int, second: int) -> bool:
        """Whether a pair that is not known to hold the rate is worth asking."""
        return int(self.most(np.array([first]), np.array([second]))[0]) == second

    def comes_first_somewhere(self, first: int, second: int) -> bool:
        """Whether a pair that holds the rate is beaten by none that does, or the cheapest of its family somewhere."""
        if self.alike:
            return first + second <= int(self.of_family[:, 0].min(initial=MOST))
        no_more = (self.anywhere <= (first, second)).all(axis=1)
        less = (self.anywhere < (first, second)).any(axis=1)
        if not (no_more & less).any():
            return True
        low, high = self._ratios(self.of_family, np.array([first]), np.array([second]), ties=True)
        return bool(low[0] <= high[0])

    def _most_unbeaten(self, firsts: Pairs, limits: Pairs) -> Pairs:
        known, near = self.anywhere, _a_little_less(self.anywhere)
        reaching = near[:, 0] <= firsts[:, None]
        tied = (known[:, 0] == firsts[:, None]) & (known[:, 1] == near[:, 1])
        found: Pairs = np.where(reaching, near[:, 1] - 1 + tied, limits[:, None]).min(axis=1, initial=MOST)
        return np.minimum(found, limits)

    def _most_cheapest(self, firsts: Pairs, limits: Pairs) -> Pairs:
        known = _cheapest_of(_a_little_less(self.of_family))
        low, high = np.zeros_like(limits), limits.copy()
        while (low < high).any():
            middle = (low + high + 1) // 2
            least, most = self._ratios(known, firsts, middle)
            is_cheapest = least < most
            low, high = np.where(is_cheapest, middle, low), np.where(is_cheapest, high, np.maximum(middle - 1, low))
        return low

    def _ratios(self, known: Pairs, firsts: Pairs, seconds: Pairs, ties: bool = False) -> tuple[Floats, Floats]:
        """Between which ratios of the second machine's price to the first's each pair costs less than all that are
        known (``ties``: or as much); crossed where at none."""
        more_first = (firsts[:, None] - known[:, 0]).astype(float)
        more_second = (seconds[:, None] - known[:, 1]).astype(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            even = -more_first / more_second
        low = np.where(more_second < 0, even, -np.inf).max(axis=1, initial=LEAST_RATIO * self.watts_ratio)
        high = np.where(more_second > 0, even, np.inf).min(axis=1, initial=MOST_RATIO * self.watts_ratio)
        no_less = (more_second == 0) & ((more_first > 0) if ties else (more_first >= 0))
        return low, np.where(no_less.any(axis=1), -np.inf, high)


def _cheapest_of(known: Pairs) -> Pairs:
    """Those that are the cheapest at some prices: the corners of the lower left hull."""
    kept: list[Pairs] = []
    for pair in known[np.lexsort((known[:, 1], known[:, 0]))]:
        if kept and pair[1] >= kept[-1][1]:
            continue
        while len(kept) > 1 and _is_above(kept[-2], kept[-1], pair):
            kept.pop()
        kept.append(pair)
    return np.array(kept, np.int64).reshape(-1, 2)


def _is_above(left: Pairs, middle: Pairs, right: Pairs) -> bool:
    """Whether the middle one lies on or above the line between the others."""
    (x, y), (u, v) = middle - left, right - left
    return bool(x * v - y * u <= 0)


def _a_little_less(known: Pairs) -> Pairs:
    """What is not told from these: fewer by less than one in ``FINE``."""
    return known - known // FINE
