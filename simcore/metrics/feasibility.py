"""Whether a run holds: its window is stable and the SLO met. All that a search asks of most runs, without a summary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simcore.engine.inputs import ClusterInputs, Int64
from simcore.engine.outputs import RunResult
from simcore.engine.tally.records import EARLY_ARRIVALS, EARLY_DELAYS, LATE_ARRIVALS, LATE_DELAYS, SUM_OF_ALONE
from simcore.fluid.lone import lone_times
from simcore.metrics.binding import pressure
from simcore.metrics.waited import Waited
from simcore.slo.latencies import Latencies, pieces
from simcore.slo.objective import Objective, SloOutcome, judge
from simcore.slo.stability import Stability, stability_of_parts, stability_of_sums

JUST_ABOVE_ONE = 1.0 + 1e-9


@dataclass(frozen=True)
class Feasibility:
    """One run against an SLO."""

    slo: SloOutcome
    stability: Stability

    @property
    def feasible(self) -> bool:
        """The window is stable and the SLO holds."""
        return self.stability.stable and self.slo.met

    @property
    def pressure(self) -> float:
        """The worst value over its limit: at most 1 where the run is feasible, above 1 where not, infinite where
        unstable or where a value is infinite."""
        if not self.stability.stable:
            return float("inf")
        worst = max((pressure(limit) for limit in self.slo.limits), default=float("inf"))
        return min(worst, 1.0) if self.feasible else max(worst, JUST_ABOVE_ONE)


def feasibility(inputs: ClusterInputs, run: RunResult, goal: Objective, window: tuple[int, int]) -> Feasibility:
    """A run over the requests ``window`` = [first, one past last), whose token gaps ``inputs`` had kept.

    Latencies count every request that arrived in the window, refused and unfinished ones as infinite.
    """
    return feasibility_of(Waited(inputs, run, goal, window))


def feasibility_of(waited: Waited) -> Feasibility:
    """``feasibility`` by what the window's requests waited for."""
    return Feasibility(judge(waited.goal, waited), window_stability(waited))


def window_stability(waited: Waited) -> Stability:
    """``stability`` of the window's finished requests; unstable outright where one never finished."""
    counts, sums = waited.tally.counts, waited.tally.sums
    if counts["unfinished"]:
        return Stability(False, float("inf"), 0.0, judged=True)
    if sums is None:
        parts = (_delays(waited, piece) for piece in pieces(len(waited)))
        return stability_of_parts(counts["finished"], parts)
    early, late = (sums[EARLY_ARRIVALS], sums[EARLY_DELAYS]), (sums[LATE_ARRIVALS], sums[LATE_DELAYS])
    return stability_of_sums(counts["finished"], early, late, sums[SUM_OF_ALONE])


def _delays(waited: Waited, piece: slice) -> tuple[Int64, Int64, Int64]:
    """Arrivals, delays and times alone of those that finished."""
    latencies, first = waited.latencies.part(piece), waited.window[0] + piece.start
    lone = _lone_e2e_ps(waited.inputs, waited.run, latencies, slice(first, first + len(latencies)))
    done = latencies.finished
    lone = lone if done is latencies else lone[latencies.done]
    return done.arrival_ps, done.e2e_ps - lone, lone


def _lone_e2e_ps(inputs: ClusterInputs, run: RunResult, latencies: Latencies, part: slice) -> Int64:
    """Each request's time alone on the replicas that served it; of one that did not finish it says nothing."""
    columns = latencies.prompt_tokens, latencies.cached_prompt_tokens, latencies.output_tokens
    pools = {replica.pool: replica for replica in inputs.replicas}
    alone = {pool: lone_times(replica.curve, replica.stages, *columns) for pool, replica in pools.items()}
    if len({(id(replica.curve), replica.stages) for replica in pools.values()}) == 1:
        return next(iter(alone.values())).e2e_ps
    pool_of = np.array([replica.pool for replica in inputs.replicas])
    prefill, decode = pool_of[run.requests.prefill_replica[part]], pool_of[run.requests.decode_replica[part]]
    total = np.zeros(len(latencies), np.int64)
    for pool, times in alone.items():
        total += np.where(prefill == pool, times.ttft_ps, 0)
        total += np.where(decode == pool, times.decode_ps, 0)
    return total
