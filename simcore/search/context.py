"""A study's question with its requests, and what follows from both before anything is simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor, inf, prod

import numpy as np
from numpy.typing import NDArray

from simcore.catalogue import resolve_model
from simcore.evaluation import Design
from simcore.families import Line, lines
from simcore.fluid.bounds import FluidBound, capacity_bound, fluid_bound, replicas_a_machine, work_machines
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.search.counts import BEYOND_NEED, MOST_MACHINES, Bounds, Counts, explicit_counts, grid
from simcore.search.offered_load import replication
from simcore.search.rate_grid import MOST_RATE_REQ_PER_S
from simcore.search.waves import Candidates
from simcore.spec import SpecError, StudySpec, nearest
from simcore.survival import Lost, left, machines_left, ways_to_lose
from simcore.traces import Trace
from simcore.words import number

MOST_CANDIDATES = 50_000
"""Of counts that the user gives; each is compared with many."""
LIKELY_BATCH = 64
"""Decode batch that a first guess at the machines needed counts on: what TBT limits leave of the largest batches."""


@dataclass(frozen=True)
class Context:
    """A question with its requests, and what follows from both before anything is simulated."""

    spec: StudySpec
    trace: Trace
    trace_hash: str
    lines: tuple[Line, ...]
    bounds: tuple[Bounds, ...]
    """One for each line."""
    statistics: WorkloadStatistics

    @cached_property
    def candidates(self) -> Candidates:
        """What the study may evaluate."""
        members = [
            (place, counts)
            for place, (line, bounds) in enumerate(zip(self.lines, self.bounds, strict=True))
            for counts in grid(line, self.spec, bounds)
        ]
        return Candidates(
            np.array([place for place, _ in members], np.int64),
            tuple(counts for _, counts in members),
            np.array([self.machines_of(*member) for member in members], np.int64),
            np.array([self.bound_of(*member) for member in members]),
        )

    @cached_property
    def index(self) -> dict[tuple[int, Counts], int]:
        """(line, counts) → the number of the candidate."""
        found = self.candidates
        return {
            (int(line), counts): index
            for index, (line, counts) in enumerate(zip(found.line, found.counts, strict=True))
        }

    def design(self, index: int) -> Design:
        """The candidate of this number."""
        return self.member(int(self.candidates.line[index]), self.candidates.counts[index])

    def member(self, place: int, counts: Counts) -> Design:
        """A line's design of so many machines, made once."""
        if (place, counts) not in self._designs:
            self._designs[place, counts] = self.lines[place].design(counts)
        return self._designs[place, counts]

    def machines_of(self, place: int, counts: Counts) -> NDArray[np.int64]:
        """How many of each machine of the study a member of a line takes."""
        taken = np.zeros(len(self._machine_ids), np.int64)
        for pool, count in zip(self.lines[place].pools, counts, strict=True):
            taken[self._machine_ids[pool.machine.id]] += count
        return taken

    def columns_of(self, place: int) -> list[int]:
        """By pool of a line, which entry of ``machines_of`` counts its machines."""
        return [self._machine_ids[pool.machine.id] for pool in self.lines[place].pools]

    def bound_of(self, place: int, counts: Counts) -> float:
        """Requests/s that a member of a line can hold at most, whichever machines are lost that must be survived;
        infinite where it cannot run, which is not screened."""
        if (place, counts) not in self._bounds_known:
            self._bounds_known[place, counts] = self._bound_of(place, counts)
        return self._bounds_known[place, counts]

    def cannot(self, place: int, counts: Counts) -> bool:
        """Whether a member of a line cannot hold the required rate by its bound. What is held is known to 1 %: the rate
        itself is simulated (``Evaluation.holds``)."""
        return self.bound_of(place, counts) < 0.99 * self.spec.rate_req_per_s

    def fewest_able(self, place: int, first: int) -> int:
        """Of a line with two pools the fewest machines of the second that may hold the rate beside so many of the
        first, by the bound; more than are searched where none."""
        if (place, first) not in self._fewest_able:
            low, high = 1, MOST_MACHINES + 1
            while low < high:
                middle = (low + high) // 2
                low, high = (middle + 1, high) if self.cannot(place, (first, middle)) else (low, middle)
            self._fewest_able[place, first] = low
        return self._fewest_able[place, first]

    def _bound_of(self, place: int, counts: Counts) -> float:
        pools = self.lines[place].pools
        replicas = [pool.replicas(count) for pool, count in zip(pools, counts, strict=True)]
        if self.lines[place].reason or not all(replicas):
            return inf
        return min((self._bound_without(place, counts, lost) for lost in self._ways(len(pools))),
                   default=max(fluid.rate(replicas) for fluid in self._fluid[place]))  # fmt: skip

    def _ways(self, pools: int) -> tuple[Lost, ...]:
        """To lose as many machines as must be survived."""
        return ways_to_lose(pools, self.spec.failures)

    def _bound_without(self, place: int, counts: Counts, lost: Lost) -> float:
        """Requests/s that what is left can hold at most; 0 where a pool has nothing left."""
        pools = self.lines[place].pools
        machines = [machines_left(*one) for one in zip(counts, lost, (pool.span for pool in pools), strict=True)]
        if min(machines) <= 0:
            return 0.0
        replicas = [pool.replicas(count) for pool, count in zip(pools, machines, strict=True)]
        return max(fluid.rate(replicas) for fluid in self._fluid[place])

    def least(self, place: int, each: Mapping[str, float]) -> float:
        """What a member of a line that holds the required rate takes at least, where a machine of an id takes so much
        (dollars an hour, watts), in parts of a machine, beside the dearest that may be lost; infinite where none can
        run."""
        if self.lines[place].reason:
            return inf
        pools = self.lines[place].pools
        taken = [
            each.get(pool.machine.id, 0.0)
            / replicas_a_machine(pool.machine, pool.tensor_parallel, pool.pipeline_parallel)
            for pool in pools
        ]
        lost = self.spec.failures * max(each.get(pool.machine.id, 0.0) * pool.span for pool in pools)
        return min(fluid.least(self.spec.rate_req_per_s, taken) for fluid in self._fluid[place]) + lost

    def most(self, design: Design) -> float:
        """Requests/s that a design, which can run, holds at most; no more than can be searched for."""
        cases = [left(design.case, lost) for lost in self._ways(len(design.case.pools)) or ((),)]
        each = [0.0 if case is None else capacity_bound(case, self.statistics) for case in cases]
        return min(*each, MOST_RATE_REQ_PER_S)

    @cached_property
    def families(self) -> NDArray[np.int64]:
        """By line the number of its family."""
        return np.unique([line.family for line in self.lines], return_inverse=True)[1].reshape(-1)

    @cached_property
    def _machine_ids(self) -> dict[str, int]:
        ids = dict.fromkeys(pool.machine.id for line in self.lines for pool in line.pools)
        return {machine_id: column for column, machine_id in enumerate(ids)}

    @cached_property
    def _designs(self) -> dict[tuple[int, Counts], Design]:
        return {}

    @cached_property
    def _bounds_known(self) -> dict[tuple[int, Counts], float]:
        return {}

    @cached_property
    def _fewest_able(self) -> dict[tuple[int, int], int]:
        return {}

    @cached_property
    def _fluid(self) -> list[list[FluidBound]]:
        """By line, of each replication: a bootstrapped workload has its own mean request, and its own capacity."""
        cases = [line.design((1,) * len(line.pools)).case for line in self.lines]
        traces = dict.fromkeys(replication(self.trace, cases[0], seed) for seed in self.spec.seeds)
        each = [self.statistics if trace is self.trace else WorkloadStatistics.of(trace) for trace in traces]
        return [
            [] if line.reason else [fluid_bound(case, statistics) for statistics in each]
            for line, case in zip(self.lines, cases, strict=True)
        ]


def context(spec: StudySpec, trace: Trace, statistics: WorkloadStatistics | None = None) -> Context:
    """Lines and bounds of a study; SpecError on an unknown machine, model or family. ``statistics``: the trace's, where
    they are kept from one question to the next, with all that was priced by them."""
    statistics = statistics or WorkloadStatistics.of(trace)
    found = tuple(lines(spec))
    bounds = tuple(_bounds(line, spec, statistics) for line in found)
    _refuse_also(spec, found)
    _refuse_many(spec, found)
    _refuse_vast(spec, found, bounds)
    return Context(spec, trace, trace.content_hash(), found, bounds, statistics)


def _bounds(line: Line, spec: StudySpec, statistics: WorkloadStatistics) -> Bounds:
    need = _need(line, spec, statistics)
    limits = spec.limits
    unlimited = MOST_MACHINES if _asks_for_all(spec) else floor(sum(need) * BEYOND_NEED * 2) + 4 * len(line.pools)
    kw = limits.power_limit_kw if limits.power_limit_kw and limits.power_kind == "nameplate" else inf
    if limits.power_limit_kw and limits.power_kind == "provisioned":
        kw = limits.power_limit_kw * max(p.machine.nameplate_w / p.machine.provisioned() for p in line.pools)
    each = tuple(unlimited if pool.on_hand is None else pool.on_hand for pool in line.pools)
    total = min(limits.machines or unlimited, MOST_MACHINES)
    if len({pool.machine.id for pool in line.pools}) < len(line.pools):  # both pools take from what is on hand
        total = min(total, each[0])
    least_w = min(pool.machine.nameplate_w for pool in line.pools)
    return Bounds(
        each, total, min(kw, unlimited * max(least_w, *(p.machine.nameplate_w for p in line.pools)) / 1000), need
    )


def _asks_for_all(spec: StudySpec) -> bool:
    """Whether the most is asked for of all that limits on machines or power allow, whatever the rate needs."""
    limited = spec.limits.machines is not None or spec.limits.power_limit_kw is not None
    return spec.goal == "throughput" and (limited or any(choice.on_hand is not None for choice in spec.machines))


def _need(line: Line, spec: StudySpec, statistics: WorkloadStatistics) -> tuple[float, ...]:
    """Machines of each pool that the rate's work keeps busy, beside those that may be lost."""
    work = _busy(line, spec, statistics)
    return tuple(busy + spec.failures * pool.span for busy, pool in zip(work, line.pools, strict=True))


def _busy(line: Line, spec: StudySpec, statistics: WorkloadStatistics) -> tuple[float, ...]:
    """One each where the line cannot run."""
    if line.reason:
        return (1.0,) * len(line.pools)
    model = resolve_model(spec.model)
    work = [
        work_machines(
            model,
            pool.machine,
            pool.latency,
            statistics,
            spec.rate_req_per_s,
            pool.tensor_parallel,
            pool.pipeline_parallel,
            LIKELY_BATCH,
        )
        for pool in line.pools
    ]
    return (work[0].prefill + work[0].decode,) if len(work) == 1 else (work[0].prefill, work[1].decode)


def _refuse_also(spec: StudySpec, found: Sequence[Line]) -> None:
    """Counts beside the search's of a family that is not asked for, or for other pools than it has."""
    pools = {line.family: len(line.pools) for line in found}
    for place, one in enumerate(spec.also):
        if one.family not in pools:
            raise SpecError(
                f"also[{place}].family: found '{one.family}', expected one of the study's families:"
                f" {', '.join(pools)}{nearest(one.family, pools)}"
            )
        if len(one.counts) != pools[one.family]:
            raise SpecError(
                f"also[{place}].counts: found {len(one.counts)}, expected {pools[one.family]}, one a pool of"
                f" {one.family}"
            )


def _refuse_many(spec: StudySpec, found: Sequence[Line]) -> None:
    """More counts given than can be compared."""
    axes = [[getattr(spec.counts, pool.role) or () for pool in line.pools] for line in found if not line.reason]
    designs = sum(prod(map(len, counts)) for counts in axes)
    if designs > MOST_CANDIDATES:
        raise SpecError(
            f"counts: found {designs:,} designs of the counts given, expected at most {MOST_CANDIDATES:,}:"
            " fewer counts, families or token budgets"
        )


def _refuse_vast(spec: StudySpec, found: Sequence[Line], bounds: Sequence[Bounds]) -> None:
    """A rate whose work alone takes more machines than any design that is searched, where no limits are to be searched
    within: nothing could be said but that."""
    able = [(line, within) for line, within in zip(found, bounds, strict=True) if not line.reason]
    if not able or any(explicit_counts(line, spec) or _is_limited(line, within) for line, within in able):
        return
    line, least = min(able, key=lambda one: sum(one[1].need))
    if sum(least.need) > MOST_MACHINES:
        names = " and ".join(dict.fromkeys(pool.machine.name for pool in line.pools))
        raise SpecError(
            f"rate_req_per_s: found {number(spec.rate_req_per_s)}, whose work alone keeps {number(sum(least.need))}"
            f" {names} busy, expected a rate that {MOST_MACHINES:,} machines hold, the largest design that is searched,"
            " or limits of machines or power to search within"
        )


def _is_limited(line: Line, bounds: Bounds) -> bool:
    """Whether the question allows fewer machines than are searched."""
    least_kw = min(pool.machine.nameplate_w for pool in line.pools) / 1000
    allowed = min(bounds.most_total, sum(bounds.most_each), bounds.most_kw / least_kw)
    return allowed < MOST_MACHINES
