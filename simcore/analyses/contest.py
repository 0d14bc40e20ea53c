"""Which of several ways to run machines holds the most, for what each costs, with as few simulations as proofs allow.

A contender is passed over where its fluid bound is no more than the best found so far, and where one run at that much
fails; only what is left is searched for its capacity. Of two pools the machines are divided first as the fluid bound
says is best, then to whichever side holds more, in ever smaller steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from simcore.analyses.kind import Lab
from simcore.fleet import carried
from simcore.fluid.bounds import FluidBound, fluid_bound
from simcore.spec import Case, SpecError

Counts = tuple[int, ...]
BETTER = 1.003
"""By less a contender is not worth finding: a capacity is found to 1 %."""
FIRST_STEP = 0.1
"""Of all machines, that are moved from one pool to the other first."""
MOST_MOVES = 6


class Contender(Protocol):
    """A way to run machines, at counts of its choosing."""

    @property
    def case(self) -> Case:
        """Whose counts do not matter."""

    def divisions(self) -> Iterable[Counts]:
        """The counts that it may have; none where it has not the machines."""

    def moved(self, counts: Counts, by: int) -> Counts | None:
        """With so many machines more for prefill and the fewer for decode that go with it; None where it cannot."""

    def cost(self, counts: Counts) -> float:
        """What requests/s are compared by."""


@dataclass(frozen=True)
class Best:
    """The contender that holds the most for its cost; none where nothing holds any rate."""

    contender: int = -1
    counts: Counts = ()
    capacity_req_per_s: float = 0.0
    req_per_s_per_cost: float = 0.0


def sized(case: Case, counts: Counts) -> Case:
    """With so many machines in each pool."""
    pools = (replace(pool, machines=count, replicas=None) for pool, count in zip(case.pools, counts, strict=True))
    return replace(case, pools=tuple(pools))


@dataclass
class Contest:
    """Over one lab's requests."""

    lab: Lab
    contenders: Sequence[Contender]
    best: Best = Best()

    def winner(self, first: int = -1) -> Best:
        """``first``: who is likely to win."""
        bounds = {i: bound for i, one in enumerate(self.contenders) if (bound := self._bound(one)) is not None}
        starts = [start for i, bound in bounds.items() if (start := self._start(i, bound)) is not None]
        for index, counts, _ in sorted(starts, key=lambda start: (start[0] != first, -start[2])):
            self._climb(index, counts, bounds[index])
        return self.best

    def _bound(self, contender: Contender) -> FluidBound | None:
        try:
            return fluid_bound(contender.case, self.lab.statistics)
        except SpecError:
            return None

    def _start(self, index: int, bound: FluidBound) -> tuple[int, Counts, float] | None:
        """Where the bound promises most, and how much."""
        contender = self.contenders[index]
        promises = ((_promise(contender, bound, counts), counts) for counts in contender.divisions())
        promise, counts = max(promises, default=(0.0, ()))
        return (index, counts, promise) if promise else None

    def _climb(self, index: int, counts: Counts, bound: FluidBound) -> None:
        """From there to whichever division holds more, until none does."""
        step = max(1, round(FIRST_STEP * sum(counts))) if len(counts) == 2 else 0
        self._try(index, counts, bound)
        for _ in range(MOST_MOVES if step else 0):
            here = self.best.counts if self.best.contender == index else counts
            beside = [self.contenders[index].moved(here, by) for by in (step, -step)]
            if not any(self._try(index, there, bound) for there in beside if there is not None):
                if step == 1:
                    return
                step = max(1, step // 2)

    def _try(self, index: int, counts: Counts, bound: FluidBound) -> bool:
        """Whether it holds more for its cost than the best so far; then it is the best."""
        contender = self.contenders[index]
        cost, wanted = contender.cost(counts), self.best.req_per_s_per_cost * BETTER
        if _promise(contender, bound, counts) <= wanted:
            return False
        case = sized(contender.case, counts)
        try:
            if wanted and not self.lab.holds(case, wanted * cost):
                return False
            held = self.lab.capacity(case).capacity_req_per_s
        except SpecError:
            return False
        if held / cost <= wanted:
            return False
        self.best = Best(index, counts, held, held / cost)
        return True


def _promise(contender: Contender, bound: FluidBound, counts: Counts) -> float:
    """Nothing where the machines are fewer than a replica spans."""
    replicas = [carried(pool) for pool in sized(contender.case, counts).pools]
    return bound.rate(replicas) / contender.cost(counts) if all(replicas) else 0.0
