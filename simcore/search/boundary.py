"""The boundary of two pools: between the pairs of counts that fail at the required rate and those that hold it.

Takes for granted that machines added do not lower the rate held: with no more machines in either pool than a pair that
fails all fail, with no fewer than one that holds all hold. What is left between is asked, some columns (counts of the
first pool) at a time, until every pair is known that just holds the rate and may matter (``enough``): whatever the
machines cost, and whatever limits are drawn tighter, the cheapest is among them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.families import Line
from simcore.search.counts import MOST_MACHINES, Bounds, Counts, filled, most_prefill, stepped
from simcore.search.enough import FINE, Enough
from simcore.search.tried import Proven, Tried, failing, holding

Ints = NDArray[np.int64]
LARGE = 8
"""A block with more columns and rows is asked at ``PLACES`` at once, a smaller one in its middle."""
PLACES = (1 / 6, 1 / 2, 5 / 6)
MOST_AT_ONCE = 64
COARSE = 32
"""Capacities are searched of pairs that differ by more than this part."""


@dataclass(frozen=True)
class _Block:
    """Pairs that are neither known to fail nor to hold: of some neighbouring counts of the first pool, each with about
    the same counts of the second."""

    firsts: Ints
    fewest: Ints
    most: Ints
    held: Ints
    """The fewest known to hold."""
    span: int
    """Of the second pool only multiples are of use."""

    def asked(self, told: Container[Counts]) -> list[Counts]:
        """The pairs that say most."""
        found = [pair for pair in self._wanted() if pair not in told]
        if found or not told:
            return found
        every: Iterator[Counts] = (
            (first, second)
            for first, low, high in zip(self.firsts.tolist(), self.fewest.tolist(), self.most.tolist(), strict=True)
            for second in range(low, high + 1, self.span)
        )
        return [pair for pair in every if pair not in told][:1]

    def _wanted(self) -> list[Counts]:
        """Along the diagonal, as more of one pool need less of the other; where nothing is known to hold next to them
        the largest, too."""
        columns, middle = len(self.firsts), len(self.firsts) // 2
        places = PLACES if min(columns, int((self.most - self.fewest).min()) + 1) > LARGE else (1 / 2,)
        is_under_one_that_holds = self.held[middle] <= self.most[middle] + self.span
        largest = [] if is_under_one_that_holds else [(int(self.firsts[middle]), int(self.most[middle]))]
        return list(dict.fromkeys([*largest, *(self._at(int(place * columns), place) for place in places)]))

    def _at(self, column: int, place: float) -> Counts:
        most, fewest = int(self.most[column]), int(self.fewest[column])
        second = most - int(place * (most + 1 - fewest))
        return int(self.firsts[column]), second // self.span * self.span


def between(line: Line, bounds: Bounds, tried: Mapping[Counts, Tried], proven: Proven) -> list[Counts]:
    """The next pairs to ask whether they hold the rate; none when the boundary is known."""
    found = [pair for block in _blocks(line, bounds, tried, proven) for pair in block.asked(proven.told)]
    return list(dict.fromkeys(found))[:MOST_AT_ONCE]


def _blocks(line: Line, bounds: Bounds, tried: Mapping[Counts, Tried], proven: Proven) -> Iterator[_Block]:
    """What is open, from left to right."""
    spans = [pool.span for pool in line.pools]  # machines of a replica: only whole ones are of use
    counts = np.array(list(stepped(most_prefill(line, bounds) - 1, FINE)), np.int64)
    firsts = np.unique(counts // spans[0] * spans[0])
    firsts = firsts[firsts > 0]
    limits = np.array([filled(line, bounds, first)[1] for first in firsts.tolist()], np.int64)
    held = _least(firsts, holding(tried))
    most = proven.enough.most(firsts, np.clip(np.minimum(limits, held - 1), 0, None))
    able = np.array([proven.fewest_able(first) for first in firsts.tolist()], np.int64)
    fewest = np.maximum(1 - _least(-firsts[::-1], [(-p, -d) for p, d in failing(tried)], 0)[::-1], able)
    fewest, most = -(-fewest // spans[1]) * spans[1], most // spans[1] * spans[1]
    open_ = fewest <= most
    begin = 0
    while begin < len(firsts):
        end = begin + 1
        middle = (fewest[begin] + most[begin]) / 2
        while end < len(firsts) and open_[end] and fewest[end] <= middle <= most[end]:
            end += 1
        if open_[begin]:
            part = slice(begin, end)
            yield _Block(firsts[part], fewest[part], most[part], held[part], spans[1])
        begin = end


def _least(firsts: Ints, known: Sequence[Counts], least: int = MOST_MACHINES + 1) -> Ints:
    """For each of ascending counts of the first pool the least of the second beside no more of the first."""
    found = np.full(len(firsts), least, np.int64)
    for first, second in known:
        place = int(np.searchsorted(firsts, first))
        if place < len(found):
            found[place] = min(found[place], second)
    return np.minimum.accumulate(found)


def worth_capacity(fewest: Sequence[Counts], known: Mapping[Counts, bool], enough: Enough) -> list[Counts]:
    """Of the pairs that just hold the rate those whose capacity is to be searched: that may come first somewhere, and
    are not all but the same as another. ``known``: whose capacity is known."""
    able = [counts for counts in fewest if enough.comes_first_somewhere(*counts)]
    kept = [counts for counts in able if known[counts]]
    for counts in sorted(able):
        if not any(_alike(other, counts, enough.alike) for other in kept):
            kept.append(counts)
    return [counts for counts in kept if not known[counts]]


def _alike(other: Counts, counts: Counts, alike: bool) -> bool:
    if alike:
        return sum(other) <= sum(counts)
    return all(o - o // COARSE <= c for o, c in zip(other, counts, strict=True))
