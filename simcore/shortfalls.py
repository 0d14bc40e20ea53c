"""What keeps a design from being the answer to a question, and how far off it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simcore import fleet
from simcore.catalogue import resolve_machine
from simcore.economics.hourly import usd_per_month
from simcore.evaluation import Design, Evaluation, LimitResult, RateResult
from simcore.rows import DesignRow
from simcore.spec import StudySpec
from simcore.spec.study import Goal
from simcore.survival import any_lost_words, lost_words
from simcore.words import counted, digits_apart, dollars, limit_name, limit_value, listed, number

MOST_IN_MS = 0.1
"""Seconds: a longer limit is told in seconds."""
MOST_MISSED = 2
"""Limits named of those that requests miss when all but alone."""
POWER_WORDS = {
    "nameplate": "nameplate",
    "provisioned": "provisioned",
    "drawn_mean": "mean drawn",
    "drawn_p99": "P99 drawn",
}


@dataclass(frozen=True)
class Shortfall:
    """One thing that keeps a design from being an answer, and how far off it is."""

    kind: str
    """``rate``, ``failures`` (with machines lost), ``confidence``, ``power``, ``cost``, ``machines``, ``racks``,
    ``fit``; ``screened``: beaten without a simulation."""
    text: str
    """In words, with what it would need: ``26 kW more nameplate power``."""
    excess: float
    """How far off, as a share of the limit: orders the misses."""


def shortfalls(row: DesignRow, evaluation: Evaluation, design: Design, spec: StudySpec) -> list[Shortfall]:
    """Everything that is missing; empty for a design that meets the question."""
    if evaluation.status != "evaluated":
        kind = "screened" if evaluation.status == "screened" else "fit"
        return [Shortfall(kind, evaluation.reason, float("inf"))]
    return [
        found
        for found in (
            _rate_shortfall(row, evaluation, design, spec),
            _over(
                "power",
                power_w(row, spec, evaluation),
                _scaled(spec.limits.power_limit_kw, 1000.0),
                lambda more: f"{number(more / 1000)} kW more {POWER_WORDS[spec.limits.power_kind]} power",
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


def _rate_shortfall(row: DesignRow, evaluation: Evaluation, design: Design, spec: StudySpec) -> Shortfall | None:
    rate = spec.rate_req_per_s
    if spec.failures and evaluation.whole is None:
        unknown = f"what it holds{any_lost_words(spec.failures)} was not simulated"
        return Shortfall("failures", unknown, float("inf"))
    if evaluation.holds(rate):
        return _confidence_shortfall(row, spec)
    if evaluation.whole is not None and evaluation.whole.holds(rate):
        return _loss_shortfall(evaluation, design, rate)
    evaluation = evaluation.with_all
    held = evaluation.capacity_req_per_s
    text = f"holds {number(held)} requests/s instead of {number(rate)}" if held else "holds the limits at no rate"
    missed = missed_limits(evaluation) if held else missed_by_all(evaluation)
    if missed:
        text += f" ({missed})"
    alone = [] if held else missed_alone(evaluation)
    return Shortfall("rate", text, max([(rate - held) / rate, *(_excess(limit) for limit in alone)]))


def _loss_shortfall(evaluation: Evaluation, design: Design, rate: float) -> Shortfall:
    """Where all its machines hold the rate, and what is left without some does not."""
    failing = [loss for loss in evaluation.losses if not loss.evaluation.holds(rate)]
    worst = min(failing, key=lambda loss: loss.evaluation.capacity_req_per_s)
    left, lost = worst.evaluation, lost_words(design.case, worst.lost)
    held, whole = left.capacity_req_per_s, evaluation.with_all.capacity_req_per_s
    text = f"holds {number(whole)} requests/s with all machines; with {lost} {number(held) if held else 'none'}"
    missed = left.reason or (missed_limits(left) if held else missed_by_all(left))
    return Shortfall("failures", f"{text}{f' ({missed})' if missed else ''}", max((rate - held) / rate, 0.0))


def _confidence_shortfall(row: DesignRow, spec: StudySpec) -> Shortfall | None:
    """Where it is sized to its interval's lower bound: that must reach the rate, too."""
    rate, low = spec.rate_req_per_s, row.capacity_low or 0.0
    if spec.size_to != "lower_bound" or low >= rate:
        return None
    text = f"holds {number(low)} requests/s at its interval's lower bound instead of {number(rate)}"
    return Shortfall("confidence", text, (rate - low) / rate)


def missed_by_all(evaluation: Evaluation) -> str:
    """Where no rate holds: the limits that requests miss even when all but alone, with what they come to."""
    if missed := missed_alone(evaluation):
        return (
            f"{listed([_instead(limit) for limit in missed[:MOST_MISSED]])}, even for requests that are all but alone"
        )
    run = evaluation.at_required
    if run is not None and run.stable:
        return missed_limits(evaluation)
    metric, _, percentile = evaluation.binding_limit.rpartition("_p")
    if not metric:
        return ""
    known = metric if metric.endswith("_slowdown") else f"{metric}_s"
    return f"{limit_name(known, float(percentile))} is missed even by requests that are all but alone"


def missed_alone(evaluation: Evaluation) -> list[LimitResult]:
    """The limits that are missed at the lowest rate tried where no rate holds, the one missed by most first."""
    if not evaluation.misses_alone or not evaluation.around:
        return []
    return sorted((limit for limit in evaluation.around[0].limits if not limit.met), key=_excess, reverse=True)


def missed_limits(evaluation: Evaluation) -> str:
    """The limit missed by most at the required rate: ``P99 TTFT slowdown 7.2× instead of 6×``; empty where none is."""
    run = evaluation.at_required
    if run is None or run.met:
        return ""
    if not run.stable:
        return "the queue grows without end at that rate"
    worst = worst_missed(run)
    if worst is None:
        return ""
    return _instead(worst)


def _instead(limit: LimitResult) -> str:
    value, most = value_and_limit(limit)
    return f"{limit_name(limit.metric, limit.percentile)} {value} instead of {most}"


def value_and_limit(limit: LimitResult) -> tuple[str, str]:
    """``("99.7 ms", "100 ms")``: both in the unit that suits the limit, with the digits that tell them apart."""
    digits, figures = digits_apart(limit.value, limit.limit), (limit.value, limit.limit)
    if not limit.metric.endswith("_s") or limit.value is None:
        value, most = (limit_value(limit.metric, figure, digits) for figure in figures)
        return value, most
    times, unit = (1000, "ms") if limit.limit <= MOST_IN_MS else (1, "s")
    value, most = (f"{number((figure or 0.0) * times, digits)} {unit}" for figure in figures)
    return value, most


def worst_missed(run: RateResult) -> LimitResult | None:
    """The limit missed by most."""
    return max((limit for limit in run.limits if not limit.met), key=_excess, default=None)


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


def power_w(row: DesignRow, spec: StudySpec, evaluation: Evaluation) -> float | None:
    """The design's watts of the kind that the study limits: ratings, or drawn at the rate that will be
    served (None: not run)."""
    kind = spec.limits.power_kind
    if kind in ("nameplate", "provisioned"):
        return row.nameplate_w if kind == "nameplate" else row.provisioned_w
    drawn = drawn_result(evaluation, spec.goal)
    if drawn is None:
        return None
    return drawn.mean_w if kind == "drawn_mean" else drawn.p99_w


def drawn_result(evaluation: Evaluation, goal: Goal = "cost") -> RateResult | None:
    """The run whose drawn power and tokens count, with all machines there: at the required rate, else at capacity; the
    other way round where the most is asked for: that will be served."""
    evaluation = evaluation.with_all
    if goal == "throughput":
        return evaluation.at_capacity or evaluation.at_required
    return evaluation.at_required or evaluation.at_capacity


def machines(row: DesignRow) -> int:
    """All machines of the design."""
    return sum(count or 0 for count in (row.mixed_machines, row.prefill_machines, row.decode_machines))
