"""Designs like one, with a few more or fewer machines: what is known of each, and what is proven of those not tried.

Two pools: prefill counts across, decode counts up. One pool: counts across, and up whatever else the family's designs
differ by (token budget, parallelism). What was never tried is told, in this order, by

1. the fluid bound: it holds less than the rate, whatever the schedule;
2. its neighbours: one of its line with no fewer machines in any pool misses the rate; or one of the map with no more
   meets the question, and so comes before it (docs/decisions/0013-pruning-by-proof.md; ``untried``);
3. its size: it uses more than the answer of what the goal compares, and comes after it whatever it holds;
4. else it may hold the rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from simcore.answer.lines import Counts, Lines
from simcore.answer.result import StudyResult
from simcore.answer.watts import least_w
from simcore.economics.hourly import usd_per_hour, usd_per_month
from simcore.evaluation import Design
from simcore.families import with_machines
from simcore.fleet import carried, machine_counts, provisioned_w, spanned
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.rows import DesignRow
from simcore.shortfalls import machines
from simcore.spec import Case, SpecError
from simcore.survival import left, ways_to_lose
from simcore.within import machines_within
from simcore.words import counted, number

State = Literal["holds", "over", "misses", "screened", "cannot", "untried", "failed"]
"""``over``: holds the rate, but not within the question's other limits. ``misses``: simulated, and misses it.
``cannot``: told to miss it without its own capacity. ``screened``: told to come after another. ``untried``: it may hold
the rate."""


@dataclass(frozen=True)
class Cell:
    """One design of the map."""

    counts: Counts
    line: int
    """Which of the lines up; 0 where decode counts are up."""
    state: State
    words: str
    usd_per_month: float
    provisioned_w: float
    capacity_req_per_s: float | None
    """None: not known."""
    at_most_req_per_s: float
    """By the fluid bound."""
    design_id: str | None
    """Of one that the study has."""
    feasible: bool | None
    """Whether it meets the question; None: not known."""
    whole: bool = True
    """Each of its machines is part of a replica."""


@dataclass(frozen=True)
class Neighbourhood:
    """The map around a design."""

    centre: DesignRow
    across: tuple[int, ...]
    up: tuple[str, ...]
    """Labels, from the bottom."""
    names: tuple[str, str]
    """Of both axes."""
    cells: tuple[tuple[Cell, ...], ...]
    """By up, then across."""
    designs: tuple[Design, ...]
    """Of each line one, with some counts."""

    @cached_property
    def every(self) -> tuple[Cell, ...]:
        """All cells, one after another."""
        return tuple(cell for row in self.cells for cell in row)

    @property
    def least_power(self) -> Cell | None:
        """Of those that meet the question."""
        meeting = [cell for cell in self.every if cell.state == "holds"]
        return min(meeting, key=lambda cell: (cell.provisioned_w, cell.usd_per_month), default=None)

    def unknown_within(self, reach: int) -> list[Cell]:
        """Those at most so many steps from the centre whose capacity is not known, and that can run."""
        at_up, at_across = self.place
        rows = self.cells[max(at_up - reach, 0) : at_up + reach + 1]
        near = [cell for row in rows for cell in row[max(at_across - reach, 0) : at_across + reach + 1]]
        unknown = (cell for cell in near if cell.capacity_req_per_s is None)
        return [cell for cell in unknown if cell.at_most_req_per_s > 0 and cell.whole]

    @cached_property
    def place(self) -> tuple[int, int]:
        """Where the centre is, up and across."""
        return next(
            (up, across)
            for up, row in enumerate(self.cells)
            for across, cell in enumerate(row)
            if cell.design_id == self.centre.design_id
        )

    def design(self, cell: Cell) -> Design:
        """That of a cell."""
        return with_machines(self.designs[cell.line], cell.counts)


def neighbourhood(result: StudyResult, statistics: WorkloadStatistics) -> Neighbourhood:
    """Around the answer, or where there is none around the closest miss. SpecError where the study has neither."""
    centre = result.winner or next(iter(result.closest), None)
    if centre is None:
        raise SpecError("no design of this study was evaluated: there is nothing to look around")
    lines = Lines(result, statistics, centre)
    told = _Told(lines)
    cells = tuple(tuple(told.cell(line, counts) for line, counts in row) for row in lines.places)
    return Neighbourhood(centre, lines.across, lines.up, lines.names, cells, tuple(lines.designs))


@dataclass(frozen=True)
class _Told:
    """What is known of each cell, or proven."""

    lines: Lines

    @property
    def result(self) -> StudyResult:
        return self.lines.result

    def cell(self, line: int, counts: Counts) -> Cell:
        row = self.lines.tried(line).get(counts)
        case = _with_counts(self.lines.designs[line].case, counts)
        most = self._at_most(line, case)
        state, words = self._known(row) if row else self._proven(line, counts, most, case)
        return Cell(
            counts,
            line,
            state,
            words,
            float(usd_per_month(usd_per_hour(machine_counts(case), self.result.book))),
            provisioned_w(case),
            row.capacity_req_per_s if row else None,
            most,
            row.design_id if row else None,
            self._feasible(state, line, counts, case),
            not _spare(case),
        )

    def _at_most(self, line: int, case: Case) -> float:
        """By the fluid bound, whichever machines are lost that must be survived."""
        bound, ways = self.lines.bounds[line], ways_to_lose(len(case.pools), self.result.spec.failures)
        rests = [left(case, lost) for lost in ways or ((),)]
        each = [[carried(pool) for pool in rest.pools] if rest else [] for rest in rests]
        return min(bound.rate(replicas) if bound and replicas and all(replicas) else 0.0 for replicas in each)

    def _feasible(self, state: State, line: int, counts: Counts, case: Case) -> bool | None:
        """One that was not tried meets it where fewer machines of its line do, and it keeps the limits."""
        if state in ("untried", "screened"):
            fewer = any(row.met and _no_more(tried, counts) for tried, row in self.lines.tried(line).items())
            return _within(case, self.result) if fewer else None
        return state == "holds"

    def _known(self, row: DesignRow) -> tuple[State, str]:
        if row.status == "screened":
            return "cannot" if self._misses(row) else "screened", f"screened: {row.reason}"
        if row.status != "evaluated":
            return "failed" if row.status == "failed" else "cannot", row.reason
        held = f"holds {number(row.capacity_req_per_s)} requests/s" if row.capacity_req_per_s else "holds no rate"
        if row.met:
            return "holds", held
        over = self.result.holds(row.design_id, self.result.spec.rate_req_per_s)
        return ("over", f"{held}, but {row.reason}") if over else ("misses", row.reason or held)

    def _proven(self, line: int, counts: Counts, most: float, case: Case) -> tuple[State, str]:
        rate = self.result.spec.rate_req_per_s
        if few := [pool for pool in case.pools if not carried(pool)]:
            return "cannot", f"not tried: a replica takes {spanned(few[0])} machines"
        if most < rate:
            return "cannot", f"not tried: by the fluid bound it holds at most {number(most)} requests/s"
        for tried, row in self.lines.tried(line).items():
            if self._misses(row) and _no_more(counts, tried):
                return "cannot", f"not tried: {row.label}, with no fewer machines in any pool, misses the rate"
            if self.result.evaluations[row.design_id].misses_alone:
                return "cannot", f"not tried: {row.label} holds the limits not even for requests that are all but alone"
        if spare := _spare(case):
            return "screened", f"not tried: {counted(spare, 'machine')} would belong to no replica"
        if better := next((row for tried, row in self._holding if _no_more(tried, counts)), None):
            return "screened", f"not tried: {better.label} holds the rate with no more machines in any pool"
        if self._comes_after(case):
            return "screened", "not tried: should it hold the rate, it comes after the answer, which needs less"
        return "untried", f"not tried: it may hold the rate, at most {number(most)} requests/s by the fluid bound"

    def _comes_after(self, case: Case) -> bool:
        """Whether it uses more than the answer of what the goal compares."""
        winner, used = self.result.winner, machine_counts(case)
        if winner is None:
            return False
        goal = self.result.spec.goal
        if goal == "power":
            return least_w(case, self.result.spec) > self.result.watts(winner)[winner.design_id]
        if goal == "machines":
            return sum(used.values()) > machines(winner)
        return goal != "throughput" and usd_per_hour(used, self.result.book) > winner.usd_per_hour

    def _misses(self, row: DesignRow) -> bool:
        """By a run at the rate, or at a lower one, or by proof."""
        rate = self.result.spec.rate_req_per_s
        if row.status == "screened":
            return row.capacity_high is not None and row.capacity_high < rate
        return row.status == "evaluated" and not self.result.holds(row.design_id, rate)

    @cached_property
    def _holding(self) -> list[tuple[Counts, DesignRow]]:
        """Designs on the map's machines that meet the question: beside more machines they come first, but where the
        most throughput is asked for."""
        if self.result.spec.goal == "throughput":
            return []
        every = [(tried, row) for rows in self.lines.rows.values() for tried, row in rows.items()]
        return [(tried, row) for tried, row in every if row.met]


def _no_more(few: Counts, many: Counts) -> bool:
    return all(fewer <= more for fewer, more in zip(few, many, strict=True))


def _with_counts(case: Case, counts: Counts) -> Case:
    """The same with so many machines in each pool; its id, which takes longer, is not made."""
    pools = tuple(replace(pool, machines=count) for pool, count in zip(case.pools, counts, strict=True))
    return replace(case, pools=pools)


def _spare(case: Case) -> int:
    """Machines beyond whole replicas."""
    return sum((pool.machines or 1) % spanned(pool) for pool in case.pools)


def _within(case: Case, result: StudyResult) -> bool | None:
    """Whether machines and money keep the limits; None where that depends on what is drawn."""
    budget, month = result.spec.limits.usd_per_month, usd_per_month(usd_per_hour(machine_counts(case), result.book))
    return machines_within(case, result.spec) if budget is None or month <= budget else False
