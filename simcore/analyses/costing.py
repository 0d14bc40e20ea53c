"""What money takes of a design (``simcore.economics.physics``): its figures at the rate, nine digits each.

Beside the answer's own figures it needs two that a study does not simulate: how the time of batches that hold both
prompts and decodes splits between them, and what the machines finish at saturation (``simcore.detail.costing``).
"""

from __future__ import annotations

from dataclasses import dataclass

from simcore.analyses.chosen import chosen_design
from simcore.analyses.growth import designs_as_it_grows
from simcore.analyses.kind import Json, Kind, Lab, Subject, sourced
from simcore.catalogue import resolve_machine
from simcore.economics.physics import Physics, PoolPhysics
from simcore.economics.rounding import quantised
from simcore.fleet import pool_machines
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.power import idle_w
from simcore.rows import DesignRow
from simcore.search.cost import predicted_cpu_s
from simcore.spec import Case, Machine, PoolSpec, bounded, encode
from simcore.words import number, percent

RUNS = 4.0
"""One at the rate, once more with its log, one under overload, and what is made of them."""


@dataclass(frozen=True)
class Parameters:
    """``design``: an id of the study; None: the answer. ``growth_percent``: of the rate, a month, over ``months``."""

    design: str | None = None
    growth_percent: float = bounded(0.0, above=-100, most=1000)
    months: int = bounded(36, least=1, most=120)


@dataclass(frozen=True)
class Step:
    """A design at the rate that it is bought for."""

    case: Case
    rate_req_per_s: float
    capacity_req_per_s: float


@dataclass(frozen=True)
class Task:
    """What is simulated: the design, then those that follow it as traffic grows."""

    steps: tuple[Step, ...]


def task(subject: Subject, parameters: Parameters) -> Task:
    """Of designs that were evaluated."""
    designs = subject.result.designs
    return Task(
        tuple(
            Step(designs[row.design_id].case, rate, row.capacity_req_per_s or 0.0)
            for rate, row in _path(subject, parameters)
        )
    )


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """Four runs' worth a design."""
    return sum(predicted_cpu_s(step.case, statistics, RUNS) for step in task.steps)


def run(task: Task, lab: Lab) -> Json:
    """The figures of each."""
    return {
        "steps": [lab.costing(step.case, step.rate_req_per_s, step.capacity_req_per_s) for step in task.steps],
    }


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """``steps``: each design's ``physics`` as JSON, in order of capacity."""
    rows = [row for _, row in _path(subject, parameters)]
    steps = [physics_of(*one) for one in zip(rows, task.steps, found["steps"], strict=True)]
    return {
        "design_id": rows[0].design_id,
        "design": rows[0].label,
        "steps": [encode(step) for step in steps],
        "sentences": _sentences(steps[0], found["steps"][0]),
        "assumptions": sourced(
            [
                ("Time of batches that hold prompts and decodes is split by what each would have needed alone.",
                 "simcore/detail/costing.py"),
                ("Saturation: the same requests offered at three times the capacity, whatever the latency.",
                 "simcore/detail/costing.py"),
                ("As traffic grows, the next design is the cheapest tried that holds the month’s rate and has the"
                 " machines that are there.", "simcore/analyses/growth.py"),
            ]
        ),
    }  # fmt: skip


def physics_of(row: DesignRow, step: Step, found: Json) -> Physics:
    """One design's figures as money takes them."""
    pools = step.case.pools
    machines = [resolve_machine(pool.machine) for pool in pools]
    return Physics(
        row.design_id,
        row.label,
        tuple(
            _pool(pool, machine, busy, share or 0.0)
            for pool, machine, busy, share in zip(
                pools, machines, found["busy"], found["prompt_share_of_mixed"], strict=True
            )
        ),
        rate_req_per_s=quantised(step.rate_req_per_s),
        capacity_req_per_s=quantised(max(step.capacity_req_per_s, step.rate_req_per_s)),
        idle_w=quantised(sum(pool_machines(pool) * idle_w(one) for pool, one in zip(pools, machines, strict=True))),
        mean_w=quantised(found["mean_w"]),
        input_tokens=quantised(found["new_prompt_tokens"]),
        cached_input_tokens=quantised(found["cached_prompt_tokens"]),
        output_tokens=quantised(found["output_tokens"]),
        saturation_req_per_s=quantised(found["saturation_req_per_s"]) or None,
        capacity_low=None if row.capacity_low is None else quantised(min(row.capacity_low, step.capacity_req_per_s)),
        capacity_high=quantised(max(row.capacity_high, step.capacity_req_per_s)) if row.capacity_high else None,
        slo_attainment=quantised(found["slo_attainment"]),
    )


def _path(subject: Subject, parameters: Parameters) -> list[tuple[float, DesignRow]]:
    design = chosen_design(subject.result, parameters.design, "nothing to put a price on")
    if parameters.growth_percent <= 0:
        return [(subject.result.spec.rate_req_per_s, design)]
    return designs_as_it_grows(subject.result, design, parameters.growth_percent, parameters.months)


def _pool(pool: PoolSpec, machine: Machine, busy: Json, prompt_share: float) -> PoolPhysics:
    machines = pool_machines(pool)
    return PoolPhysics(
        pool.role,
        machine.id,
        machines,
        machines * machine.accelerators,
        provisioned_w=quantised(machines * machine.provisioned()),
        prefill=quantised(busy["prefill"]),
        decode=quantised(busy["decode"]),
        hybrid_prefill=quantised(busy["hybrid"] * prompt_share),
        hybrid_decode=quantised(busy["hybrid"] * (1 - prompt_share)),
    )


def _sentences(physics: Physics, found: Json) -> list[str]:
    said = []
    for pool, share in zip(physics.pools, found["prompt_share_of_mixed"], strict=True):
        if share is not None:
            said.append(f"Of the {pool.role} pool’s time in batches of both, {percent(share)} is the prompts’.")
    if physics.saturation_req_per_s:
        said.append(f"Never without work, it finishes {number(float(physics.saturation_req_per_s))} requests/s.")
    return said


KIND = Kind(
    name="costing",
    title="What money takes of it",
    about="The figures of a design that its costs are worked out from, nine digits each.",
    parameters=Parameters,
    task_type=Task,
    task=task,
    cpu_s=cpu_s,
    steps=lambda task: len(task.steps),
    run=run,
    told=told,
    listed=False,
)
