"""What money takes of a design (``simcore.economics.physics``): its figures at the rate, nine digits each.

Beside the answer's own figures it needs two that a study does not simulate: how the time of batches that hold both
prompts and decodes splits between them, and what the machines finish at saturation (``simcore.detail.costing``).
"""

from __future__ import annotations

from dataclasses import dataclass

from simcore.analyses.chosen import chosen_design
from simcore.analyses.kind import Json, Kind, Lab, Subject, sourced
from simcore.catalogue import resolve_machine
from simcore.economics.physics import Physics, PoolPhysics
from simcore.economics.rounding import quantised
from simcore.evaluation import PoolResult
from simcore.fleet import pool_machines
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.power import idle_w
from simcore.rows import DesignRow
from simcore.search.cost import predicted_cpu_s
from simcore.spec import Case, Machine, SpecError, encode
from simcore.words import number, percent

RUNS = 4.0
"""One at the rate, once more with its log, one under overload, and what is made of them."""


@dataclass(frozen=True)
class Parameters:
    """``design``: an id of the study; None: the answer."""

    design: str | None = None


@dataclass(frozen=True)
class Task:
    """What is simulated."""

    case: Case
    rate_req_per_s: float
    capacity_req_per_s: float


def task(subject: Subject, parameters: Parameters) -> Task:
    """Of a design that was evaluated."""
    row = _design(subject, parameters)
    return Task(
        subject.result.designs[row.design_id].case, subject.result.spec.rate_req_per_s, row.capacity_req_per_s or 0.0
    )


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """Four runs' worth."""
    return predicted_cpu_s(task.case, statistics, RUNS)


def run(task: Task, lab: Lab) -> Json:
    """The two figures."""
    return lab.costing(task.case, task.rate_req_per_s, task.capacity_req_per_s)


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """``physics`` as JSON."""
    row = _design(subject, parameters)
    physics = physics_of(subject, row, task, found)
    return {
        "design_id": row.design_id,
        "design": row.label,
        "physics": encode(physics),
        "sentences": _sentences(physics, found),
        "assumptions": sourced(
            [
                ("Time of batches that hold prompts and decodes is split by what each would have needed alone.",
                 "simcore/detail/costing.py"),
                ("Saturation: the same requests offered at three times the capacity, whatever the latency.",
                 "simcore/detail/costing.py"),
            ]
        ),
    }  # fmt: skip


def physics_of(subject: Subject, row: DesignRow, task: Task, found: Json) -> Physics:
    """SpecError where the design was never simulated at the rate."""
    at = subject.result.evaluations[row.design_id].at_required
    if at is None:
        raise SpecError(f"parameters.design: {row.label} was not simulated at {number(task.rate_req_per_s)} requests/s")
    return Physics(
        row.design_id, row.label,
        tuple(
            _pool(resolve_machine(asked.machine), pool, share)
            for asked, pool, share in zip(task.case.pools, at.pools, found["prompt_share_of_mixed"], strict=True)
        ),
        rate_req_per_s=quantised(task.rate_req_per_s),
        capacity_req_per_s=quantised(task.capacity_req_per_s),
        idle_w=quantised(sum(pool_machines(pool) * idle_w(resolve_machine(pool.machine)) for pool in task.case.pools)),
        mean_w=quantised(at.mean_w),
        input_tokens=quantised(found["new_prompt_tokens"]),
        cached_input_tokens=quantised(found["cached_prompt_tokens"]),
        output_tokens=quantised(found["output_tokens"]),
        saturation_req_per_s=quantised(found["saturation_req_per_s"]) or None,
    )  # fmt: skip


def _design(subject: Subject, parameters: Parameters) -> DesignRow:
    return chosen_design(subject.result, parameters.design, "nothing to put a price on")


def _pool(machine: Machine, pool: PoolResult, prompt_share: float | None) -> PoolPhysics:
    of_prompts = prompt_share or 0.0
    return PoolPhysics(
        pool.role, machine.id, pool.machines, pool.machines * machine.accelerators,
        provisioned_w=quantised(pool.machines * machine.provisioned()),
        prefill=quantised(pool.prefill),
        decode=quantised(pool.decode),
        hybrid_prefill=quantised(pool.hybrid * of_prompts),
        hybrid_decode=quantised(pool.hybrid * (1 - of_prompts)),
    )  # fmt: skip


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
    steps=lambda task: 1,
    run=run,
    told=told,
    listed=False,
)
