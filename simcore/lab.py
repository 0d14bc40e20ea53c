"""What simulates for the analyses (``simcore.analyses``): the engine's side of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from simcore.analyses import Lab
from simcore.analyses.kind import Json, Run
from simcore.capacity.find import at_rate
from simcore.capacity.trial import trial
from simcore.detail import run_detail
from simcore.detail.costing import costing
from simcore.detail.failure import failure
from simcore.detail.racks import rack_watts
from simcore.evaluate import capacity_of
from simcore.evaluation import Evaluation
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.slo.slack import least_multiplier
from simcore.spec import Case
from simcore.traces import Trace
from simcore.traces.stretch import stretched


class EngineLab(Lab):
    """Simulates over one trace; ``check`` is called before each simulation, and may raise to stop."""

    def __init__(self, trace: Trace, check: Callable[[], None] = lambda: None) -> None:
        self.trace = trace
        self.check = check

    @cached_property
    def statistics(self) -> WorkloadStatistics:
        return WorkloadStatistics.of(self.trace)

    def with_lengths(self, prompts: float, outputs: float) -> EngineLab:
        return EngineLab(stretched(self.trace, prompts, outputs), self.check)

    def holds(self, case: Case, rate_req_per_s: float) -> bool:
        self.check()
        return trial(case, self.trace, rate_req_per_s).holds

    def capacity(self, case: Case) -> Evaluation:
        self.check()
        return capacity_of(case, self.trace, case.seed)

    def run(self, case: Case, rate_req_per_s: float) -> Run:
        self.check()
        probe = at_rate(case, self.trace, rate_req_per_s)
        of = probe.summary
        times = (of.ttft_s, of.tbt_s, of.tpot_s, of.e2e_s, of.queue_s)
        slack = least_multiplier(probe.goal.slo, of.slo.limits, probe.latencies) if of.stability.stable else None
        return Run(probe.result, *times, slack)

    def detail(self, case: Case, rate_req_per_s: float, longer_than_s: float | None) -> Json:
        self.check()
        return run_detail(case, self.trace, rate_req_per_s, longer_than_s)

    def costing(self, case: Case, rate_req_per_s: float, capacity_req_per_s: float) -> Json:
        self.check()
        return costing(case, self.trace, rate_req_per_s, capacity_req_per_s)

    def failure(self, case: Case, rate_req_per_s: float, pool: int, machines: int) -> Json:
        self.check()
        return failure(case, self.trace, rate_req_per_s, pool, machines)

    def rack_watts(self, case: Case, rate_req_per_s: float, most: Sequence[int]) -> list[Json]:
        self.check()
        return rack_watts(case, self.trace, rate_req_per_s, most)
