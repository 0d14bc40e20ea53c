"""What money takes of a design beside its answer: how the time of mixed batches splits, what it finishes at saturation.

- **Mixed batches**: from the log of all micro-batches of the run at the rate. One of p prompt tokens and d decodes that
  takes t would take, without the prompts, g_decode(d) + d x (s + b x mean context), and without the decodes
  g_prefill(p) and the attention that is left of t; t is split in the ratio of the two. The mean context is that of
  the workload's decode steps. Padding counts as prompts.
- **SLO attainment**: at the rate, the share of requests within the limit of every metric at its highest percentile
  (of an attainment, within both), the same request all of them; refused and unfinished ones are within none. TBT over
  gaps is no request's: of it the share of gaps within counts, where that is less.
- **Saturation**: the same requests at ``OVERLOAD`` times the capacity under the SLO, measured between the finishes of
  the first and the last tenth: requests a second while it is never without work, whatever the latency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.capacity.probes import Prober
from simcore.detail.late import late_by_metric
from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import FINISHED, IterationLog, RunResult
from simcore.evaluation import LimitResult
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.latency.curve import PS_PER_S, BatchKind, IterationCurve
from simcore.simulation import EngineName, engine
from simcore.slo.latencies import Latencies
from simcore.slo.objective import Objective
from simcore.spec import Case
from simcore.traces import Trace

OVERLOAD = 3.0
FROM, TO = 0.1, 0.9
"""Shares of the finishes."""
Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


def costing(
    case: Case, trace: Trace, rate_req_per_s: float, capacity_req_per_s: float, name: EngineName = "fast"
) -> dict[str, Any]:
    """Plain JSON. SpecError where the case cannot run."""
    prober = Prober.of(case, trace, case.seed, name)
    probe = prober.probe(rate_req_per_s)
    inputs = replace(probe.inputs, log_ps=(0, np.iinfo(np.int64).max))
    log = engine(name)(inputs).log
    assert log is not None  # noqa: S101 - it was asked for
    statistics = WorkloadStatistics.of(probe.load)
    busy = prober.probe(OVERLOAD * capacity_req_per_s)
    return {
        "rate_req_per_s": rate_req_per_s,
        "mean_w": probe.result.mean_w,
        "busy": [
            {"prefill": pool.prefill, "decode": pool.decode, "hybrid": pool.hybrid} for pool in probe.result.pools
        ],
        "prompt_share_of_mixed": prompt_shares(inputs, log, mean_context(statistics), len(case.pools)),
        "slo_attainment": attainment(probe.goal, probe.latencies, probe.summary.slo.limits),
        "saturation_req_per_s": finished_per_s(busy.run),
        "new_prompt_tokens": statistics.prompt_tokens,
        "cached_prompt_tokens": float(probe.load.cached_prompt_tokens.mean()),
        "output_tokens": statistics.decode_tokens + 1,
    }


def attainment(goal: Objective, latencies: Latencies, limits: Sequence[LimitResult]) -> float:
    """Of the window's requests; 1 of none."""
    late = np.zeros(len(latencies), bool)
    for one, _ in late_by_metric(goal, latencies, limits):
        late |= one
    requests = 1 - float(late.mean()) if len(late) else 1.0
    gaps = [limit.limit for limit in limits if limit.metric == "tbt_s"]
    return min(requests, _gaps_within(latencies, max(gaps))) if gaps else requests


def _gaps_within(latencies: Latencies, limit_s: float) -> float:
    """The share of the gaps due, by halving: those that never came are beyond."""
    low, high = 0, latencies.gaps.total
    while low < high:
        rank = (low + high + 1) // 2
        within = latencies.gaps.at_ranks([rank])[0] <= limit_s * PS_PER_S
        low, high = (rank, high) if within else (low, rank - 1)
    return low / latencies.gaps_due if latencies.gaps_due else 1.0


def mean_context(statistics: WorkloadStatistics) -> float:
    """Cached tokens that a decode step reads."""
    steps = statistics.decode_tokens
    return statistics.decode_context_tokens / steps if steps else 0.0


def prompt_shares(inputs: ClusterInputs, log: IterationLog, context: float, pools: int) -> list[float | None]:
    """Of each pool's time in mixed batches, the prompts' share; None where it has none."""
    pool_of = np.array([replica.pool for replica in inputs.replicas])
    shares: list[float | None] = []
    for pool in range(pools):
        mine = (log.kind == BatchKind.HYBRID) & (pool_of[log.replica] == pool)
        curve = next(replica.curve for replica in inputs.replicas if replica.pool == pool)
        shares.append(_prompt_share(curve, log, mine, context) if mine.any() else None)
    return shares


def finished_per_s(run: RunResult) -> float:
    """Between the finishes of the first and the last tenth; 0 where too few finish at different times."""
    finishes = np.sort(run.requests.finish_ps[run.requests.status == FINISHED])
    first, last = int(FROM * len(finishes)), int(TO * len(finishes))
    if last <= first or finishes[last] == finishes[first]:
        return 0.0
    return (last - first) * PS_PER_S / float(finishes[last] - finishes[first])


def _prompt_share(curve: IterationCurve, log: IterationLog, mine: NDArray[np.bool_], context: float) -> float:
    """Time-weighted."""
    time = (log.end_ps - log.start_ps)[mine].astype(float)
    tokens, decodes = log.tokens[mine], log.decodes[mine]
    a_decode = curve.decode_seq_ps + curve.context_ps * context
    decode_alone = _base(curve, BatchKind.DECODE, decodes) + decodes * a_decode
    attention = np.maximum(time - _base(curve, BatchKind.HYBRID, tokens) - decodes * a_decode, 0)
    prefill_alone = _base(curve, BatchKind.PREFILL, tokens - decodes) + attention
    return float((time * prefill_alone / (prefill_alone + decode_alone)).sum() / time.sum())


def _base(curve: IterationCurve, kind: BatchKind, tokens: Int64) -> Float64:
    """``IterationCurve.base_ps`` of each."""
    different, which = np.unique(tokens, return_inverse=True)
    return np.array(_bases(curve, kind, different.tolist()), float)[which]


def _bases(curve: IterationCurve, kind: BatchKind, tokens: Sequence[int]) -> list[int]:
    return [curve.base_ps(kind, n) for n in tokens]
