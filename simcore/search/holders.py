"""The designs of all lines that are known to hold the required rate, and what of them bears on one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.search.context import Context
from simcore.search.counts import Counts
from simcore.search.enough import Enough, Pairs
from simcore.search.tried import Tried


@dataclass(frozen=True)
class Holders:
    """A row a design."""

    context: Context
    line: NDArray[np.int64]
    machines: NDArray[np.int64]
    """A column a machine id."""

    @classmethod
    def of(cls, context: Context, tried: Sequence[Mapping[Counts, Tried]]) -> Holders:
        """By what is known of each line's counts."""
        found = [(place, counts) for place, line in enumerate(tried) for counts, one in line.items() if one.holds]
        machines = np.array([context.machines_of(*member) for member in found], np.int64)
        return cls(context, np.array([place for place, _ in found], np.int64), machines)

    def need_less(self, place: int, counts: Counts) -> bool:
        """Whether one of them has no more of any machine than counts of a line, and less of one."""
        return self._need_less(place, counts, np.ones(len(self.line), bool))

    def family_needs_less(self, place: int, counts: Counts) -> bool:
        """Whether another line of the family does."""
        return self._need_less(place, counts, self._of_family(place) & (self.line != place))

    def _need_less(self, place: int, counts: Counts, among: NDArray[np.bool_]) -> bool:
        if not among.any():
            return False
        mine, machines = self.context.machines_of(place, counts), self.machines[among]
        return bool(((machines <= mine).all(axis=1) & (machines < mine).any(axis=1)).any())

    def enough(self, place: int, families_apart: bool = True) -> Enough:
        """Of a line with two pools: the pairs of its machines that are enough. ``families_apart``: the cheapest of each
        family is looked for, too."""
        line = self.context.lines[place]
        if len(line.pools) == 1:
            return Enough(alike=True)
        first, second = self.context.columns_of(place)
        ratio = line.pools[1].machine.nameplate_w / line.pools[0].machine.nameplate_w
        if not len(self.line):
            return Enough(first == second, ratio)
        others = np.delete(self.machines, (first, second), axis=1)
        able: NDArray[np.bool_] = ~np.asarray(others.any(axis=1), bool)
        anywhere = self._pairs(able, first, second)
        of_family = self._pairs(able & self._of_family(place), first, second) if families_apart else anywhere
        return Enough(first == second, ratio, anywhere, of_family)

    def _pairs(self, mask: NDArray[np.bool_], first: int, second: int) -> Pairs:
        pairs = np.stack((self.machines[mask, first], self.machines[mask, second]), axis=1)
        if first == second:
            pairs[:, 1] = 0
        return np.unique(pairs, axis=0)

    def _of_family(self, place: int) -> NDArray[np.bool_]:
        families = self.context.families
        alike: NDArray[np.bool_] = families[self.line] == families[place]
        return alike
