"""What the token budget does: tails and throughput of one co-located design from 128 to 4,096 tokens an iteration.

The budget is the most tokens that one iteration computes (Sarathi-Serve, OSDI 2024, section 4;
``max_num_batched_tokens`` of vLLM V1). A small one keeps iterations short, so gaps between tokens are short, but
spreads a prompt over more iterations, each of which reads the weights and the prompt's KV again; a large one the other
way round. The design's machines, scheduler and all else stay; each budget is run at the question's rate, and its
capacity is searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from simcore.analyses.chosen import asked_design, best_design
from simcore.analyses.kind import Field, Json, Kind, Lab, Run, Subject
from simcore.answer.result import token_budget
from simcore.economics.hourly import req_per_usd
from simcore.evaluation import Evaluation
from simcore.families import SCHEDULER_NAMES
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.rows import DesignRow
from simcore.search.cost import RUNS, predicted_cpu_s
from simcore.spec import BUDGET_KINDS, Case, SpecError, bounded, encode
from simcore.spec.revive import revive
from simcore.trust.margins import margin
from simcore.words import limit_name, listed, number, percent

BUDGETS = (128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
"""Tokens; multiples of the tile of 128 that accelerators compute at once (docs/decisions/0020)."""
PERCENTILES = ("p50", "p90", "p99")


@dataclass(frozen=True)
class Parameters:
    """``design``: an id of the study; None: its best co-located design that has a token budget."""

    design: str | None = None
    budgets: tuple[int, ...] = bounded(BUDGETS, least=1, most=1_000_000)
    rate_req_per_s: float | None = bounded(None, above=0, most=1_000_000)
    """None: the question's."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.budgets) <= MOST_BUDGETS:
            raise SpecError(f"budgets: found {len(self.budgets)}, expected 1 to {MOST_BUDGETS}")


MOST_BUDGETS = 32


@dataclass(frozen=True)
class Task:
    """The design under each budget, from small to large."""

    cases: tuple[Case, ...]
    rate_req_per_s: float


def task(subject: Subject, parameters: Parameters) -> Task:
    """The design's own budget is among those tried."""
    case = subject.result.designs[_design(subject, parameters).design_id].case
    budgets = sorted({*parameters.budgets, token_budget(case) or 0} - {0})
    rate = parameters.rate_req_per_s or subject.result.spec.rate_req_per_s
    return Task(tuple(_under(case, budget) for budget in budgets), rate)


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """A capacity and a run each."""
    return sum(predicted_cpu_s(case, statistics, RUNS) for case in task.cases)


def run(task: Task, lab: Lab) -> Json:
    """Each budget's capacity and its run at the rate."""
    return {"capacities": [encode(lab.capacity(case)) for case in task.cases],
            "runs": [encode(lab.run(case, task.rate_req_per_s)) for case in task.cases]}  # fmt: skip


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """A row a budget, and what they come to."""
    design = _design(subject, parameters)
    yours = token_budget(subject.result.designs[design.design_id].case)
    rows = [
        _row(case, revive(Evaluation, capacity), revive(Run, ran), design) | {"is_yours": token_budget(case) == yours}
        for case, capacity, ran in zip(task.cases, found["capacities"], found["runs"], strict=True)
    ]
    return {
        "design_id": design.design_id,
        "design": design.label,
        "rate_req_per_s": task.rate_req_per_s,
        "your_token_budget": yours,
        "limits": [_limit(limit) for limit in revive(Run, found["runs"][0]).result.limits],
        "budgets": rows,
        "sentences": _sentences(rows, task.rate_req_per_s),
        "assumptions": _assumptions(design),
    }


def _design(subject: Subject, parameters: Parameters) -> DesignRow:
    asked = asked_design(subject.result, parameters.design)
    if asked is not None and not _has_budget(asked):
        raise SpecError(f"parameters.design: {asked.label} has no token budget, expected {_KINDS} design")
    found = asked or best_design(subject.result, _has_budget)
    if found is None:
        raise SpecError(f"no {_KINDS} design of this study was evaluated: only these have a token budget to vary")
    return found


def _has_budget(row: DesignRow) -> bool:
    return row.scheduler in BUDGET_KINDS


_KINDS = " or ".join(SCHEDULER_NAMES[kind] for kind in BUDGET_KINDS)


def _under(case: Case, budget: int) -> Case:
    return replace(case, scheduler=replace(case.scheduler, token_budget=budget))


def _row(case: Case, capacity: Evaluation, ran: Run, design: DesignRow) -> Json:
    held = capacity.capacity_req_per_s
    unsure = margin(case, capacity) if held else None
    at = capacity.at_capacity
    return {
        "token_budget": token_budget(case),
        "capacity_req_per_s": held,
        "capacity_low": unsure.low if unsure else 0.0,
        "capacity_high": unsure.high if unsure else 0.0,
        "noise_low": capacity.capacity_low,
        "noise_high": capacity.capacity_high,
        "binding_limit": capacity.binding_limit,
        "tokens_per_s_at_capacity": at.input_tokens_per_s + at.output_tokens_per_s if at else None,
        "req_per_usd": req_per_usd(held, design.usd_per_hour) if held else None,
        "met": ran.result.met,
        "stable": ran.result.stable,
        "missed": [limit.name for limit in ran.result.limits if not limit.met],
        **_tails("ttft", ran.ttft_s),
        **_tails("tbt", ran.tbt_s),
        "output_tokens_per_s": ran.result.output_tokens_per_s,
    }


def _tails(metric: str, of: Any) -> Json:
    return {f"{metric}_{name}_s": getattr(of, name) for name in PERCENTILES}


def _limit(limit: Any) -> Json:
    return {"metric": limit.metric, "percentile": limit.percentile, "limit": limit.limit,
            "name": limit_name(limit.metric, limit.percentile)}  # fmt: skip


def _sentences(rows: Sequence[Json], rate: float) -> list[str]:
    said = [_best(rows), _holding(rows, rate)]
    steady = [row for row in rows if row["stable"]]
    if len(steady) > 1:
        said.append(_tradeoff(steady, rate))
    return [text for text in said if text]


def _best(rows: Sequence[Json]) -> str:
    """Which budget holds most, and whether that is beyond the simulation's noise: all budgets are run with the same
    requests and the same iteration times, so the error of these is none of the difference."""
    most = max(rows, key=lambda row: (row["capacity_req_per_s"], -row["token_budget"]))
    if not most["capacity_req_per_s"]:
        return "Under no budget does this design hold its limits at any rate."
    yours = next((row for row in rows if row["is_yours"]), None)
    held = f"{_tokens(most)} hold most, {number(most['capacity_req_per_s'])} requests/s"
    if yours is None or yours is most:
        return held + (": that is this design’s budget." if yours else ".")
    mine = f"{number(yours['capacity_req_per_s'])} with its own {_tokens(yours)}"
    if most["noise_low"] <= yours["noise_high"]:
        return f"{held}, against {mine}: within the noise of the simulation."
    more = most["capacity_req_per_s"] / yours["capacity_req_per_s"] - 1 if yours["capacity_req_per_s"] else None
    return f"{held}, {percent(more)} more than {mine}." if more else f"{held}; {mine}."


def _holding(rows: Sequence[Json], rate: float) -> str:
    holding = [row for row in rows if row["met"]]
    if not holding:
        return f"At {number(rate)} requests/s none of these budgets holds the SLO."
    if len(holding) == len(rows):
        return f"At {number(rate)} requests/s the SLO holds with each of these budgets."
    return f"At {number(rate)} requests/s the SLO holds with {listed(_stretches(rows))} tokens."


def _stretches(rows: Sequence[Json]) -> list[str]:
    """Neighbouring budgets that hold: ``512``, ``256 to 1,024``."""
    found: list[list[Json]] = []
    for before, row in zip([None, *rows], rows, strict=False):
        if row["met"]:
            if before is None or not before["met"]:
                found.append([])
            found[-1].append(row)
    ends = [(part[0]["token_budget"], part[-1]["token_budget"]) for part in found]
    return [f"{first:,}" if first == last else f"{first:,} to {last:,}" for first, last in ends]


def _tradeoff(steady: Sequence[Json], rate: float) -> str:
    """Where each tail is shortest, of the budgets under which no queue grows."""
    tails = [_shortest(steady, metric, name) for metric, name in (("tbt_p99_s", "P99 TBT"), ("ttft_p99_s", "P99 TTFT"))]
    said = "; ".join(text for text in tails if text)
    return f"At {number(rate)} requests/s {said}." if said else ""


def _shortest(steady: Sequence[Json], metric: str, name: str) -> str:
    known = [row for row in steady if row[metric] is not None]
    if not known:
        return ""
    best, worst = (pick(known, key=lambda row: row[metric]) for pick in (min, max))
    return (
        f"{name} is shortest with {best['token_budget']:,} tokens, {_time(best[metric])}, and longest with"
        f" {worst['token_budget']:,}, {_time(worst[metric])}"
    )


def _time(value: float) -> str:
    return f"{number(value)} s" if value >= 1 else f"{number(value * 1000)} ms"


def _tokens(row: Json) -> str:
    return f"{row['token_budget']:,} tokens"


def _assumptions(design: DesignRow) -> list[Json]:
    return [
        {"text": f"Machines, scheduler and all else as in {design.label}; only the budget changes.", "source": ""},
        {
            "text": "A budget bounds the tokens of one iteration: decodes first, prompts in chunks of what is left.",
            "source": "Sarathi-Serve, OSDI 2024, section 4; docs/scheduling.md",
        },
        {
            "text": "Latencies are of the requests that arrive in the middle 10 to 90 % of the run; a capacity is found"
            " to 1 %, its interval adds the error of iteration times.",
            "source": "docs/measurement.md, docs/uncertainty.md",
        },
    ]


KIND = Kind(
    name="token_budget",
    all_machines=True,
    title="Token budget",
    about="How many tokens an iteration should compute at most: small budgets shorten the gaps between tokens, large"
    " ones the wait for the first.",
    parameters=Parameters,
    task_type=Task,
    task=task,
    cpu_s=cpu_s,
    steps=lambda task: 2 * len(task.cases),
    run=run,
    told=told,
    fields=(
        Field("budgets", "Budgets", "tokens", "Separated by commas; multiples of 128 fill the accelerators' tiles."),
    ),
)
