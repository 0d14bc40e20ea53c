"""The most that given machines can hold, run in whichever way a question's families allow.

Machines are bought for years, how they run is chosen anew: another scheduler, token budget, tensor parallelism, other
parts of them for prefill and decode; some may stand idle. A way is passed over where its fluid bound is no more than
what another holds, or one run at that rate fails; only what is left is searched for its capacity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from simcore.analyses.kind import Lab
from simcore.catalogue import resolve_machine
from simcore.fleet import replica_count
from simcore.fluid import FluidBound, fluid_bound
from simcore.spec import Case, SpecError

Counts = tuple[int, ...]
Machines = Mapping[str, int]
BETTER = 1.003
"""By less a way is not worth finding: a capacity is found to 1 %."""
FIRST_STEP = 0.1
"""Of two pools of one machine, so many of all are moved from one to the other first."""
MOST_MOVES = 6
MOST_LINES = 24
"""That the bound promises most."""


@dataclass(frozen=True)
class Rerun:
    """The best way found; no case where nothing holds any rate."""

    capacity_req_per_s: float = 0.0
    case: Case | None = None


@dataclass(frozen=True)
class _Way:
    promise: float
    counts: Counts
    like: Case
    bound: FluidBound


class Reruns:
    """Of some machines, over one lab's requests."""

    def __init__(self, lab: Lab, machines: Machines) -> None:
        self.lab, self.machines, self.best = lab, machines, Rerun()

    def most(self, ways: Sequence[Case]) -> Rerun:
        """``ways``: cases as they would be run, whatever their counts; those whose machines there are count."""
        found = [way for like in ways if (way := self._way(like)) is not None]
        for way in sorted(found, key=lambda way: -way.promise)[:MOST_LINES]:
            self._climb(way)
        return self.best

    def _way(self, like: Case) -> _Way | None:
        divisions = list(self._divisions(like))
        if not divisions:
            return None
        try:
            bound = fluid_bound(like, self.lab.statistics)
        except SpecError:
            return None
        promise, counts = max((_promise(like, bound, counts), counts) for counts in divisions)
        return _Way(promise, counts, like, bound) if promise else None

    def _divisions(self, like: Case) -> Iterator[Counts]:
        """All of each pool's machine; of one that both pools take, each division."""
        have = [self.machines.get(machine_id, 0) for machine_id in _machine_ids(like)]
        if _is_alike(like):
            yield from ((first, have[0] - first) for first in range(1, have[0]))
        elif all(have):
            yield tuple(have)

    def _climb(self, way: _Way) -> None:
        """Of two pools of one machine: on to whichever division holds more, in ever smaller steps."""
        here = way.counts
        step = max(1, round(FIRST_STEP * sum(here))) if _is_alike(way.like) else 0
        self._try(way, here)
        for _ in range(MOST_MOVES if step else 0):
            beside = [(here[0] + by, here[1] - by) for by in (step, -step)]
            better = next((there for there in beside if min(there) >= 1 and self._try(way, there)), None)
            if better is None and step == 1:
                return
            here, step = (here, max(1, step // 2)) if better is None else (better, step)

    def _try(self, way: _Way, counts: Counts) -> bool:
        """Whether it holds more than the best so far; then it is the best."""
        wanted, case = self.best.capacity_req_per_s * BETTER, sized(way.like, counts)
        if case == self.best.case or _promise(way.like, way.bound, counts) <= wanted:
            return False
        try:
            if wanted and not self.lab.holds(case, wanted):
                return False
            held = self.lab.capacity(case).capacity_req_per_s
        except SpecError:
            return False
        if held <= wanted:
            return False
        self.best = Rerun(held, case)
        return True


def sized(like: Case, counts: Counts) -> Case:
    """With so many machines in each pool."""
    pools = (replace(pool, machines=count, replicas=None) for pool, count in zip(like.pools, counts, strict=True))
    return replace(like, pools=tuple(pools))


def _promise(like: Case, bound: FluidBound, counts: Counts) -> float:
    replicas = [replica_count(pool) for pool in sized(like, counts).pools]
    return bound.rate(replicas) if all(replicas) else 0.0


def _machine_ids(like: Case) -> list[str]:
    return [resolve_machine(pool.machine).id for pool in like.pools]


def _is_alike(like: Case) -> bool:
    """Whether both pools take the same machine."""
    return len(like.pools) == 2 and len(set(_machine_ids(like))) == 1
