"""A design simulated at one rate after another: what a capacity search asks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simcore.capacity.give_up import wait_limits, waits_ps
from simcore.capacity.rate_search import DECIDING, LADDER
from simcore.clock import check_clock
from simcore.engine.compile import compile_case, with_load
from simcore.engine.inputs import ClusterInputs, WaitLimit
from simcore.engine.outputs import RunResult
from simcore.evaluation import RateResult
from simcore.metrics.binding import Binding, pressure
from simcore.metrics.feasibility import JUST_ABOVE_ONE, Feasibility, feasibility
from simcore.metrics.summary import Summary, binding_of, summarise
from simcore.metrics.waited import window_latencies
from simcore.search.offered_load import offered, replication, requests_needed
from simcore.search.rate_grid import grid_rate
from simcore.simulation import EngineName, engine, middle
from simcore.slo.latencies import Latencies
from simcore.slo.objective import Objective, objective
from simcore.spec import Case
from simcore.traces import Trace

SHORT_REQUESTS = 2000
"""No run of the ladder is shorter, where the workload has them."""
LIKELY_SHOWN_STEPS = 4
"""Nearly half of the runs that fail so little above one that holds turn out to be the lowest that fails."""
LEAST_PRESSURE = 1e-3
"""That of a run in which nothing counts for the SLO: a limit on later tokens, where no request has one."""


@dataclass(frozen=True)
class Probe:
    """A design simulated at one rate: whether it holds, and what else is asked for."""

    rate_req_per_s: float
    load: Trace
    """The requests as they were offered."""
    case: Case
    goal: Objective
    inputs: ClusterInputs
    run: RunResult
    limits: tuple[WaitLimit, ...]
    """What a run of it is given up for, whether this one might be or not."""

    @property
    def requests(self) -> int:
        """How many were simulated: all, or those that had arrived when the run was given up."""
        return int(np.count_nonzero(self.run.requests.prefill_replica >= 0)) if self.run.gave_up else len(self.load)

    @property
    def iterations(self) -> int:
        """How many micro-batches were run."""
        return int(self.run.replicas.iterations.sum())

    @property
    def events(self) -> int:
        """What the engine handled."""
        return self.run.events

    @cached_property
    def judged(self) -> Feasibility:
        """Of a run to its end: whether it holds."""
        return feasibility(self.inputs, self.run, self.goal, self.inputs.window)

    @property
    def feasible(self) -> bool:
        """The window is stable and the SLO holds."""
        return not self.run.gave_up and self.judged.feasible

    @cached_property
    def pressure(self) -> float:
        """Requests that miss a limit over those that may, of the limit that is pressed most: at most 1 where the rate
        holds, above 1 where not. Where a run was given up, as if it had gone on alike to its end. A limit on gaps
        counts by its worst gap over the limit."""
        if self.run.gave_up:
            return max(len(self.load) / max(self.requests, 1), JUST_ABOVE_ONE)
        waited = {wait: waits_ps(self.latencies, wait) for wait in {limit.wait for limit in self.limits}}
        misses = max((_misses(limit, waited[limit.wait]) for limit in self.limits), default=0.0)
        gaps = max((pressure(limit) for limit in self.judged.slo.limits if limit.metric == "tbt_s"), default=0.0)
        found = max(misses, gaps)
        return min(max(found, LEAST_PRESSURE), 1.0) if self.feasible else max(found, JUST_ABOVE_ONE)

    @cached_property
    def latencies(self) -> Latencies:
        """Of the window."""
        return window_latencies(self.inputs, self.run, self.inputs.window)

    @cached_property
    def summary(self) -> Summary:
        """Every figure of the run, which was not given up."""
        return summarise(self.case, self.inputs, self.run, self.goal, self.inputs.window, self.judged)

    @property
    def binding(self) -> Binding:
        """What binds at the rate, of a run that was not given up."""
        return binding_of(self.case, self.inputs, self.run, self.inputs.window, self.judged)

    @property
    def result(self) -> RateResult:
        """As a study keeps it."""
        return self.summary.rate_result(self.rate_req_per_s)


def _misses(limit: WaitLimit, waited_ps: NDArray[np.int64]) -> float:
    return (int(np.count_nonzero(waited_ps > limit.limit_ps)) + 0.5) / (limit.allowed + 1)


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
    given_up: list[Probe] = field(default_factory=list)
    """Those that were run again, to their end."""
    lengths: dict[int, Trace] = field(default_factory=dict)
    """Loads by the identity of their lengths, which were found to fit the engine's clock."""
    limits: dict[int, tuple[WaitLimit, ...]] = field(default_factory=dict)
    """Of those loads: what a run of them is given up for."""
    held: set[int] = field(default_factory=set)
    """Rates of the grid at which a deciding run held."""

    @classmethod
    def of(cls, case: Case, trace: Trace, seed: int, name: EngineName = "fast") -> Prober:
        """SpecError where the case does not fit, or its SLO has no reference."""
        return cls(case, replication(trace, case, seed), seed, objective(case), compile_case(case, trace), name)

    def probe(self, rate_req_per_s: float, requests: int | None = None) -> Probe:
        """The case at a rate, measured over the middle 10 to 90 % of arrivals of at most so many requests (default: as
        many as decide)."""
        wanted = requests_needed(rate_req_per_s) if requests is None else requests
        return self._probe(rate_req_per_s, wanted, may_give_up=False)

    def tried(self, rate_req_per_s: float) -> Probe:
        """As ``probe``, but given up where its SLO cannot hold any more: only whether it holds is asked."""
        return self._probe(rate_req_per_s, requests_needed(rate_req_per_s), may_give_up=True)

    def pressure(self, k: int, rung: int) -> float:
        """That of a run at the k-th rate of the grid, of the rung's length.

        It is given up where its SLO cannot hold any more, unless it is likely to be shown, as the lowest rate that
        fails.
        """
        rate, decides = grid_rate(k), rung == DECIDING
        requests = max(math.ceil(LADDER[rung] * requests_needed(rate)), SHORT_REQUESTS)
        probe = self._probe(rate, requests, may_give_up=not decides or not self._may_be_shown(k))
        if decides and probe.feasible:
            self.held.add(k)
        return probe.pressure

    def _may_be_shown(self, k: int) -> bool:
        """Whether a rate a little lower holds: where this one fails, it may be the lowest that does."""
        return any(below in self.held for below in range(k - LIKELY_SHOWN_STEPS, k))

    def _probe(self, rate_req_per_s: float, requests: int, may_give_up: bool) -> Probe:
        load = offered(self.trace, self.case, rate_req_per_s, requests, self.seed)
        key = (len(load), rate_req_per_s)
        done = self.done.get(key)
        if done is not None and done.run.gave_up and not may_give_up:
            self.given_up.append(self.done.pop(key))
            done = None
        if done is None:
            done = self.done[key] = self._run(rate_req_per_s, load, may_give_up)
        return done

    def _run(self, rate_req_per_s: float, load: Trace, may_give_up: bool) -> Probe:
        inputs = with_load(self.compiled, load, middle(len(load)))
        lengths = id(load.prompt_tokens)
        if lengths not in self.lengths:
            check_clock(inputs)
            self.limits[lengths] = wait_limits(self.goal, load, inputs.window)
            self.lengths[lengths] = load  # and so its identity stays its own
        if may_give_up:
            inputs = replace(inputs, wait_limits=self.limits[lengths])
        return Probe(
            rate_req_per_s, load, self.case, self.goal, inputs, engine(self.name)(inputs), self.limits[lengths]
        )
