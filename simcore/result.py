"""A study's answer: evaluations and prices put together. Pure, no engine: a changed price redraws at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from simcore import fleet
from simcore.budget import auto_budget
from simcore.catalogue import resolve_machine
from simcore.economics.hourly import req_per_usd, usd_per_hour, usd_per_month
from simcore.evaluation import Design, Evaluation, LimitResult, RateResult
from simcore.families import SPLIT
from simcore.frontier import Point, dominators
from simcore.rows import DesignRow
from simcore.spec import AUTO, Case, PriceBook, StudySpec
from simcore.words import counted, digits_apart, dollars, limit_name, limit_value, number

CLOSEST_MISSES = 3


@dataclass(frozen=True)
class Shortfall:
    """One thing that keeps a design from being an answer, and how far off it is."""

    kind: str
    """``rate``, ``power``, ``cost``, ``machines``, ``racks``, ``fit``; ``screened``: beaten without a simulation."""
    text: str
    """In words, with what it would need: ``26 kW more nameplate power``."""
    excess: float
    """How far off, as a share of the limit: orders the misses."""


@dataclass(frozen=True)
class StudyResult:
    """Rows of designs.csv with what they mean for the question."""

    spec: StudySpec
    book: PriceBook
    rows: tuple[DesignRow, ...]
    evaluations: Mapping[str, Evaluation]
    designs: Mapping[str, Design]
    shortfalls: Mapping[str, tuple[Shortfall, ...]]
    winner: DesignRow | None
    best_by_family: tuple[DesignRow, ...]
    """The goal's best of each family that holds the rate, best first."""
    closest: tuple[DesignRow, ...]
    """Where nothing meets the question: the designs that miss it least."""

    def row(self, design_id: str) -> DesignRow | None:
        """The row of one design, None where the study has no such design."""
        return next((row for row in self.rows if row.design_id == design_id), None)


def study_result(
    spec: StudySpec, designs: Sequence[Design], evaluations: Mapping[str, Evaluation], book: PriceBook
) -> StudyResult:
    """Rows, frontiers, winner and misses of the designs that have an evaluation; SpecError where a price is missing."""
    by_id = {design.design_id: design for design in designs if design.design_id in evaluations}
    plain = [_row(design, evaluations[name], spec, book) for name, design in by_id.items()]
    shortfalls = {
        row.design_id: tuple(_shortfalls(row, evaluations[row.design_id], by_id[row.design_id], spec)) for row in plain
    }
    rows = _with_frontiers([_judged(row, shortfalls[row.design_id]) for row in plain])
    meeting = sorted((row for row in rows if row.met), key=lambda row: _goal_key(row, spec))
    return StudyResult(
        spec,
        book,
        tuple(rows),
        evaluations,
        by_id,
        shortfalls,
        meeting[0] if meeting else None,
        _first_of_families(meeting),
        () if meeting else _closest([row for row in rows if row.status != "screened"], shortfalls),
    )


def power_w(row: DesignRow, spec: StudySpec, evaluation: Evaluation) -> float | None:
    """The design's watts of the kind that the study limits: ratings, or drawn at the required rate (None: not run)."""
    kind = spec.limits.power_kind
    if kind in ("nameplate", "provisioned"):
        return row.nameplate_w if kind == "nameplate" else row.provisioned_w
    drawn = drawn_result(evaluation)
    if drawn is None:
        return None
    return drawn.mean_w if kind == "drawn_mean" else drawn.p99_w


def drawn_result(evaluation: Evaluation) -> RateResult | None:
    """The run whose drawn power counts: at the required rate, else at capacity."""
    return evaluation.at_required or evaluation.at_capacity


def machines(row: DesignRow) -> int:
    """All machines of the design."""
    return sum(count or 0 for count in (row.mixed_machines, row.prefill_machines, row.decode_machines))


def is_split(row: DesignRow) -> bool:
    """Whether prefill and decode run on separate pools."""
    return row.scheduler == SPLIT


def _row(design: Design, evaluation: Evaluation, spec: StudySpec, book: PriceBook) -> DesignRow:
    case = design.case
    pools = {pool.role: pool for pool in case.pools}
    first, second = case.pools[0], pools.get("decode")
    names = {pool.role: resolve_machine(pool.machine).id for pool in case.pools}
    counts = {pool.role: fleet.pool_machines(pool) for pool in case.pools}
    hourly = usd_per_hour(fleet.machine_counts(case), book)
    provisioned = fleet.provisioned_w(case)
    done = evaluation.status == "evaluated"
    drawn = evaluation.at_capacity or evaluation.at_required
    capacity = evaluation.capacity_req_per_s if done else None
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
        capacity_low=evaluation.capacity_low if done else None,
        capacity_high=evaluation.capacity_high if done or evaluation.status == "screened" else None,
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
    )


def token_budget(case: Case) -> int | None:
    """The budget that the case gives, or the one that ``auto`` comes to; None where it gives none."""
    given = case.scheduler.token_budget
    return auto_budget(case).tokens if given == AUTO else given


def _shortfalls(row: DesignRow, evaluation: Evaluation, design: Design, spec: StudySpec) -> list[Shortfall]:
    if evaluation.status != "evaluated":
        kind = "screened" if evaluation.status == "screened" else "fit"
        return [Shortfall(kind, evaluation.reason, float("inf"))]
    return [
        found
        for found in (
            _rate_shortfall(row, evaluation, spec),
            _over(
                "power",
                power_w(row, spec, evaluation),
                _scaled(spec.limits.power_limit_kw, 1000.0),
                lambda more: f"{number(more / 1000)} kW more {_POWER_WORDS[spec.limits.power_kind]} power",
            ),
            _over(
                "cost",
                float(usd_per_month(row.usd_per_hour)),
                spec.limits.usd_per_month,
                lambda more: f"{dollars(more)} a month more",
            ),
            _over("machines", machines(row), spec.limits.machines, lambda more: counted(more, "more machine")),
            _over("racks", fleet.racks(design.case), spec.limits.racks, lambda more: f"{more:.0f} more racks"),
            *_on_hand_shortfalls(design, spec),
        )
        if found
    ]


_POWER_WORDS = {
    "nameplate": "nameplate",
    "provisioned": "provisioned",
    "drawn_mean": "mean drawn",
    "drawn_p99": "P99 drawn",
}


def _rate_shortfall(row: DesignRow, evaluation: Evaluation, spec: StudySpec) -> Shortfall | None:
    rate = spec.rate_req_per_s
    if evaluation.holds(rate):
        return None
    held = row.capacity_req_per_s or 0.0
    text = f"holds {number(held)} requests/s instead of {number(rate)}" if held else "holds the limits at no rate"
    missed = missed_limits(evaluation) if held else missed_by_all(evaluation)
    if missed:
        text += f" ({missed})"
    return Shortfall("rate", text, (rate - held) / rate)


def missed_by_all(evaluation: Evaluation) -> str:
    """Where no rate holds: the limit that requests miss even when all but alone, with its value where that was run."""
    run = evaluation.at_required
    if run is not None and run.stable:
        return missed_limits(evaluation)
    metric, _, percentile = evaluation.binding_limit.rpartition("_p")
    if not metric:
        return ""
    known = metric if metric.endswith("_slowdown") else f"{metric}_s"
    return f"{limit_name(known, float(percentile))} is missed even by requests that are all but alone"


def missed_limits(evaluation: Evaluation) -> str:
    """The limit missed by most at the required rate: ``P99 TTFT slowdown 7.2× instead of 6×``; empty where none is."""
    run = evaluation.at_required
    if run is None or run.met:
        return ""
    if not run.stable:
        return "the queue grows without end at that rate"
    missed = [limit for limit in run.limits if not limit.met]
    if not missed:
        return ""
    worst = max(missed, key=_excess)
    digits = digits_apart(worst.value, worst.limit)
    value, limit = (limit_value(worst.metric, figure, digits) for figure in (worst.value, worst.limit))
    return f"{limit_name(worst.metric, worst.percentile)} {value} instead of {limit}"


def _excess(limit: LimitResult) -> float:
    """How many times over the limit; an attainment (percentile 0) is to be high, all else low."""
    if not limit.value:
        return float("inf")
    return limit.value / limit.limit if limit.percentile else limit.limit / limit.value


def _over(kind: str, used: float | None, limit: float | None, words: Callable[[float], str]) -> Shortfall | None:
    if used is None or limit is None or used <= limit * (1 + 1e-12):
        return None
    return Shortfall(kind, f"needs {words(used - limit)}", (used - limit) / limit)


def _on_hand_shortfalls(design: Design, spec: StudySpec) -> list[Shortfall]:
    used = fleet.machine_counts(design.case)
    found = []
    for choice in spec.machines:
        machine = resolve_machine(choice.machine)
        more = used.get(machine.id, 0) - (choice.on_hand if choice.on_hand is not None else used.get(machine.id, 0))
        if more > 0:
            found.append(Shortfall("machines", f"needs {more} more {machine.name}", more / max(choice.on_hand or 0, 1)))
    return found


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _judged(row: DesignRow, shortfalls: tuple[Shortfall, ...]) -> DesignRow:
    if row.status != "evaluated":
        return row
    reason = "; ".join(shortfall.text for shortfall in shortfalls)
    return replace(row, met=not shortfalls, reason=reason)


def _with_frontiers(rows: list[DesignRow]) -> list[DesignRow]:
    held = [row for row in rows if row.capacity_req_per_s]
    cost = dominators([Point(row.design_id, float(row.usd_per_hour), row.capacity_req_per_s or 0.0) for row in held])
    power = dominators([Point(row.design_id, row.provisioned_w, row.capacity_req_per_s or 0.0) for row in held])
    return [
        replace(
            row,
            on_cost_frontier=cost.get(row.design_id, "") is None,
            cost_dominated_by=cost.get(row.design_id),
            on_power_frontier=power.get(row.design_id, "") is None,
            power_dominated_by=power.get(row.design_id),
        )
        for row in rows
    ]


def _goal_key(row: DesignRow, spec: StudySpec) -> tuple[Decimal | float, ...]:
    """The goal first, then what a buyer asks next; the id last, so that the order never depends on chance."""
    held = -(row.capacity_req_per_s or 0.0)
    power = row.provisioned_w
    order: dict[str, tuple[Decimal | float, ...]] = {
        "cost": (row.usd_per_hour, power, held),
        "frontier": (row.usd_per_hour, power, held),
        "power": (power, row.usd_per_hour, held),
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
    """Least missing first: one design for each single thing that is missing (power, rate, …), then one a family."""
    order = sorted(rows, key=lambda row: (max((s.excess for s in shortfalls[row.design_id]), default=0.0),
                                          len(shortfalls[row.design_id]), row.usd_per_hour, row.design_id))  # fmt: skip
    single: dict[str, DesignRow] = {}
    for row in order:
        if len(shortfalls[row.design_id]) == 1:
            single.setdefault(shortfalls[row.design_id][0].kind, row)
    rest = [row for row in _first_of_families(order) if row not in single.values()]
    return tuple([*single.values(), *rest][:CLOSEST_MISSES])
