"""How long it takes to simulate again what a study simulated, before anything is: from predicted costs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache

from planner.env import envint
from planner.studies import workers
from planner.studies.contexts import context_of
from planner.studies.models import Study
from planner.studies.results import Progress, study_result
from simcore.evaluation import Design
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.search.cost import RUNS, TRIAL_RUNS, predicted_cpu_s
from simcore.survival import evaluated_cases

SAMPLE = 40
"""Designs of which the cost is predicted; the others cost as much on average."""
FIXED_S = 0.5
"""Of a study, however little it simulates: messages, waves, rows."""


def again_s(study: Study, now: Progress) -> tuple[float, float]:
    """Seconds that the study takes anew under another SLO, and at another rate, where its capacities are known: another
    engine than the study's knows none."""
    of_slo, of_rate = _cpu_s(study.pk, now.step)
    if study.engine_version != workers.engine_at_work():
        of_rate = of_slo
    return FIXED_S + of_slo / _all_processes(), FIXED_S + of_rate / _all_processes()


def check_s(study: Study, now: Progress, cpu_s: float) -> float:
    """Seconds that designs take beside the study's own, of which one run each takes so much: those that hold are
    searched, too."""
    again = 0.0 if study.engine_version == workers.engine_at_work() else again_s(study, now)[0]
    return FIXED_S + again + cpu_s / TRIAL_RUNS * RUNS / 2 / _all_processes()


@lru_cache(maxsize=64)
def _cpu_s(study_id: int, step: str) -> tuple[float, float]:
    """By progress, so that a study that grows is counted anew."""
    study = Study.unscoped.get(pk=study_id)
    found = study_result(study)
    try:
        statistics = context_of(study).statistics
    except ValueError:  # its workload is not what it was
        return study.elapsed_s * _processes(), study.elapsed_s * _processes()
    cases = max(
        (evaluated_cases(len(one.case.pools), found.spec.failures) for one in found.designs.values()), default=1
    )
    known = [
        (found.designs[name], one) for name, one in found.evaluations.items() if name in found.designs
    ]  # whole ones
    whole = [design for design, one in known if one.status == "evaluated"]
    tried = [design for design, one in known if _is_tried(one)]
    trials = _sum(tried, statistics, TRIAL_RUNS)
    return cases * (_sum(whole, statistics, RUNS) + trials), cases * (_sum(whole, statistics, 1.0) + trials)


def _is_tried(known: object) -> bool:
    return getattr(known, "status", "") == "screened" and getattr(known, "simulations", 0) > 0


def _sum(designs: Sequence[Design], statistics: WorkloadStatistics, runs: float) -> float:
    if not designs:
        return 0.0
    sample = designs[:: max(1, len(designs) // SAMPLE)]
    return sum(predicted_cpu_s(design.case, statistics, runs) for design in sample) * len(designs) / len(sample)


def _all_processes() -> int:
    return max(1, workers.alive().count()) * _processes()


def _processes() -> int:
    """Of a worker: as the launcher starts it."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    return envint("PHASEPLAN_PROCESSES", available, minimum=1)
