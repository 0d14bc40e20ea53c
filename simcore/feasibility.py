"""Whether a run holds: its window is stable and the SLO met. All that a search asks of most runs, without a summary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simcore.binding import pressure
from simcore.engine.inputs import ClusterInputs, Int64
from simcore.engine.outputs import FINISHED, UNFINISHED, RunResult
from simcore.latencies import Latencies, pieces
from simcore.lone import lone_times
from simcore.slo import Objective, SloOutcome, check
from simcore.stability import Stability, stability_of_parts

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
    latencies = window_latencies(inputs, run, window)
    return Feasibility(check(goal, latencies), window_stability(inputs, run, latencies, window))


def window_latencies(inputs: ClusterInputs, run: RunResult, window: tuple[int, int]) -> Latencies:
    """The window's requests; a request that did not finish is infinite in everything."""
    part, requests = slice(*window), run.requests
    output = inputs.output_tokens[part]
    return Latencies(
        arrival_ps=inputs.arrival_ps[part],
        prompt_tokens=inputs.prompt_tokens[part],
        cached_prompt_tokens=inputs.cached_prompt_tokens[part],
        output_tokens=output,
        first_scheduled_ps=requests.first_scheduled_ps[part],
        first_token_ps=requests.first_token_ps[part],
        finish_ps=requests.finish_ps[part],
        done=requests.status[part] == FINISHED,
        gaps=run.gaps,
        gaps_due=int(output.sum()) - len(output),
    )


def window_stability(inputs: ClusterInputs, run: RunResult, latencies: Latencies, window: tuple[int, int]) -> Stability:
    """``stability`` of the window's finished requests; unstable outright where one never finished."""
    if not latencies.all_done and np.any(run.requests.status[slice(*window)] == UNFINISHED):
        return Stability(False, float("inf"), 0.0, judged=True)
    parts = (_delays(inputs, run, latencies.part(piece), window[0] + piece.start) for piece in pieces(len(latencies)))
    return stability_of_parts(int(np.count_nonzero(latencies.done)), parts)


def _delays(inputs: ClusterInputs, run: RunResult, latencies: Latencies, first: int) -> tuple[Int64, Int64, Int64]:
    """Arrivals, delays and times alone of those that finished."""
    lone, done = _lone_e2e_ps(inputs, run, latencies, slice(first, first + len(latencies))), latencies.finished
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
