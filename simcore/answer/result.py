"""A study's answer: evaluations and prices put together. Pure, no engine: a changed price redraws at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import inf

from simcore import fleet
from simcore.answer.certain import cannot_turn, may_turn
from simcore.answer.watts import compared_w
from simcore.budget import auto_budget
from simcore.catalogue import resolve_machine
from simcore.economics.energy import energy_usd_per_hour
from simcore.economics.hourly import req_per_usd, usd_per_hour
from simcore.evaluation import Design, Evaluation
from simcore.families import SPLIT, family_ids
from simcore.frontier import Point, dominators
from simcore.rows import DesignRow, in_order
from simcore.shortfalls import Shortfall, drawn_result, machines, shortfalls
from simcore.spec import AUTO, Case, PriceBook, StudySpec
from simcore.survival import lost_words
from simcore.trust.margins import Margin, margin
from simcore.trust.outside import Asked, outside_answer
from simcore.trust.ties import tied_designs

CLOSEST_MISSES = 3
Watts = Mapping[str, float]
"""By design, of the figure that the question chose."""


@dataclass(frozen=True)
class StudyResult:
    """Rows of designs.csv with what they mean for the question."""

    spec: StudySpec
    book: PriceBook
    rows: tuple[DesignRow, ...]
    evaluations: Mapping[str, Evaluation]
    designs: Mapping[str, Design]
    shortfalls: Mapping[str, tuple[Shortfall, ...]]
    margins: Mapping[str, Margin]
    """What the capacities are uncertain by, of the designs that have one."""
    winner: DesignRow | None
    best_by_family: tuple[DesignRow, ...]
    """The goal's best of each family that holds the rate, best first."""
    surest: DesignRow | None
    """The goal's best of those that hold the rate at their interval's low end too."""
    median: DesignRow | None
    """The goal's best of those that hold the rate by what was simulated, whatever the question is sized to."""
    closest: tuple[DesignRow, ...]
    """Where nothing meets the question: the designs that miss it least."""
    outside: tuple[str, ...] = ()
    """Inputs of the answer that no measurement covers, then those of the designs shown beside it."""

    def holds(self, design_id: str, rate_req_per_s: float) -> bool:
        """Whether a design holds a rate, whichever machines are lost that must be survived, by what the question is
        sized to (``size_to``)."""
        found, unsure = self.evaluations[design_id], self.margins.get(design_id)
        if found.status != "evaluated" or not found.holds(rate_req_per_s):
            return False
        if self.spec.failures and found.whole is None:  # told of all its machines alone
            return False
        return self.spec.size_to == "median" or (unsure is not None and unsure.low >= rate_req_per_s)

    def watts(self, *rows: DesignRow) -> Watts:
        """By id, of the figure that the question chose."""
        spec, names = self.spec, {row.design_id: row for row in rows}
        return {n: compared_w(row, spec, self.evaluations[n], self.designs[n].case) for n, row in names.items()}

    def cannot_turn(self, first: DesignRow, second: DesignRow) -> bool:
        """Whether the order of two that meet the question is certain whatever their capacities turn out to be."""
        return cannot_turn(first, second, self.designs[second.design_id].case, self.spec)

    def row(self, design_id: str) -> DesignRow | None:
        """The row of one design, None where the study has no such design."""
        return next((row for row in self.rows if row.design_id == design_id), None)


def study_result(
    spec: StudySpec,
    designs: Sequence[Design],
    evaluations: Mapping[str, Evaluation],
    book: PriceBook,
    asked: Asked | None = None,
    margins: Mapping[str, Margin] | None = None,
) -> StudyResult:
    """Rows, frontiers, winner and misses of the designs that have an evaluation; SpecError where a price is missing.
    ``asked``: what the workload's requests ask for, to be told what of it no measurement covers. ``margins``: where
    they are known."""
    by_id = {design.design_id: design for design in designs if design.design_id in evaluations}
    margins = _margins(by_id, evaluations) if margins is None else margins
    each = (_row(design, evaluations[name], spec, book, margins.get(name)) for name, design in by_id.items())
    plain = in_order(each, spec.families or family_ids(spec))
    missing = {
        row.design_id: tuple(shortfalls(row, evaluations[row.design_id], by_id[row.design_id], spec)) for row in plain
    }
    watts = {
        row.design_id: compared_w(row, spec, evaluations[row.design_id], by_id[row.design_id].case) for row in plain
    }
    rows = _compared(_judged(plain, missing), by_id, margins, spec, watts)
    meeting = _meeting(rows, spec, watts)
    result = StudyResult(
        spec,
        book,
        tuple(rows),
        evaluations,
        by_id,
        missing,
        margins,
        meeting[0] if meeting else None,
        _first_of_families(meeting),
        next((row for row in meeting if (row.capacity_low or 0.0) >= spec.rate_req_per_s), None),
        _median(rows, missing, spec, watts),
        () if meeting else _closest([row for row in rows if row.status != "screened"], missing),
    )
    return replace(result, outside=_outside(result, asked)) if asked else result


def _outside(result: StudyResult, asked: Asked) -> tuple[str, ...]:
    """Of the answer (the closest misses where there is none) and of the other designs that are shown with it."""
    beside = [*result.best_by_family, *([result.surest] if result.surest else [])]
    answer = [result.winner] if result.winner else list(result.closest)
    own, others = ([result.designs[row.design_id].case for row in rows] for rows in (answer, beside))
    return tuple(outside_answer(own, others, asked))


def _margins(designs: Mapping[str, Design], evaluations: Mapping[str, Evaluation]) -> dict[str, Margin]:
    return {
        name: margin(design.case, evaluations[name])
        for name, design in designs.items()
        if evaluations[name].status == "evaluated" and evaluations[name].capacity_req_per_s > 0
    }


def _meeting(rows: Sequence[DesignRow], spec: StudySpec, watts: Watts) -> list[DesignRow]:
    """Those that meet the question, the answer first."""
    return sorted((row for row in rows if row.met), key=lambda row: _goal_key(row, spec, watts))


def _median(
    rows: Sequence[DesignRow], missing: Mapping[str, tuple[Shortfall, ...]], spec: StudySpec, watts: Watts
) -> DesignRow | None:
    holding = [row for row in rows if all(short.kind == "confidence" for short in missing[row.design_id])]
    return min(holding, key=lambda row: _goal_key(row, spec, watts), default=None)


def _compared(
    rows: list[DesignRow], designs: Mapping[str, Design], margins: Mapping[str, Margin], spec: StudySpec, watts: Watts
) -> list[DesignRow]:
    """With whether they are tied with the answer."""
    meeting = _meeting(rows, spec, watts)
    if not meeting:
        return rows
    winner = meeting[0]
    figures = {row.design_id: float(_goal_key(row, spec, watts)[0]) for row in meeting}
    able = may_turn(winner, meeting, figures, designs, spec)
    tied = tied_designs(winner, able, margins, spec.goal, watts)
    return [replace(row, tied_with_answer=row.design_id in tied) if row.met else row for row in rows]


def is_split(row: DesignRow) -> bool:
    """Whether prefill and decode run on separate pools."""
    return row.scheduler == SPLIT


def _row(design: Design, evaluation: Evaluation, spec: StudySpec, book: PriceBook, unsure: Margin | None) -> DesignRow:
    case = design.case
    pools = {pool.role: pool for pool in case.pools}
    first, second = case.pools[0], pools.get("decode")
    names = {pool.role: resolve_machine(pool.machine).id for pool in case.pools}
    counts = {pool.role: fleet.pool_machines(pool) for pool in case.pools}
    hourly = _usd_per_hour(case, evaluation, spec, book)
    provisioned = fleet.provisioned_w(case)
    done = evaluation.status == "evaluated"
    drawn = evaluation.with_all.at_capacity or evaluation.with_all.at_required
    capacity = evaluation.capacity_req_per_s if done else None
    low, high = (unsure.low, unsure.high) if unsure else (capacity, capacity)
    return DesignRow(
        design_id=design.design_id,
        label=design.label,
        family=design.family,
        scheduler=case.scheduler.kind,
        prefill_machine=names.get("prefill"),
        prefill_machines=counts.get("prefill"),
        decode_machine=names.get("decode"),
        decode_machines=counts.get("decode"),
        mixed_machine=names.get("mixed"),
        mixed_machines=counts.get("mixed"),
        tensor_parallel=first.tensor_parallel,
        pipeline_parallel=first.pipeline_parallel,
        token_budget=token_budget(case),
        decode_tensor_parallel=second.tensor_parallel if second else None,
        decode_pipeline_parallel=second.pipeline_parallel if second else None,
        capacity_req_per_s=capacity,
        capacity_low=low,
        capacity_high=evaluation.capacity_high if evaluation.status == "screened" else high,
        met=evaluation.holds(spec.rate_req_per_s) if done else None,
        binding_limit=evaluation.binding_limit or None,
        binding_pool=evaluation.binding_pool or None,
        usd_per_hour=hourly,
        nameplate_w=fleet.nameplate_w(case),
        provisioned_w=provisioned,
        mean_w=drawn.mean_w if drawn else None,
        p99_w=drawn.p99_w if drawn else None,
        req_per_usd=req_per_usd(capacity, hourly) if capacity else None,
        req_per_s_per_kw=capacity / (provisioned / 1000) if capacity else None,
        on_cost_frontier=False,
        cost_dominated_by=None,
        on_power_frontier=False,
        power_dominated_by=None,
        status=evaluation.status,
        reason=evaluation.reason,
        noise_low=evaluation.capacity_low if done else None,
        noise_high=evaluation.capacity_high if done else None,
        req_per_usd_low=req_per_usd(low, hourly) if unsure and low is not None else None,
        req_per_usd_high=req_per_usd(high, hourly) if unsure and high is not None else None,
        req_per_s_per_kw_low=low / (provisioned / 1000) if unsure and low is not None else None,
        req_per_s_per_kw_high=high / (provisioned / 1000) if unsure and high is not None else None,
        capacity_all_machines_req_per_s=evaluation.whole.capacity_req_per_s if evaluation.whole else None,
        worst_loss=lost_words(case, evaluation.lost) if evaluation.lost else None,
    )


def _usd_per_hour(case: Case, evaluation: Evaluation, spec: StudySpec, book: PriceBook) -> Decimal:
    """Of all machines; with their electricity where that is paid apart, as drawn at the required rate (at
    capacity where that was not run, or where the goal is to hold the most)."""
    machines_usd = usd_per_hour(fleet.machine_counts(case), book)
    drawn = drawn_result(evaluation, spec.goal)
    if not book.usd_per_kwh or drawn is None:
        return machines_usd
    return machines_usd + energy_usd_per_hour(drawn.mean_w, spec.pue, book.usd_per_kwh)


def token_budget(case: Case) -> int | None:
    """The budget that the case gives, or the one that ``auto`` comes to; None where it gives none."""
    given = case.scheduler.token_budget
    return auto_budget(case).tokens if given == AUTO else given


def _judged(rows: list[DesignRow], missing: Mapping[str, tuple[Shortfall, ...]]) -> list[DesignRow]:
    """With whether they meet the question, and what beats them. Those not evaluated hold nothing, and stay as they
    are."""
    held = [row for row in rows if row.capacity_req_per_s]
    cost = dominators([Point(row.design_id, float(row.usd_per_hour), row.capacity_req_per_s or 0.0) for row in held])
    power = dominators([Point(row.design_id, row.provisioned_w, row.capacity_req_per_s or 0.0) for row in held])
    return [
        replace(
            row,
            met=not missing[row.design_id],
            reason="; ".join(shortfall.text for shortfall in missing[row.design_id]),
            on_cost_frontier=cost.get(row.design_id, "") is None,
            cost_dominated_by=cost.get(row.design_id),
            on_power_frontier=power.get(row.design_id, "") is None,
            power_dominated_by=power.get(row.design_id),
        )
        if row.status == "evaluated"
        else row
        for row in rows
    ]


def _goal_key(row: DesignRow, spec: StudySpec, watts: Watts) -> tuple[Decimal | float, ...]:
    """The goal first. Of equals the one that holds more: so the cheapest is on the cost frontier, the one of least
    rated power on the power frontier. Then what a buyer asks next; the id last, so that the order never depends on
    chance."""
    held = -(row.capacity_req_per_s or 0.0)
    power = watts[row.design_id]
    order: dict[str, tuple[Decimal | float, ...]] = {
        "cost": (row.usd_per_hour, held, power),
        "frontier": (row.usd_per_hour, held, power),
        "power": (power, held, row.usd_per_hour),
        "machines": (machines(row), row.usd_per_hour, held),
        "throughput": (held, row.usd_per_hour, power),
    }
    return (*order[spec.goal], float(int(row.design_id, 16)))


def _first_of_families(meeting: list[DesignRow]) -> tuple[DesignRow, ...]:
    seen: dict[str, DesignRow] = {}
    for row in meeting:
        seen.setdefault(row.family, row)
    return tuple(seen.values())


def _closest(rows: list[DesignRow], shortfalls: Mapping[str, tuple[Shortfall, ...]]) -> tuple[DesignRow, ...]:
    """Least missing first: one design for each single thing that is missing (power, rate, …), then one a family. What
    cannot run at all is no near miss of anything."""
    order = sorted(rows, key=lambda row: (max((s.excess for s in shortfalls[row.design_id]), default=0.0),
                                          len(shortfalls[row.design_id]), row.usd_per_hour, row.design_id))  # fmt: skip
    single: dict[str, DesignRow] = {}
    for row in order:
        if len(shortfalls[row.design_id]) == 1 and shortfalls[row.design_id][0].excess < inf:
            single.setdefault(shortfalls[row.design_id][0].kind, row)
    rest = [row for row in _first_of_families(order) if row not in single.values()]
    return tuple([*single.values(), *rest][:CLOSEST_MISSES])
