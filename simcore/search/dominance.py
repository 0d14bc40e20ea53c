"""Which designs need no simulation: those that an evaluated one beats whatever machines and power cost.

A design is screened where an evaluated one uses no more of any machine and holds more than the design can by its fluid
bound. Nameplate and provisioned power are sums over machines, so they are no more either, and so is what both cost at
any price a machine and any price a kW. Docs: docs/decisions/0013-pruning-by-proof.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
ROWS_AT_ONCE = 4096
"""Candidates compared at a time, so that memory stays small whatever the grid."""


@dataclass(frozen=True)
class Held:
    """What evaluated designs hold, best first."""

    index: Int64
    """Which candidates they are."""
    machines: Int64
    """A row each, a column a machine id."""
    capacity: Float64

    @classmethod
    def of(cls, index: Int64, machines: Int64, capacity: Float64) -> Held:
        """Those that can dominate: of several with the same machines or fewer, the one that holds the most."""
        order = np.lexsort((index, machines.sum(axis=1), -capacity))
        kept: list[int] = []
        for place in order:
            if capacity[place] <= 0:
                break
            if not kept or not (machines[kept] <= machines[place]).all(axis=1).any():
                kept.append(int(place))
        return cls(index[kept], machines[kept], capacity[kept])


def dominators(machines: Int64, bound: Float64, held: Held) -> Int64:
    """For each candidate the evaluated design that beats it and holds the most (its index), else -1."""
    found = np.full(len(bound), -1, np.int64)
    if not len(held.index):
        return found
    for start in range(0, len(bound), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        beats = (held.machines[None] <= machines[part, None]).all(axis=2) & (held.capacity > bound[part, None])
        found[part] = np.where(beats.any(axis=1), held.index[beats.argmax(axis=1)], -1)
    return found
