"""What a tighter SLO costs, and what a looser one saves: the cheapest design at each multiple of the SLO.

All latency limits times a factor, percentiles and shares as they are. What a design's requests wait for at the rate
does not depend on the SLO, so one run a design says at which multiple it begins to hold (``simcore.slo.slack``). Of the
best co-located and the best split design of the answer other sizes are run, and of the co-located one other token
budgets, as a tighter limit on TBT wants a smaller one; the study's own designs count by their run at the rate. Prices
are applied when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from simcore import fleet
from simcore.analyses.chosen import best_design
from simcore.analyses.kind import Field, Json, Kind, Lab, Subject, refuse_failures, sourced
from simcore.analyses.slo_cost_words import slo_cost_sentences
from simcore.answer.result import StudyResult, is_split, token_budget
from simcore.economics.hourly import usd_per_hour, usd_per_month
from simcore.evaluation import Evaluation
from simcore.families import SPLIT, label
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.rows import DesignRow
from simcore.search.cost import predicted_cpu_s
from simcore.shortfalls import POWER_WORDS
from simcore.slo.slack import of_limits
from simcore.spec import BUDGET_KINDS, AttainmentSlo, Case, SpecError, StudySpec, bounded
from simcore.within import machines_within

MULTIPLIERS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0)
MOST_MULTIPLIERS = 50
BUDGETS = (128, 256, 512, 1024, 2048)
STEP, DOWN, UP = 1.06, 10, 15
"""Sizes tried: the design's own times 1.06 to the power of -10 (0.56) to 15 (2.4)."""
COARSE = 2
"""Every second of these where only the prefill or only the decode pool changes."""


@dataclass(frozen=True)
class Parameters:
    """``multipliers``: of all latency limits."""

    multipliers: tuple[float, ...] = bounded(MULTIPLIERS, least=0.05, most=20)

    def __post_init__(self) -> None:
        if not 1 <= len(self.multipliers) <= MOST_MULTIPLIERS:
            raise SpecError(f"multipliers: found {len(self.multipliers)}, expected 1 to {MOST_MULTIPLIERS}")


@dataclass(frozen=True)
class Task:
    """Designs to be run at the rate; which multiples are asked about changes nothing."""

    cases: tuple[Case, ...]
    rate_req_per_s: float


@dataclass(frozen=True)
class Candidate:
    """A design with the least multiple of the SLO that it holds."""

    case: Case
    label: str
    usd_per_hour: Decimal
    least: float


def task(subject: Subject, parameters: Parameters) -> Task:
    """Other sizes of the best designs, those that the study has run left out."""
    refuse_failures(subject)
    result = subject.result
    bases = [result.designs[row.design_id].case for row in _bases(result)]
    wanted = dict.fromkeys(
        case for base in bases for case in _around(base) if machines_within(case, result.spec) is not False
    )
    if not wanted:
        raise SpecError("no size of the best designs keeps the question's limits: there is no cost to compare")
    return Task(tuple(wanted), result.spec.rate_req_per_s)


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """A run each."""
    return sum(predicted_cpu_s(case, statistics, 1.0) for case in task.cases)


def run(task: Task, lab: Lab) -> Json:
    """The least multiple that each holds; None where it holds none."""
    return {"least": [lab.run(case, task.rate_req_per_s).least_slo_multiplier for case in task.cases]}


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """The cheapest design at each multiple: of all, co-located, split."""
    result = subject.result
    candidates = sorted(_candidates(result, task, found), key=lambda one: (one.usd_per_hour, one.least, one.label))
    rows = [_row(candidates, multiplier) for multiplier in sorted({*parameters.multipliers, 1.0})]
    return {
        "rate_req_per_s": task.rate_req_per_s,
        "multiples": rows,
        "designs_run": len(task.cases),
        "sentences": slo_cost_sentences(rows, result),
        "assumptions": _assumptions(result, task),
    }


def _bases(result: StudyResult) -> list[DesignRow]:
    """The best co-located and the best split design."""
    found = [best_design(result, fits) for fits in (_together, is_split)]
    kept = [row for row in found if row is not None]
    if not kept:
        raise SpecError("no design of this study has a capacity: there is no answer whose SLO could be changed")
    return kept


def _together(row: DesignRow) -> bool:
    return not is_split(row)


def _around(base: Case) -> Iterable[Case]:
    """Other sizes, and of a design with a token budget each of these under other budgets."""
    counts, spans = ([count(pool) for pool in base.pools] for count in (fleet.pool_machines, fleet.spanned))
    whole = tuple(count // span for count, span in zip(counts, spans, strict=True))
    every = {tuple(n * span for n, span in zip(sizes, spans, strict=True)) for sizes in _sizes(whole)}
    for scheduler in _schedulers(base):
        for sizes in sorted(every):
            pools = tuple(replace(p, machines=n, replicas=None) for p, n in zip(base.pools, sizes, strict=True))
            yield replace(base, scheduler=scheduler, pools=pools)


def _schedulers(base: Case) -> list[Any]:
    if base.scheduler.kind not in BUDGET_KINDS:
        return [base.scheduler]
    budgets = sorted({*BUDGETS, token_budget(base) or BUDGETS[0]})
    return [replace(base.scheduler, token_budget=budget) for budget in budgets]


def _sizes(counts: tuple[int, ...]) -> set[tuple[int, ...]]:
    """All pools together in fine steps; where there are two, either alone in coarse ones."""
    steps = [STEP**power for power in range(-DOWN, UP + 1)]
    found = {tuple(max(round(count * step), 1) for count in counts) for step in steps}
    if len(counts) > 1:
        for place in range(len(counts)):
            found |= {
                tuple(max(round(n * step), 1) if i == place else n for i, n in enumerate(counts))
                for step in steps[::COARSE]
            }
    return found


def _candidates(result: StudyResult, task: Task, found: Json) -> Iterable[Candidate]:
    for case, least in zip(task.cases, found.get("least", ()), strict=True):  # nothing was run where no size is allowed
        if least is not None:
            counts = [pool.machines or 1 for pool in case.pools]
            cost = usd_per_hour(fleet.machine_counts(case), result.book)
            yield Candidate(case, label(case.scheduler, case.pools, counts), cost, least)
    for row in result.rows:
        design = result.designs[row.design_id]
        least = _known(result.evaluations[row.design_id], result.spec)
        if least is not None and machines_within(design.case, result.spec) is not False:
            yield Candidate(design.case, design.label, row.usd_per_hour, least)


def _known(evaluation: Evaluation, spec: StudySpec) -> float | None:
    """What the study's own run says; of an attainment only whether it is held as it is."""
    ran = evaluation.at_required
    if ran is None or not ran.stable or ran.rate_req_per_s != spec.rate_req_per_s:
        return None
    if isinstance(spec.slo, AttainmentSlo):
        return 1.0 if evaluation.holds(spec.rate_req_per_s) else None
    least = of_limits(ran.limits)
    held = evaluation.holds(spec.rate_req_per_s)
    return None if least is None or (least <= 1.0 and not held) else least


def _row(candidates: Sequence[Candidate], multiplier: float) -> Json:
    """``candidates``: cheapest first."""

    def cheapest(fits: Callable[[Candidate], bool]) -> Json | None:
        first = next((one for one in candidates if one.least <= multiplier and fits(one)), None)
        return None if first is None else _design(first)

    return {
        "multiplier": multiplier,
        "cheapest": cheapest(lambda one: True),
        "co_located": cheapest(lambda one: one.case.scheduler.kind != SPLIT),
        "split": cheapest(lambda one: one.case.scheduler.kind == SPLIT),
    }


def _design(found: Candidate) -> Json:
    return {
        "design": found.label,
        "machines": sum(fleet.machine_counts(found.case).values()),
        "token_budget": token_budget(found.case),
        "usd_per_hour": str(found.usd_per_hour),
        "usd_per_month": str(usd_per_month(found.usd_per_hour)),
        "least_multiplier": found.least,
    }


def _assumptions(result: StudyResult, task: Task) -> list[Json]:
    named = [row.label for row in _bases(result)]
    kind = result.spec.limits.power_kind
    said = [
        ("Every latency limit is multiplied; percentiles and shares stay. A multiple is held where one run at the rate"
         " holds it: capacities are not searched again.", "simcore/slo/slack.py"),
        (f"Run: {len(task.cases):,} sizes, from half to twice as many machines, of {' and of '.join(named)}, with token"
         f" budgets of {BUDGETS[0]} to {BUDGETS[-1]:,} where these have one; and the study’s own designs. Other"
         " families, tensor parallel sizes and mixtures were not searched: a cheaper one may exist.", ""),
        ("Measured for comparison: on one machine, going from TTFT 2 s and TPOT 200 ms at P99 to 450 and 40 ms cost"
         " Llama-2-70B 1.5 to 2.9 times its throughput, an 8B 1.05 to 1.3 times.", "MLPerf Inference v5.1, 2025"),
    ]  # fmt: skip
    if result.spec.limits.power_limit_kw is not None and kind not in ("nameplate", "provisioned"):
        said.append((f"The limit on {POWER_WORDS[kind]} power was not checked for other sizes.", ""))
    return sourced(said)


KIND = Kind(
    name="slo_cost",
    title="What the SLO costs",
    about="What tighter latency limits would cost, and what looser ones would save: the cheapest design at each.",
    parameters=Parameters,
    task_type=Task,
    task=task,
    cpu_s=cpu_s,
    steps=lambda task: len(task.cases),
    run=run,
    told=told,
    fields=(Field("multipliers", "Limits times", "", "Separated by commas; below 1 is tighter."),),
)
