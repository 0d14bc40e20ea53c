"""What the shipped example study costs, the engine compiled: CPU and wall seconds of every design simulated anew."""

from __future__ import annotations

import io
import os
import resource
import tempfile
import time
from typing import Any

from benchmarks.measure import report
from simcore.plan import plan
from simcore.result import StudyResult
from simcore.spec import StudySpec

JOBS = 2


def main(quick: bool = False) -> None:
    """A line for one process and one for two."""
    spec = example_spec()
    for jobs in (JOBS,) if quick else (1, JOBS):
        report("study", case="example", store="empty", jobs=jobs, **cost(spec, jobs))


def example_spec() -> StudySpec:
    """The example as the web application asks it, made with an empty database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(PHASEPLAN_VAR=folder, PHASEPLAN_LOCAL="1", DJANGO_SETTINGS_MODULE="planner.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", interactive=False, verbosity=0)
        call_command("load_catalogue", stdout=io.StringIO())
        return _asked()


def _asked() -> StudySpec:
    from django.db import connections

    from planner.accounts.teams import local_user
    from planner.scenarios.forms import clean_inputs
    from planner.studies import example
    from planner.studies.spec import compile_question
    from planner.workloads.models import Workload

    user = local_user()
    inputs = clean_inputs(user, example.inputs(str(Workload.of_mix(example.MIX).pk)))
    spec = compile_question(user, inputs).spec
    connections.close_all()
    return spec


def cost(spec: StudySpec, jobs: int) -> dict[str, Any]:
    """CPU (this process and its children) and wall seconds, and what they bought."""
    start, before = time.perf_counter(), _cpu_s()
    result = plan(spec, jobs)
    return {"cpu_s": _cpu_s() - before, "wall_s": time.perf_counter() - start, **bought(result)}


def bought(result: StudyResult) -> dict[str, Any]:
    """Designs, simulations and requests of a study."""
    evaluations = result.evaluations.values()
    simulations = sum(evaluation.simulations for evaluation in evaluations)
    return {
        "designs": len(result.rows),
        "evaluated": len(evaluations),
        "simulations": simulations,
        "requests": sum(evaluation.requests_simulated for evaluation in evaluations),
    }


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
