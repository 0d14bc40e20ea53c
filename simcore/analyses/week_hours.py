"""A week hour by hour: how much of a design is in use, what stands idle, and what scaling with a cold start saves.

The question's rate is that of the week's busiest hour; the other hours are the question's (``workload.week``), or the
workload's own (a mix with ``week``, a trace of a week or more), else an assumed wave a day. The design is run at fewer
machines too: the capacity of each size is searched. In each hour the smallest of these sizes that holds its rate is
on. A machine that is switched on is paid from a cold start before its hour: until its weights are loaded it serves
nobody. What is saved is what machines cost while off; that is real only where they are rented by the hour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil

import numpy as np
from numpy.typing import NDArray

from simcore import fleet
from simcore.analyses.chosen import chosen_design
from simcore.analyses.kind import Field, Json, Kind, Lab, Subject, sourced
from simcore.answer.result import StudyResult
from simcore.economics.hourly import HOURS_PER_MONTH, usd_per_hour
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.rows import DesignRow
from simcore.search.cost import predicted_cpu_s
from simcore.spec import Case, bounded
from simcore.spec.week import DAYS, HOURS, check_week
from simcore.traces import Trace
from simcore.traces.trace import PS_PER_S
from simcore.traces.week import HOUR_S, day_and_night, relative_rates
from simcore.words import counted, dollars, number, percent

HOURS_A_WEEK = DAYS * HOURS
COLD_START_S = 432.0
"""From a machine asked for to a model that answers: 425 to 439 s were measured on a cloud GPU node, of which the node
itself took 35 s (research on autoscaling, llm-d, 2026)."""
SIZES = 16
"""Of the design, evenly from its smallest part on."""
BUSIEST_HOUR, QUIETEST_SHARE, WEEKEND_SHARE = 14, 0.3, 0.6
"""Of the week that is assumed where the workload has none."""
CAPACITIES = 1.0
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True)
class Parameters:
    """``cold_start_s``: of a machine; ``most_used``: the share of a size's capacity that an hour may use."""

    design: str | None = None
    cold_start_s: float = bounded(COLD_START_S, least=0, most=86_400)
    most_used: float = bounded(1.0, above=0, most=1)


@dataclass(frozen=True)
class Task:
    """The design at each size, from the smallest to its own."""

    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Shape:
    """Rates of the hours of a week relative to the busiest, and where they are from."""

    hourly: tuple[float, ...]
    source: str
    first: str
    """What the first hour is."""


def task(subject: Subject, parameters: Parameters) -> Task:
    """Sizes in which every pool keeps its part, rounded up to whole replicas where they span machines."""
    case = subject.result.designs[_design(subject.result, parameters).design_id].case
    full, spans = ([count(pool) for pool in case.pools] for count in (fleet.pool_machines, fleet.spanned))
    whole = [count // span for count, span in zip(full, spans, strict=True)]
    steps = min(SIZES, max(whole))
    smaller = (
        tuple(ceil(part * step / steps) * span for part, span in zip(whole, spans, strict=True))
        for step in range(1, steps)
    )
    return Task(tuple(_sized(case, counts) for counts in dict.fromkeys([*smaller, tuple(full)])))


def _sized(case: Case, counts: Sequence[int]) -> Case:
    pools = (replace(pool, machines=count, replicas=None) for pool, count in zip(case.pools, counts, strict=True))
    return replace(case, pools=tuple(pools))


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """A capacity each."""
    return sum(predicted_cpu_s(case, statistics, CAPACITIES) for case in task.cases)


def run(task: Task, lab: Lab) -> Json:
    """What each size holds."""
    return {"capacities": [lab.capacity(case).capacity_req_per_s for case in task.cases]}


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """Hour by hour, and what the week comes to."""
    result, design = subject.result, _design(subject.result, parameters)
    shape = _shape(result, subject.statistics.trace)
    sizes = [_Size(case, held, result) for case, held in zip(task.cases, _rising(found["capacities"]), strict=True)]
    rates = [result.spec.rate_req_per_s * share for share in shape.hourly]
    needed = [_enough(sizes, rate / parameters.most_used) for rate in rates]
    chosen = _kept_on(needed, len(sizes), parameters.cold_start_s / HOUR_S)
    pairs = enumerate(zip(rates, chosen, strict=True))
    hours = [_hour(place, rate, sizes[on], sizes[-1]) for place, (rate, on) in pairs]
    week = _week(hours, chosen, sizes, parameters.cold_start_s)
    return {
        "design_id": design.design_id,
        "design": design.label,
        "rate_req_per_s": result.spec.rate_req_per_s,
        "cold_start_s": parameters.cold_start_s,
        "most_used": parameters.most_used,
        "sizes": [{"machines": size.machines, "capacity_req_per_s": size.held, "usd_per_hour": str(size.usd)}
                  for size in sizes],
        "hours": hours,
        "week": week,
        "first_hour": shape.first,
        "sentences": _sentences(week, hours, parameters),
        "assumptions": _assumptions(shape, parameters, len(sizes)),
    }  # fmt: skip


class _Size:
    """One size of the design."""

    def __init__(self, case: Case, held: float, result: StudyResult) -> None:
        self.counts = fleet.machine_counts(case)
        self.held, self.machines = held, sum(self.counts.values())
        self.usd = usd_per_hour(self.counts, result.book)


def _design(result: StudyResult, parameters: Parameters) -> DesignRow:
    return chosen_design(result, parameters.design, "no week to look at")


def _rising(held: Sequence[float]) -> list[float]:
    """More machines hold no less, whatever chance made of two capacities."""
    return [float(most) for most in np.maximum.accumulate(held)]


def _shape(result: StudyResult, trace: Trace) -> Shape:
    if result.spec.workload.week is not None:
        return _to_busiest(relative_rates(result.spec.workload.week), "the question's own week", "Monday 0:00")
    mix = result.spec.workload.synthetic or {}
    if mix.get("week"):
        week = tuple(tuple(map(float, hours)) for hours in mix["week"])
        check_week(week)
        return _to_busiest(relative_rates(week), "the workload's own week", "Monday 0:00")
    if int(trace.arrival_ps[-1]) >= HOURS_A_WEEK * HOUR_S * PS_PER_S:
        return _to_busiest(_hourly(trace), "the trace's own hours, over its whole weeks", "the trace's first hour")
    assumed = day_and_night(BUSIEST_HOUR, QUIETEST_SHARE, WEEKEND_SHARE)
    words = (
        f"assumed, as neither question nor workload has a week: a wave a day, busiest at {BUSIEST_HOUR}:00,"
        f" {percent(QUIETEST_SHARE)} of that at night, weekends {percent(WEEKEND_SHARE)} of a weekday"
    )
    return _to_busiest(relative_rates(assumed), words, "Monday 0:00")


def _hourly(trace: Trace) -> list[float]:
    """Requests by hour of the week from the first arrival on, of whole weeks."""
    hour = (trace.arrival_ps // (HOUR_S * PS_PER_S)).astype(np.int64)
    weeks = int(hour[-1] + 1) // HOURS_A_WEEK
    counts = np.bincount(hour[hour < weeks * HOURS_A_WEEK], minlength=weeks * HOURS_A_WEEK)
    return [float(count) for count in counts.reshape(weeks, HOURS_A_WEEK).mean(axis=0)]


def _to_busiest(rates: Sequence[float], source: str, first: str) -> Shape:
    most = max(rates)
    return Shape(tuple(rate / most for rate in rates), source, first)


def _enough(sizes: Sequence[_Size], rate: float) -> int:
    """The smallest size that holds the rate; the whole design where none does."""
    return next((place for place, size in enumerate(sizes) if size.held >= rate), len(sizes) - 1)


def _kept_on(needed: Sequence[int], sizes: int, cold_start_h: float) -> list[int]:
    """What is on, hour by hour: what is not needed for no longer than it takes to start again stays on. The week
    repeats."""
    on = np.zeros(len(needed), np.int64)
    for size in range(1, sizes):
        wanted = np.array(needed) >= size
        if wanted.any():
            on[wanted | _short_gaps(wanted, cold_start_h)] = size
    return [int(size) for size in on]


def _short_gaps(wanted: NDArray[np.bool_], longest_h: float) -> NDArray[np.bool_]:
    """The hours of gaps between wanted ones that are no longer than so many hours, round the week's end too."""
    hours, found = np.flatnonzero(wanted), np.zeros(len(wanted), bool)
    for before, after in zip(hours, [*hours[1:], hours[0] + len(wanted)], strict=True):
        if 0 < after - before - 1 <= longest_h:
            found[np.arange(before + 1, after) % len(wanted)] = True
    return found


def _hour(place: int, rate: float, on: _Size, whole: _Size) -> Json:
    used = min(1.0, rate / whole.held) if whole.held else 1.0
    return {
        "hour": place,
        "name": f"{WEEKDAYS[place // HOURS]} {place % HOURS}:00",
        "rate_req_per_s": rate,
        "used": used,
        "idle_usd": float(whole.usd) * (1 - used),
        "machines_on": on.machines,
    }


def _week(hours: Sequence[Json], chosen: Sequence[int], sizes: Sequence[_Size], cold_start_s: float) -> Json:
    """Of a week that repeats: what is on before its first hour is what is on in its last."""
    whole = sizes[-1].usd
    on = sum((sizes[place].usd for place in chosen), Decimal(0))
    pairs = list(zip([chosen[-1], *chosen[:-1]], chosen, strict=True))
    starts = [sizes[now].machines - sizes[before].machines for before, now in pairs if now > before]
    lost = sum((sizes[now].usd - sizes[before].usd for before, now in pairs if now > before), Decimal(0))
    cold = lost * Decimal(repr(cold_start_s / HOUR_S))
    flat = whole * HOURS_A_WEEK
    saved = flat - on - cold
    months = Decimal(HOURS_PER_MONTH) / HOURS_A_WEEK
    return {
        "used": sum(hour["used"] for hour in hours) / len(hours),
        "usd_per_month": float(whole * HOURS_PER_MONTH),
        "idle_usd_per_month": float(Decimal(repr(sum(hour["idle_usd"] for hour in hours))) * months),
        "starts": sum(starts),
        "cold_start_usd_per_month": float(cold * months),
        "saved_usd_per_month": float(saved * months),
        "least_on": min(hour["machines_on"] for hour in hours),
        "most_on": max(hour["machines_on"] for hour in hours),
    }


def _sentences(week: Json, hours: Sequence[Json], parameters: Parameters) -> list[str]:
    busiest = max(hours, key=lambda hour: hour["rate_req_per_s"])
    quietest = min(hours, key=lambda hour: hour["rate_req_per_s"])
    said = [
        f"Over the week {percent(week['used'])} of its capacity is in use, from {percent(quietest['used'])}"
        f" ({quietest['name']}) to {percent(busiest['used'])} ({busiest['name']}):"
        f" {dollars(week['idle_usd_per_month'])} of {dollars(week['usd_per_month'])} a month are for what stands idle."
    ]
    if not week["saved_usd_per_month"]:
        return [*said, "No smaller size of it holds any of these hours: nothing can be switched off."]
    share = week["saved_usd_per_month"] / week["usd_per_month"]
    said.append(
        f"With {week['least_on']:,} to {week['most_on']:,} machines on as the hours need, and"
        f" {number(parameters.cold_start_s)} s from a start to the first answer, {dollars(week['saved_usd_per_month'])}"
        f" a month are saved ({percent(share)}); {counted(week['starts'], 'start')} a week cost"
        f" {dollars(week['cold_start_usd_per_month'])} a month of it."
    )
    return said


def _assumptions(shape: Shape, parameters: Parameters, sizes: int) -> list[Json]:
    found = [
        (f"The busiest hour has the question's rate; the others: {shape.source}.", ""),
        (f"Capacities of {counted(sizes, 'size')} of the design were searched; an hour is served by the smallest that"
         f" holds its rate at no more than {percent(parameters.most_used)} of its capacity. Hours are known before they"
         " come; within an hour traffic is even but for chance.", ""),
        (f"Cold start {number(parameters.cold_start_s)} s, paid before each hour in which more machines are on; what"
         " would be off for no longer stays on.",
         "425 to 439 s measured until a model answered, llm-d autoscaling, 2026"),
        ("Saved is the price of machines while off. It is real where they are rented by the hour; of owned or reserved"
         " ones only electricity is saved.", ""),
    ]  # fmt: skip
    return sourced(found)


KIND = Kind(
    name="week_hours",
    all_machines=True,
    title="A week, hour by hour",
    about="How much of the design is in use in each hour, what stands idle, and what switching machines off saves.",
    parameters=Parameters,
    task_type=Task,
    task=task,
    cpu_s=cpu_s,
    steps=lambda task: len(task.cases),
    run=run,
    told=told,
    fields=(
        Field(
            "cold_start_s", "Cold start", "s", "From asking for a machine to its first answer; 425 to 439 s measured."
        ),
        Field("most_used", "Used at most", "share", "Of a size's capacity in any hour, such as 0.8 to keep a reserve."),
    ),
)
