"""What each limit of an SLO comes to where every request is alone: the end of the curves of limits over rates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simcore.catalogue import resolve_machine, resolve_model
from simcore.evaluation import LimitResult
from simcore.fluid.lone import LoneTimes, lone_times
from simcore.latency.compile import compile_curve
from simcore.slo.distribution import percentiles_of_own, rank
from simcore.slo.objective import Objective
from simcore.spec import Case
from simcore.traces import PS_PER_S, Trace

Values = NDArray[np.float64]
PREFILLS, DECODES = ("prefill", "mixed"), ("decode", "mixed")


def unloaded_limits(case: Case, goal: Objective, load: Trace, limits: Sequence[LimitResult]) -> tuple[LimitResult, ...]:
    """The limits that are percentiles, as they would come out with nobody else in the cluster.

    A prompt in one iteration of its prefill pool, its tokens in one each of its decode pool; no KV transfer. A gap
    between tokens counts as its request's mean gap. An attainment's share is left out.
    """
    prefill, decode = (_alone(case, roles, load) for roles in (PREFILLS, DECODES))
    steps = load.output_tokens - 1
    several = steps > 0
    times = {
        "ttft": prefill.ttft_ps / PS_PER_S,
        "e2e": (prefill.ttft_ps + decode.decode_ps) / PS_PER_S,
        "queue": np.zeros(len(load)),
        "tpot": decode.decode_ps[several] / steps[several] / PS_PER_S,
    }
    times["tbt"] = times["tpot"]
    if goal.reference is not None:
        reference = lone_times(goal.reference, 1, load.prompt_tokens, load.cached_prompt_tokens, load.output_tokens)
        times["ttft"] = prefill.ttft_ps / np.maximum(reference.ttft_ps, 1)
        times["e2e"] = (prefill.ttft_ps + decode.decode_ps) / np.maximum(reference.e2e_ps, 1)
        times["tbt"] = decode.decode_ps[several] / np.maximum(reference.decode_ps[several], 1)
    gaps = steps[several]
    return tuple(
        _result(limit, _value(times, limit.metric, limit.percentile, gaps)) for limit in limits if limit.percentile
    )


def _alone(case: Case, roles: Sequence[str], load: Trace) -> LoneTimes:
    pool = next(pool for pool in case.pools if pool.role in roles)
    curve = compile_curve(
        resolve_model(case.model),
        resolve_machine(pool.machine),
        pool.tensor_parallel,
        pool.pipeline_parallel,
        pool.latency or case.latency,
    )
    columns = (load.prompt_tokens, load.cached_prompt_tokens, load.output_tokens)
    return lone_times(curve, pool.pipeline_parallel, *columns)


def _value(times: dict[str, Values], metric: str, percentile: float, gaps: NDArray[np.int64]) -> float:
    """A metric's percentile: ``tbt_s`` over all gaps, all else over requests; 0 where none has any."""
    values = times[metric.partition("_")[0]]
    if not len(values):
        return 0.0
    if metric != "tbt_s":
        return percentiles_of_own(values.copy(), [percentile])[0]
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(gaps[order])
    return float(values[order[np.searchsorted(upto, rank(percentile, int(upto[-1])))]])


def _result(limit: LimitResult, value: float) -> LimitResult:
    return LimitResult(limit.metric, limit.percentile, limit.limit, value, value <= limit.limit)
