"""Best first through all candidate designs of a study, in waves, without simulating what is proven to be beaten.

Pure and deterministic: a wave follows from the results of the waves before it alone, never from the order in which they
came, so an interrupted study goes on where it stopped and any number of workers evaluates the same designs. Nothing
is decided by price (DESIGN.md section 2).

The first wave takes each line's measure; the next take the most promising candidates of each set of machines, best
first, and leave those for later that another one will probably beat; ``dominance`` drops what is beaten for certain.
Where an evaluated design uses no more machines, and a candidate probably holds no more than it, one run at what it
holds says whether the candidate's capacity is worth searching.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simcore.search.counts import Counts
from simcore.search.dominance import Held, dominators

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
Mask = NDArray[np.bool_]
MEASURED_AT = {1: (1.0,), 2: (0.3, 0.5, 0.7)}
"""The first wave: where along a line's candidates, by number of pools. Co-located: the most machines."""
SHARE_OF_GROUP = 6
"""Of the candidates of one set of machines that may hold more than what is known, a wave takes this part: enough work
for several workers, few enough for dominance to act. Those that probably hold less are told by a run each, at once."""
SURELY_MORE = 1.1
"""A candidate that probably holds more than its rival by this factor is not run at the rival's rate first."""
MOST_LEADERS = 512
"""Candidates that others may wait for; more would take longer to compare than they save."""


@dataclass(frozen=True)
class Candidates:
    """The designs that a study may evaluate; all arrays have one entry each."""

    line: Int64
    """Which line it is of."""
    counts: tuple[Counts, ...]
    machines: Int64
    """A column a machine id: how many of it."""
    bound: Float64
    """Requests/s that it can hold at most; infinite where nothing is proven."""

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def first_share(self) -> Float64:
        """The first pool's part of all machines."""
        return np.array([counts[0] / sum(counts) for counts in self.counts])

    @cached_property
    def group(self) -> Int64:
        """Candidates of the same machines have the same number."""
        return np.unique(self.machines, axis=0, return_inverse=True)[1].reshape(-1)


@dataclass(frozen=True)
class Known:
    """What is known of the candidates."""

    evaluated: Mask
    """Also those that a run has screened."""
    capacity: Float64
    """What they hold; 0 where they failed, the most that they may hold where a run has screened them."""
    dominates: Mask
    """Whether it may screen others: its capacity is known, and it is within what the study limits beyond machines and
    ratings."""

    def held(self, candidates: Candidates) -> Held:
        """The evaluated designs that screen others."""
        index = np.flatnonzero(self.evaluated & self.dominates)
        return Held.of(index, candidates.machines[index], self.capacity[index])


@dataclass(frozen=True)
class Wanted:
    """A candidate to evaluate next."""

    index: int
    rival: int
    """Which evaluated one it must hold more than, to be worth its capacity; -1: none."""


def next_wave(candidates: Candidates, known: Known) -> list[Wanted]:
    """The candidates to evaluate next, most promising first; empty when the rest is screened."""
    held = known.held(candidates)
    beaten = dominators(candidates.machines, candidates.bound, held) >= 0
    open_ = np.flatnonzero(~known.evaluated & ~beaten)
    if not len(open_):
        return []
    likely = _likely_capacity(candidates, known)
    rivals = dominators(candidates.machines, np.zeros(len(candidates)), held)
    ordered = open_[np.lexsort((open_, -likely[open_]))]
    behind = (rivals >= 0) & (likely <= known.capacity[rivals])
    first = ordered[~behind[ordered]]
    chosen = _first_of_groups(candidates, first)
    waits = _likely_beaten(candidates, likely, chosen, first)
    worthwhile = (rivals >= 0) & (likely <= SURELY_MORE * known.capacity[rivals])
    taken = [*chosen[~waits], *ordered[behind[ordered]]]
    return [Wanted(int(index), int(rivals[index]) if worthwhile[index] else -1) for index in taken]


def first_wave(candidates: Candidates) -> list[int]:
    """A few candidates of each line that say what it can do."""
    chosen = []
    for line in np.unique(candidates.line):
        members = np.flatnonzero(candidates.line == line)
        places = MEASURED_AT[len(candidates.counts[members[0]])]
        chosen += [int(members[round(place * (len(members) - 1))]) for place in places]
    return list(dict.fromkeys(chosen))


def screened_by(candidates: Candidates, known: Known) -> dict[int, int]:
    """Candidates that were not evaluated, each with the evaluated one that beats it."""
    by = dominators(candidates.machines, candidates.bound, known.held(candidates))
    found = np.flatnonzero((by >= 0) & ~known.evaluated)
    return {int(index): int(by[index]) for index in found}


def _likely_capacity(candidates: Candidates, known: Known) -> Float64:
    """The bound times what the nearest evaluated design of the line holds of its own: a guess that only orders."""
    likely = np.where(np.isfinite(candidates.bound), candidates.bound, 0.0)
    for line in np.unique(candidates.line):
        members = np.flatnonzero(candidates.line == line)
        tried = members[known.evaluated[members] & (candidates.bound[members] > 0)]
        if len(tried) and np.isfinite(candidates.bound[members]).all():
            reached = known.capacity[tried] / candidates.bound[tried]
            likely[members] *= reached[_nearest(candidates, members, tried)]
    return np.where(known.evaluated, known.capacity, likely)


def _nearest(candidates: Candidates, members: Int64, tried: Int64) -> Int64:
    """For each member the place in ``tried`` of the one most like it: in the pools' shares, then in size."""
    share, size = candidates.first_share, np.log(candidates.machines.sum(axis=1))
    apart = np.abs(share[members, None] - share[tried]) + 0.1 * np.abs(size[members, None] - size[tried])
    found: Int64 = apart.argmin(axis=1)
    return found


def _first_of_groups(candidates: Candidates, ordered: Int64) -> Int64:
    """Of each set of machines the first few, in the order given."""
    groups = candidates.group[ordered]
    sizes = np.bincount(groups)
    place = _places_within(groups)
    return ordered[place < np.maximum(sizes[groups] // SHARE_OF_GROUP, 1)]


def _places_within(groups: Int64) -> Int64:
    """Each entry's position among those of its group."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], groups[order])
    places = np.empty(len(groups), np.int64)
    places[order] = np.arange(len(groups)) - starts
    return places


def _likely_beaten(candidates: Candidates, likely: Float64, chosen: Int64, ordered: Int64) -> Mask:
    """Whether a candidate that is still open, with fewer machines, probably holds more than the chosen one does: once
    that is known, one run may tell.

    The one with the fewest machines of all waits for nobody, so a wave is never empty.
    """
    leaders: Sequence[int] | Int64 = ordered[:: max(1, -(-len(ordered) // MOST_LEADERS))]
    machines = candidates.machines
    waits = np.zeros(len(chosen), bool)
    for place, index in enumerate(chosen):
        fewer = (machines[leaders] <= machines[index]).all(axis=1) & (machines[leaders] != machines[index]).any(axis=1)
        waits[place] = bool((fewer & (likely[leaders] > likely[index])).any())
    return waits
