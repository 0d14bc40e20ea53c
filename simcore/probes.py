"""A design simulated at one rate after another: what a capacity search asks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from simcore.clock import check_clock
from simcore.engine.compile import compile_case, with_load
from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import RunResult
from simcore.evaluation import RateResult
from simcore.feasibility import Feasibility, feasibility, window_latencies
from simcore.latencies import Latencies
from simcore.metrics import Summary, summarise
from simcore.offered_load import offered, replication, requests_needed
from simcore.rate_grid import grid_rate
from simcore.rate_search import LADDER
from simcore.simulation import EngineName, engine, middle
from simcore.slo import Objective, objective
from simcore.spec import Case
from simcore.traces import Trace

SHORT_REQUESTS = 2000
"""No run of the ladder is shorter, where the workload has them."""


@dataclass(frozen=True)
class Probe:
    """A design simulated at one rate. Whether it holds is known at once; the rest is worked out when it is asked
    for."""

    rate_req_per_s: float
    load: Trace
    """The requests as they were offered."""
    case: Case
    goal: Objective
    inputs: ClusterInputs
    run: RunResult
    judged: Feasibility

    @property
    def requests(self) -> int:
        """How many were simulated."""
        return len(self.load)

    @property
    def iterations(self) -> int:
        """How many micro-batches were run."""
        return int(self.run.replicas.iterations.sum())

    @property
    def feasible(self) -> bool:
        """The window is stable and the SLO holds."""
        return self.judged.feasible

    @property
    def pressure(self) -> float:
        """The worst value over its limit: at most 1 where the rate is feasible, above 1 where not, infinite where
        unstable."""
        return self.judged.pressure

    @property
    def latencies(self) -> Latencies:
        """Of the window."""
        return window_latencies(self.inputs, self.run, self.inputs.window)

    @cached_property
    def summary(self) -> Summary:
        """Every figure of the run."""
        return summarise(self.case, self.inputs, self.run, self.goal, self.inputs.window)

    @property
    def result(self) -> RateResult:
        """As a study keeps it."""
        return self.summary.rate_result(self.rate_req_per_s)


@dataclass
class Prober:
    """Runs of one case on one replication of a trace; each (requests, rate) is simulated once."""

    case: Case
    trace: Trace
    seed: int
    goal: Objective
    compiled: ClusterInputs
    """The case on the whole trace."""
    name: EngineName = "fast"
    done: dict[tuple[int, float], Probe] = field(default_factory=dict)

    @classmethod
    def of(cls, case: Case, trace: Trace, seed: int, name: EngineName = "fast") -> Prober:
        """SpecError where the case does not fit, or its SLO has no reference."""
        return cls(case, replication(trace, case, seed), seed, objective(case), compile_case(case, trace), name)

    def probe(self, rate_req_per_s: float, requests: int | None = None) -> Probe:
        """The case at a rate, measured over the middle 10 to 90 % of arrivals of at most so many requests (default: as
        many as decide)."""
        wanted = requests_needed(rate_req_per_s) if requests is None else requests
        load = offered(self.trace, self.case, rate_req_per_s, wanted, self.seed)
        key = (len(load), rate_req_per_s)
        if key not in self.done:
            self.done[key] = self._run(rate_req_per_s, load)
        return self.done[key]

    def pressure(self, k: int, rung: int) -> float:
        """That of a run at the k-th rate of the grid, of the rung's length."""
        rate = grid_rate(k)
        return self.probe(rate, max(math.ceil(LADDER[rung] * requests_needed(rate)), SHORT_REQUESTS)).pressure

    def _run(self, rate_req_per_s: float, load: Trace) -> Probe:
        inputs = with_load(self.compiled, load, middle(len(load)))
        check_clock(inputs)
        run = engine(self.name)(inputs)
        judged = feasibility(inputs, run, self.goal, inputs.window)
        return Probe(rate_req_per_s, load, self.case, self.goal, inputs, run, judged)
