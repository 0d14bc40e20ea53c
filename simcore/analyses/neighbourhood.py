"""The neighbourhood of the answer: what is known of designs with a few more or fewer machines, and, when asked for, the
capacities of those nearby that the search had no reason to simulate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial

from simcore.analyses.kind import Field, Json, Kind, Lab, Subject
from simcore.answer.neighbourhood import Cell, Neighbourhood, neighbourhood
from simcore.answer.result import StudyResult, study_result
from simcore.economics.hourly import usd_per_month
from simcore.evaluation import Design, Evaluation
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.rows import DesignRow
from simcore.search.cost import predicted_cpu_s
from simcore.spec import Case, SpecError, bounded, encode
from simcore.spec.revive import revive
from simcore.survival import evaluated_cases, surviving
from simcore.words import counted, dollars, kilowatts, listed, number

DECIDED_FROM = 0.99
"""Of the rate: a smaller capacity does not hold it, whatever a run says."""
SAID = {
    "holds": ("holds it within the limits", "hold it within the limits"),
    "over": ("holds it beyond a limit", "hold it beyond a limit"),
    "misses": ("misses it in simulation", "miss it in simulation"),
    "cannot": ("misses it by what is proven", "miss it by what is proven"),
    "screened": ("comes after another by what is proven", "come after another by what is proven"),
    "failed": ("failed", "failed"),
    "untried": ("may hold it and was not tried", "may hold it and were not tried"),
}
"""What is said of one, and of several, in each state."""


@dataclass(frozen=True)
class Parameters:
    """How far around the answer capacities are wanted."""

    reach: int = bounded(2, least=1, most=7)


@dataclass(frozen=True)
class Task:
    """Those that have no capacity yet."""

    cases: tuple[Case, ...]
    rate_req_per_s: float
    failures: int = 0
    """Machines lost at once that must be survived."""


def task(subject: Subject, parameters: Parameters) -> Task:
    """SpecError where nothing was tried."""
    around = _around(subject)
    cases = tuple(around.design(cell).case for cell in around.unknown_within(parameters.reach))
    return Task(cases, subject.result.spec.rate_req_per_s, subject.result.spec.failures)


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """A capacity each; none where all are known."""
    return sum(
        evaluated_cases(len(case.pools), task.failures) * predicted_cpu_s(case, statistics) for case in task.cases
    )


def run(task: Task, lab: Lab) -> Json:
    """Each one's capacity, or why it has none."""
    return {
        "evaluations": [
            encode(surviving(case, task.failures, partial(_evaluated, task.rate_req_per_s, lab))) for case in task.cases
        ]
    }


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """The map with what was found."""
    around = _around(subject)
    designs = [around.design(cell) for cell in around.unknown_within(parameters.reach)]
    evaluations = [revive(Evaluation, one) for one in found.get("evaluations", [])]
    known = {
        design.design_id: replace(one, design_id=design.design_id)
        for design, one in zip(designs, evaluations, strict=True)
    }
    return _told(subject, _joined(subject.result, designs, known), 0, parameters.reach)


def before(subject: Subject, parameters: Parameters, task: Task) -> Json:
    """The map of what the study knows."""
    return _told(subject, subject.result, len(task.cases), parameters.reach)


def _around(subject: Subject) -> Neighbourhood:
    return neighbourhood(subject.result, subject.statistics)


def _evaluated(rate_req_per_s: float, lab: Lab, case: Case) -> Evaluation:
    """As a study would: a rate that the capacity is not below is decided by a run at it (``Evaluation.holds``)."""
    try:
        found = lab.capacity(case)
    except SpecError as error:
        return Evaluation("", "infeasible", str(error))
    if found.capacity_req_per_s < DECIDED_FROM * rate_req_per_s:
        return found
    return replace(found, at_required=lab.run(case, rate_req_per_s).result)


def _joined(result: StudyResult, designs: list[Design], known: dict[str, Evaluation]) -> StudyResult:
    """With the study's own."""
    every = {**result.designs, **{design.design_id: design for design in designs}}
    return study_result(result.spec, list(every.values()), {**result.evaluations, **known}, result.book)


def _told(subject: Subject, result: StudyResult, missing: int, reach: int) -> Json:
    """The answer stays the study's, whatever was found around it: a cheaper one that holds is said."""
    own = subject.result
    around = neighbourhood(replace(result, winner=_same(result, own.winner), closest=own.closest), subject.statistics)
    return {
        "design_id": around.centre.design_id,
        "design": around.centre.label,
        "rate_req_per_s": own.spec.rate_req_per_s,
        "is_answer": own.winner is not None,
        "names": list(around.names),
        "across": list(around.across),
        "up": list(around.up),
        "place": list(around.place),
        "least_power": list(around.least_power.counts) if around.least_power else None,
        "least_power_line": around.least_power.line if around.least_power else None,
        "cells": [[_cell(cell, own) for cell in row] for row in around.cells],
        "missing": missing,
        "reach": reach,
        "sentences": [
            text
            for text in (_counted(around, own), _better(around, own, result), _power(around), _missing(missing, reach))
            if text
        ],
        "assumptions": ASSUMPTIONS,
    }


def _same(result: StudyResult, row: DesignRow | None) -> DesignRow | None:
    return result.row(row.design_id) if row else None


def _cell(cell: Cell, own: StudyResult) -> Json:
    return {
        "counts": list(cell.counts),
        "line": cell.line,
        "state": cell.state,
        "words": cell.words,
        "usd_per_month": cell.usd_per_month,
        "provisioned_w": cell.provisioned_w,
        "capacity_req_per_s": cell.capacity_req_per_s,
        "at_most_req_per_s": cell.at_most_req_per_s,
        "feasible": cell.feasible,
        "design_id": cell.design_id if cell.design_id in own.evaluations else None,
    }


def _counted(around: Neighbourhood, own: StudyResult) -> str:
    states: Counter[str] = Counter(cell.state for cell in around.every)
    said = [f"{states[state]} {words[states[state] > 1]}" for state, words in SAID.items() if states[state]]
    centre = around.centre.label if own.winner else f"the closest miss, {around.centre.label}"
    return (
        f"Around {centre}: of {counted(len(around.every), 'design')} at {number(own.spec.rate_req_per_s)} requests/s,"
        f" {listed(said)}."
    )


def _better(around: Neighbourhood, own: StudyResult, result: StudyResult) -> str:
    """Where what was found comes before the answer."""
    if own.winner is None or result.winner is None or result.winner.design_id == own.winner.design_id:
        return ""
    month = dollars(usd_per_month(result.winner.usd_per_hour))
    return f"{result.winner.label}, {month} a month, holds the rate too and comes before it: it was not simulated."


def _power(around: Neighbourhood) -> str:
    least = around.least_power
    if least is None:
        return ""
    if least.design_id == around.centre.design_id:
        return "It also takes the least provisioned power of those that hold the rate."
    power = kilowatts(least.provisioned_w)
    return f"The least provisioned power of those that hold the rate: {around.design(least).label}, {power}."


def _missing(missing: int, reach: int) -> str:
    if not missing:
        return ""
    steps = counted(reach, "step")
    return f"{counted(missing, 'design')} within {steps} of it {'has' if missing == 1 else 'have'} no capacity yet."


ASSUMPTIONS: list[Json] = [
    {
        "text": "What was not tried is told by the fluid bound (no schedule holds more), else by designs that were:"
        " with no more machines than one that misses the rate it misses it, with no fewer than one that holds it it"
        " holds it and comes after.",
        "source": "docs/decisions/0013-pruning-by-proof.md",
    },
    {"text": "A capacity is found to 1 %.", "source": "docs/measurement.md"},
]

KIND = Kind(
    name="neighbourhood",
    title="Neighbourhood",
    about="What a few machines more or fewer would do.",
    parameters=Parameters,
    task_type=Task,
    task=task,
    cpu_s=cpu_s,
    steps=lambda task: sum(2 * evaluated_cases(len(case.pools), task.failures) for case in task.cases),
    run=run,
    told=told,
    fields=(Field("reach", "Reach", "steps", "Every design at most so many steps from the answer gets its capacity."),),
    before=before,
)
