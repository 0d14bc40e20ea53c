"""Machines that are there, run in one of the ways that a question's families allow.

Machines are bought for years, how they run is chosen anew: another scheduler, token budget, tensor parallelism, other
parts of them for prefill and decode; some may stand idle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from simcore.analyses.contest import Contest, Counts, sized
from simcore.analyses.kind import Lab
from simcore.catalogue import resolve_machine
from simcore.spec import Case


@dataclass(frozen=True)
class Rerun:
    """The best way found; no case where nothing holds any rate."""

    capacity_req_per_s: float = 0.0
    case: Case | None = None


@dataclass(frozen=True)
class Bought:
    """A contender that has these machines, by id, and no others."""

    case: Case
    machines: Mapping[str, int]

    def divisions(self) -> Iterator[Counts]:
        """All of each pool's machine; of one that both pools take, each division."""
        have = [self.machines.get(machine_id, 0) for machine_id in self._ids]
        if self._is_alike:
            yield from ((first, have[0] - first) for first in range(1, have[0]))
        elif all(have):
            yield tuple(have)

    def moved(self, counts: Counts, by: int) -> Counts | None:
        """Only where both pools take the same machine."""
        first, second = counts[0] + by, counts[1] - by
        return (first, second) if self._is_alike and min(first, second) >= 1 else None

    def cost(self, counts: Counts) -> float:
        """They are paid for however they run."""
        return 1.0

    @property
    def _ids(self) -> list[str]:
        return [resolve_machine(pool.machine).id for pool in self.case.pools]

    @property
    def _is_alike(self) -> bool:
        return len(self.case.pools) == 2 and len(set(self._ids)) == 1


def most_held(lab: Lab, machines: Mapping[str, int], ways: Sequence[Case]) -> Rerun:
    """``ways``: cases as they would be run, whatever their counts."""
    best = Contest(lab, [Bought(case, machines) for case in ways]).winner()
    if best.contender < 0:
        return Rerun()
    return Rerun(best.capacity_req_per_s, sized(ways[best.contender], best.counts))
