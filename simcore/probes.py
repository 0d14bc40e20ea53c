"""A design simulated at one rate after another: what a capacity search asks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from simcore.evaluation import RateResult
from simcore.latencies import Latencies
from simcore.metrics import Summary, window_latencies
from simcore.offered_load import offered
from simcore.simulation import EngineName, middle, simulate
from simcore.slo import Objective
from simcore.spec import Case
from simcore.traces import Trace

JUST_ABOVE_ONE = 1.0 + 1e-9


@dataclass(frozen=True)
class Probe:
    """A design simulated at one rate."""

    rate_req_per_s: float
    load: Trace
    """The requests as they were offered."""
    summary: Summary
    latencies: Latencies
    goal: Objective

    @property
    def requests(self) -> int:
        """How many were simulated."""
        return len(self.load)

    @property
    def feasible(self) -> bool:
        """The window is stable and the SLO holds."""
        return self.summary.feasible

    @property
    def result(self) -> RateResult:
        """As a study keeps it."""
        return self.summary.rate_result(self.rate_req_per_s)


@dataclass
class Prober:
    """Runs of one case on one replication of a trace; each (requests, rate) is simulated once."""

    case: Case
    trace: Trace
    goal: Objective
    seed: int
    name: EngineName = "fast"
    done: dict[tuple[int, float], Probe] = field(default_factory=dict)

    def probe(self, rate_req_per_s: float, requests: int) -> Probe:
        """The case at a rate, measured over the middle 10 to 90 % of arrivals of at most so many requests."""
        load = offered(self.trace, self.case, rate_req_per_s, requests, self.seed)
        key = (len(load), rate_req_per_s)
        if key not in self.done:
            window = middle(len(load))
            run = simulate(self.case, load, self.goal, window, self.name)
            latencies = window_latencies(run.inputs, run.run, window)
            self.done[key] = Probe(rate_req_per_s, load, run.summary, latencies, self.goal)
        return self.done[key]

    def pressure(self, rate_req_per_s: float, requests: int) -> float:
        """The run's worst value over its limit: at most 1 where it is feasible, above 1 where not, infinite where
        unstable."""
        probe = self.probe(rate_req_per_s, requests)
        if not probe.summary.stability.stable or probe.summary.binding.ratio is None:
            return math.inf
        ratio = probe.summary.binding.ratio
        return min(ratio, 1.0) if probe.feasible else max(ratio, JUST_ABOVE_ONE)
