"""The most requests a dollar of several lines of designs, at one size, with as few simulations as proofs allow.

Every contender is sized to cost about the same. One is passed over where its fluid bound is no more requests a dollar
than the best found so far, and one whose trial at that many fails; only what is left is searched for its capacity. Of
two pools the dollars are divided first as the fluid bound says is best, then to whichever side holds more, in ever
smaller steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from simcore.analyses.kind import Lab
from simcore.fleet import replica_count
from simcore.fluid import FluidBound, fluid_bound
from simcore.spec import Case, Slo, SpecError

Counts = tuple[int, ...]
BETTER = 1.003
"""By less a contender is not worth finding: a capacity is found to 1 %."""
FIRST_STEP = 0.1
"""Of all machines, that are moved from one pool to the other first."""
MOST_MOVES = 6


@dataclass(frozen=True)
class Contender:
    """A line of designs: one of them, and what a machine of each pool costs an hour."""

    case: Case
    usd_per_hour: tuple[float, ...]

    def cost(self, counts: Counts) -> float:
        """Of so many machines."""
        return sum(price * count for price, count in zip(self.usd_per_hour, counts, strict=True))

    def sized(self, counts: Counts, slo: Slo) -> Case:
        """So many machines under an SLO."""
        pools = tuple(replace(pool, machines=count) for pool, count in zip(self.case.pools, counts, strict=True))
        return replace(self.case, pools=pools, slo=slo)

    def replicas(self, counts: Counts) -> list[int]:
        """Of each pool; 0 where the machines are fewer than one spans."""
        pools = zip(self.case.pools, counts, strict=True)
        return [replica_count(replace(pool, machines=count)) for pool, count in pools]


@dataclass(frozen=True)
class Best:
    """The contender that holds the most a dollar; none where nothing holds any rate."""

    contender: int = -1
    counts: Counts = ()
    capacity_req_per_s: float = 0.0
    req_per_usd: float = 0.0


@dataclass
class Contest:
    """Under one SLO and over one workload."""

    lab: Lab
    contenders: Sequence[Contender]
    slo: Slo
    usd_per_hour: float
    """What each contender may cost, about."""
    best: Best = Best()

    def winner(self, first: int = -1) -> Best:
        """``first``: who is likely to win."""
        bounds = [self._bound(contender) for contender in self.contenders]
        starts = [self._start(i, bound) for i, bound in enumerate(bounds) if bound is not None]
        order = sorted(starts, key=lambda start: (start[0] != first, -start[2]))
        for index, counts, _ in order:
            bound = bounds[index]
            assert bound is not None  # noqa: S101 - it has a start
            self._climb(index, counts, bound)
        return self.best

    def _bound(self, contender: Contender) -> FluidBound | None:
        try:
            return fluid_bound(replace(contender.case, slo=self.slo), self.lab.statistics)
        except SpecError:
            return None

    def _start(self, index: int, bound: FluidBound) -> tuple[int, Counts, float]:
        """Where the bound promises the most a dollar, and how much."""
        contender = self.contenders[index]
        promises = [(self._promise(contender, bound, counts), counts) for counts in self._divisions(contender)]
        promise, counts = max(promises)
        return index, counts, promise

    def _divisions(self, contender: Contender) -> Iterator[Counts]:
        """All ways to spend about that much."""
        prices = contender.usd_per_hour
        if len(prices) == 1:
            yield (max(1, round(self.usd_per_hour / prices[0])),)
            return
        for first in range(1, max(2, int(self.usd_per_hour / prices[0]))):
            yield first, max(1, round((self.usd_per_hour - first * prices[0]) / prices[1]))

    def _promise(self, contender: Contender, bound: FluidBound, counts: Counts) -> float:
        replicas = contender.replicas(counts)
        return bound.rate(replicas) / contender.cost(counts) if all(replicas) else 0.0

    def _climb(self, index: int, counts: Counts, bound: FluidBound) -> None:
        """From there to whichever division holds more, until none does."""
        step = max(1, round(FIRST_STEP * sum(counts))) if len(counts) == 2 else 0
        self._try(index, counts, bound)
        for _ in range(MOST_MOVES if step else 0):
            here = self.best.counts if self.best.contender == index else counts
            beside = [self._moved(index, here, by) for by in (step, -step)]
            if not any(self._try(index, there, bound) for there in beside if there is not None):
                if step == 1:
                    return
                step = max(1, step // 2)

    def _moved(self, index: int, counts: Counts, by: int) -> Counts | None:
        """So many machines more for prefill, and what they cost less for decode."""
        first, (price, other) = counts[0] + by, self.contenders[index].usd_per_hour
        second = round((self.usd_per_hour - first * price) / other)
        return (first, second) if first >= 1 and second >= 1 else None

    def _try(self, index: int, counts: Counts, bound: FluidBound) -> bool:
        """Whether it holds more a dollar than the best so far; then it is the best."""
        contender = self.contenders[index]
        cost, wanted = contender.cost(counts), self.best.req_per_usd * BETTER
        if self._promise(contender, bound, counts) <= wanted / 3600:
            return False
        case = contender.sized(counts, self.slo)
        try:
            if wanted and not self.lab.holds(case, wanted * cost / 3600):
                return False
            held = self.lab.capacity(case).capacity_req_per_s
        except SpecError:
            return False
        if 3600 * held / cost <= wanted:
            return False
        self.best = Best(index, counts, held, 3600 * held / cost)
        return True
