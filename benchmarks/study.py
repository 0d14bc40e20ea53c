"""What the example study costs, the engine compiled: as it is shipped, on its fine grid, and on a coarse one.

A line each: by ``plan`` on two processes; by the web application's own tasks in this process, with an empty store of
evaluations and asked again.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.embedded import answered, application
from benchmarks.measure import report
from simcore.answer.result import StudyResult
from simcore.engine.fast.warm import warm_up
from simcore.evaluation import Evaluation
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.plan import plan
from simcore.search.cost import predicted_cpu_s
from simcore.spec import CountGrid, StudySpec
from simcore.study import context, load_trace

JOBS = 2


def main() -> None:
    """Print the lines."""
    warm_up()
    with application():
        inputs = example_inputs()
        for store in ("empty", "filled"):
            spent, _ = cost(lambda: answered(inputs))
            report("study", case="example", by="tasks", store=store, jobs=1, **spent)
        shipped = spec_of(inputs)
        for name, spec in (("example, fine grid", shipped), ("example, coarse grid", coarse(shipped))):
            spent, result = cost(lambda spec=spec: plan(spec, JOBS))  # type: ignore[misc]
            report("study", case=name, by="plan", store="none", jobs=JOBS, **spent, **bought(result))


def example_inputs() -> dict[str, Any]:
    """The example's question, as the web application asks it."""
    from planner.studies import example
    from planner.workloads.models import Workload

    return example.inputs(str(Workload.of_mix(example.MIX).pk))


def spec_of(inputs: dict[str, Any]) -> StudySpec:
    """The question as a study."""
    from planner.accounts.teams import local_user
    from planner.scenarios.forms import clean_inputs
    from planner.studies.spec import compile_question

    user = local_user()
    return compile_question(user, clean_inputs(user, inputs)).spec


def coarse(spec: StudySpec) -> StudySpec:
    """A few counts a line, then those around the required rate; one token budget."""
    options = replace(spec.scheduler_options, token_budget=512, token_budgets=())
    return replace(spec, counts=CountGrid(), scheduler_options=options)


def cost(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """CPU (this process and its children) and wall seconds, and what came of it."""
    start, before = time.perf_counter(), _cpu_s()
    made = work()
    return {"cpu_s": _cpu_s() - before, "wall_s": time.perf_counter() - start}, made


def bought(result: StudyResult) -> dict[str, Any]:
    """Designs, simulations and events of a study; what a capacity took, and how well that was foreseen."""
    every = list(result.evaluations.values())
    found = [one for one in every if one.status == "evaluated"]
    missed = np.percentile(prediction_errors(result, found), (10, 50, 90)) if found else (0.0, 0.0, 0.0)
    return {
        "designs": len(result.rows),
        "evaluated": len(found),
        "screened_by_run": sum(one.status == "screened" and not one.by_bound for one in every),
        "simulations": sum(one.simulations for one in every),
        "requests": sum(one.requests_simulated for one in every),
        "events": sum(one.events for one in every),
        "events_per_capacity": sum(one.events for one in found) / max(len(found), 1),
        "cpu_s_over_predicted_p10_p50_p90": [round(float(value), 2) for value in missed],
    }


def prediction_errors(result: StudyResult, found: list[Evaluation]) -> list[float]:
    """Each evaluation's CPU time over what the shards were cut by."""
    statistics = WorkloadStatistics.of(context(result.spec, load_trace(result.spec)).trace)
    return [one.cpu_s / predicted_cpu_s(result.designs[one.design_id].case, statistics) for one in found]


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


if __name__ == "__main__":
    main()
