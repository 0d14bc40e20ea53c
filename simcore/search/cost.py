"""What an evaluation will take, in CPU seconds, before anything is simulated: by it studies are cut into shards.

Events of a request × requests of a run × runs of a search × time of an event, beside what a run takes however short it
is. A guess within a factor of two or so is enough: it decides which worker does what, and no result.
"""

from __future__ import annotations

import math

from simcore.fluid.bounds import capacity_bound
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.search.offered_load import requests_needed
from simcore.spec import AUTO, Case, SpecError

HELD = 0.7
"""Of the fluid bound, that a design holds within its SLO, mostly."""
RUNS = 7.0
"""Long runs that a capacity and the run at the required rate amount to, short ones by their length."""
TRIAL_RUNS = 0.5
"""Of a design that is tried at one rate: mostly it fails and is given up half-way."""
RUN_S = 0.007
"""However short the runs are: what is made of them, and compiling the case. This and the times below: of one core of a
virtual machine with two, both busy, where the million steps of ``benchmarks.measure.calibration_loop`` take 0.025 s."""
EVENT_S = {"splitwise": 2.0e-7, "splitwise_baseline": 2.0e-7}
OTHER_EVENT_S = 1.45e-7
"""By kind of scheduler; with the run's set-up and what is made of its requests."""
STAGE_S = 1.0e-7
"""More for each pipeline stage beyond the first."""
SELECTIONS = 2.0
"""Batches selected a request beside its prompt's, which other requests' arrivals and finishes bring."""


def predicted_cpu_s(case: Case, statistics: WorkloadStatistics, runs: float = RUNS) -> float:
    """CPU seconds of one core that the case's evaluation takes, about; least of all where it cannot run."""
    try:
        bound = capacity_bound(case, statistics)
    except SpecError:
        return RUN_S
    rate = HELD * bound if math.isfinite(bound) else math.inf
    requests = statistics.requests if math.isinf(rate) else min(statistics.requests, requests_needed(rate))
    stages = max(pool.pipeline_parallel for pool in case.pools)
    event_s = EVENT_S.get(case.scheduler.kind, OTHER_EVENT_S) + STAGE_S * (stages - 1)
    return runs * (RUN_S + requests * event_s * _events(case, statistics))


def _events(case: Case, statistics: WorkloadStatistics) -> float:
    """Of a request: its arrival and finish, its prompt's batches, a transfer, and the selections that others bring."""
    budget = case.scheduler.token_budget
    chunks = 1.0 if budget in (None, AUTO) else max(1.0, statistics.prompt_tokens / float(budget))
    transfers = 1.0 if case.scheduler.kind == "splitwise" else 0.0
    return 2.0 + chunks + transfers + SELECTIONS
