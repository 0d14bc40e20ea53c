"""What breaks first as traffic grows, and when; and what to buy next.

The rate grows by a share a month, compounding: it reaches r after ln(r / rate) / ln(1 + growth) months. The chosen
design breaks at its capacity, with the ends of its interval at 90 %. Each limit of the question (power, budget, racks,
machines) breaks above the most that any design tried within it holds; where no design tried is beyond a limit, it was
not reached. From month to month the next purchase is the cheapest design tried that holds that month's rate within all
limits and has at least the machines that are there already. All from stored evaluations: told at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import log
from typing import Any

from simcore import fleet
from simcore.analyses.at_once import told_at_once
from simcore.analyses.chosen import chosen_design
from simcore.analyses.growth_words import growth_sentences
from simcore.analyses.kind import Field, Json, Subject, sourced
from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_machine
from simcore.economics.hourly import usd_per_month
from simcore.explain import binding_words
from simcore.rows import DesignRow
from simcore.shortfalls import POWER_WORDS, power_w
from simcore.spec import StudySpec, bounded
from simcore.words import counted, dollars, listed, number

GROWTH_PERCENT = 5.0
"""A month; where neither the workload nor the visitor gives one. An assumption."""
MONTHS = 36
OF_THE_RATE = ("rate", "failures", "confidence")
"""What a design lacks of today's rate: other months have their own."""


@dataclass(frozen=True)
class Parameters:
    """``growth_percent``: a month; None: the workload's own, else 5."""

    design: str | None = None
    growth_percent: float | None = bounded(None, above=0, most=1000)
    months: int = bounded(MONTHS, least=1, most=120)


@dataclass(frozen=True)
class Traffic:
    """The rate over the months."""

    rate_req_per_s: float
    growth_percent: float
    source: str

    def rate(self, month: float) -> float:
        """After so many months."""
        return float(self.rate_req_per_s * (1 + self.growth_percent / 100) ** month)

    def month(self, rate_req_per_s: float | None) -> float | None:
        """When the rate is reached; 0 where it is already."""
        if not rate_req_per_s:
            return None
        return max(log(rate_req_per_s / self.rate_req_per_s) / log(1 + self.growth_percent / 100), 0.0)


def told(subject: Subject, parameters: Parameters) -> Json:
    """What breaks at which rate and in which month, and the purchases."""
    result = subject.result
    design, traffic = _design(result, parameters), _traffic(result.spec, parameters)
    breaks = [_outgrown(design, result, traffic), *_limits(result, traffic)]
    path = _purchases(result, design, traffic, parameters.months)
    months = range(parameters.months + 1)
    return {
        "design_id": design.design_id,
        "design": design.label,
        "rate_req_per_s": traffic.rate_req_per_s,
        "growth_percent": traffic.growth_percent,
        "months": [{"month": month, "rate_req_per_s": traffic.rate(month)} for month in months],
        "breaks": breaks,
        "purchases": path,
        "sentences": growth_sentences(breaks, path, traffic.growth_percent, parameters.months),
        "assumptions": _assumptions(traffic, result),
    }


def _design(result: StudyResult, parameters: Parameters) -> DesignRow:
    return chosen_design(result, parameters.design, "nothing to grow from")


def _traffic(spec: StudySpec, parameters: Parameters) -> Traffic:
    own = spec.workload.monthly_growth
    if parameters.growth_percent is not None:
        return Traffic(spec.rate_req_per_s, parameters.growth_percent, "as given here")
    if own is not None and own > 0:
        whose = "workload" if spec.workload.growth_per_month is None else "question"
        return Traffic(spec.rate_req_per_s, 100 * own, f"the {whose}’s growth_per_month")
    lacks = "gives none" if own is None else f"itself does not grow ({100 * own:g} % a month)"
    return Traffic(spec.rate_req_per_s, GROWTH_PERCENT, f"an assumption: the workload {lacks}; set yours")


def _outgrown(design: DesignRow, result: StudyResult, traffic: Traffic) -> Json:
    """When the design's capacity is passed, with its interval."""
    evaluation = result.evaluations[design.design_id]
    held = traffic.rate_req_per_s if evaluation.holds(traffic.rate_req_per_s) else 0.0
    ends = (max(design.capacity_req_per_s or 0.0, held), design.capacity_low, design.capacity_high)
    rate, low, high = ends
    return _break("latency", f"the latency limits of {design.label}", None, ends) | {
        "binding": binding_words(evaluation),
        "month": traffic.month(rate),
        "month_low": traffic.month(low) if low else 0.0,
        "month_high": traffic.month(high),
    }


def _limits(result: StudyResult, traffic: Traffic) -> list[Json]:
    """What the question limits: of each the most that designs tried within it hold, and whether any is beyond it."""
    found = []
    for kind, name, limit, used in _uses(result):
        able = [(row, of) for row in result.rows if row.capacity_req_per_s and (of := used(row)) is not None]
        within = [row for row, of in able if of <= limit * (1 + 1e-12)]
        best = max(within, key=lambda row: row.capacity_req_per_s or 0.0, default=None)
        reached = any(of > limit * (1 + 1e-12) for _, of in able) or _fills(best, used, limit)
        ends = (best.capacity_req_per_s, best.capacity_low, best.capacity_high) if best else (0.0, 0.0, 0.0)
        months = [traffic.month(rate) if reached else None for rate in ends]
        found.append(
            _break(kind, name, limit, ends)
            | {"month": months[0], "month_low": months[1], "month_high": months[2], "reached": reached}
            | {"design": best.label if best else None}
        )
    return found


FULL = 0.9
"""Of a limit, that the most capable design takes: one more machine would mostly break it."""


def _fills(best: DesignRow | None, used: Any, limit: float) -> bool:
    return best is not None and used(best) >= FULL * limit


def _uses(result: StudyResult) -> list[tuple[str, str, float, Any]]:
    """Kind, words, limit and what a row takes of it, of each limit that the question has."""
    spec, limits = result.spec, result.spec.limits
    found: list[tuple[str, str, float, Any]] = []
    if limits.power_limit_kw is not None:
        words = f"the power limit, {number(limits.power_limit_kw)} kW {POWER_WORDS[limits.power_kind]}"
        found.append(("power", words, limits.power_limit_kw * 1000, lambda row: _watts(row, result)))
    if limits.usd_per_month is not None:
        words = f"the budget, {dollars(limits.usd_per_month)} a month"
        found.append(("budget", words, limits.usd_per_month, lambda row: float(usd_per_month(row.usd_per_hour))))
    if limits.racks is not None:
        found.append(("racks", counted(limits.racks, "rack"), limits.racks, lambda row: _racks(row, result)))
    if limits.machines is not None:
        words = f"the limit of {counted(limits.machines, 'machine')}"
        found.append(("machines", words, limits.machines, lambda row: sum(_machines(row, result).values())))
    for choice in spec.machines:
        machine = resolve_machine(choice.machine)
        if choice.on_hand is not None:
            words = f"{choice.on_hand} {machine.name} on hand"
            found.append(
                ("on_hand", words, choice.on_hand, lambda row, name=machine.id: _machines(row, result).get(name, 0))
            )
    return found


def _watts(row: DesignRow, result: StudyResult) -> float | None:
    return power_w(row, result.spec, result.evaluations[row.design_id])


def _racks(row: DesignRow, result: StudyResult) -> int | None:
    return fleet.racks(result.designs[row.design_id].case)


def _machines(row: DesignRow, result: StudyResult) -> dict[str, int]:
    return fleet.machine_counts(result.designs[row.design_id].case)


def _break(kind: str, name: str, limit: float | None, ends: Sequence[float | None]) -> Json:
    rate, low, high = ends
    return {
        "kind": kind,
        "name": name,
        "limit": limit,
        "reached": True,
        "rate_req_per_s": rate,
        "rate_low": low,
        "rate_high": high,
    }


def designs_as_it_grows(
    result: StudyResult, design: DesignRow, growth_percent: float, months: int
) -> list[tuple[float, DesignRow]]:
    """The design and those that follow it month by month, each with the rate of the month in which it comes."""
    traffic = Traffic(result.spec.rate_req_per_s, growth_percent, "")
    path = [
        (one["rate_req_per_s"], result.row(one["design_id"]))
        for one in _purchases(result, design, traffic, months)
        if one.get("design_id")
    ]
    return [(rate, row) for rate, row in path if row is not None]


def _purchases(result: StudyResult, design: DesignRow, traffic: Traffic, months: int) -> list[Json]:
    """From the design on: each month that the rate passes what is there, the cheapest that holds it and keeps it."""
    path = [_step(0, None, design, result, traffic)]
    now = design
    for month in range(months + 1):
        rate = traffic.rate(month)
        if result.holds(now.design_id, rate):
            continue
        following = _next(result, now, rate)
        if following is None:
            path.append({"month": month, "rate_req_per_s": rate, "design": None, "why": _why_none(result, now, rate)})
            break
        path.append(_step(month, now, following, result, traffic))
        now = following
    return path


def _next(result: StudyResult, now: DesignRow, rate: float, *, within: bool = True) -> DesignRow | None:
    owned = _machines(now, result)
    able = [
        row
        for row in result.rows
        if row.capacity_req_per_s
        and result.holds(row.design_id, rate)
        and (not within or _is_within(row, result))
        and all(_machines(row, result).get(name, 0) >= count for name, count in owned.items())
    ]
    return min(able, key=lambda row: (row.usd_per_hour, -(row.capacity_req_per_s or 0.0), row.design_id), default=None)


def _is_within(row: DesignRow, result: StudyResult) -> bool:
    """Every limit of the question but the rate."""
    return all(short.kind in OF_THE_RATE for short in result.shortfalls[row.design_id])


def _why_none(result: StudyResult, now: DesignRow, rate: float) -> str:
    beyond = _next(result, now, rate, within=False)
    if beyond is None:
        return "no design that was tried holds it with the machines that are there"
    missing = [short.text for short in result.shortfalls[beyond.design_id] if short.kind not in OF_THE_RATE]
    return f"the cheapest that holds it, {beyond.label}, {listed(missing)}"


def _step(month: int, before: DesignRow | None, row: DesignRow, result: StudyResult, traffic: Traffic) -> Json:
    owned = {} if before is None else _machines(before, result)
    names = {m.id: m.name for pool in result.designs[row.design_id].case.pools for m in [resolve_machine(pool.machine)]}
    added = {names[name]: count - owned.get(name, 0) for name, count in _machines(row, result).items()}
    return {
        "month": month,
        "rate_req_per_s": traffic.rate(month),
        "buy": {name: count for name, count in added.items() if count},
        "design_id": row.design_id,
        "design": row.label,
        "capacity_req_per_s": row.capacity_req_per_s,
        "capacity_low": row.capacity_low,
        "capacity_high": row.capacity_high,
        "lasts_to_month": traffic.month(row.capacity_req_per_s),
        "usd_per_month": str(usd_per_month(row.usd_per_hour)),
        "more_usd_per_month": str(usd_per_month(row.usd_per_hour - (before.usd_per_hour if before else Decimal(0)))),
    }


def _assumptions(traffic: Traffic, result: StudyResult) -> list[Json]:
    tried = sum(bool(row.capacity_req_per_s) for row in result.rows)
    said = [
        (f"Growth of {number(traffic.growth_percent)} % a month, compounding, from"
         f" {number(traffic.rate_req_per_s)} requests/s in month 0; the mix of requests stays.", traffic.source),
        (f"Of the {tried} designs that were tried and hold some rate; sizes between them were not simulated, so a"
         " purchase may be smaller than the one named.", ""),
        ("Machines once there are kept, at today’s prices; how they are run may change.", ""),
        ("Months of an interval are those of the capacity’s interval.", "docs/uncertainty.md"),
    ]  # fmt: skip
    return sourced(said)


KIND = told_at_once(
    name="growth",
    title="What breaks first as traffic grows",
    about="The month in which each limit is reached if the rate grows, and what to buy next.",
    parameters=Parameters,
    told=told,
    check=lambda subject, parameters: _design(subject.result, parameters),
    fields=(
        Field(
            "growth_percent",
            "Growth a month",
            "%",
            "Compounding. Left empty: the question's or workload's own, else 5.",
        ),
        Field("months", "Months ahead", "", "Up to 120."),
    ),
)
