"""Bounds without simulation: what the work alone costs, latency and memory only. Imports no engine.

Each function is a closed form over a pool's ``IterationCurve``; a study of bounds takes milliseconds, so the web
process may call them while a form is being filled in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simcore.catalogue import resolve_machine, resolve_model
from simcore.fleet import replica_count
from simcore.latency.compile import compile_curve
from simcore.latency.curve import ATTENTION_FRACTION_BITS, PS_PER_S, BatchKind, IterationCurve
from simcore.lone import lone_times
from simcore.spec import AUTO, MOST_AUTO_BUDGET, Case, LatencySpec, Machine, Model, PoolSpec, SchedulerSpec
from simcore.traces import Trace

MAX_BATCH_TOKENS = 2048
"""The most tokens that any scheduler kind batches by default, unless one prompt is longer."""
MAX_BATCH_SIZE = 512
"""The most sequences that any scheduler kind batches by default."""
SPLIT_KIND = "splitwise"
HYBRID_KINDS = ("sarathi", "vllm_v1", "orca", "splitwise", "splitwise_baseline")
UNBUDGETED_KINDS = ("orca", "request_level")
"""Their batches take whole prompts, as many as there are places."""
BISECTIONS = 60


@dataclass(frozen=True)
class LoneRequest:
    """One request with a machine to itself."""

    first_token_s: float
    token_s: float
    """Mean of the later tokens; 0 with one output token."""


@dataclass(frozen=True)
class WorkloadStatistics:
    """What a mean request of a workload asks for."""

    requests: int
    prompt_tokens: float
    """New ones: without what is cached."""
    decode_tokens: float
    """Output less the first token, which prefill gives."""
    prefill_pairs: float
    """Pairs attended in prefill: c*q + q(q+1)/2."""
    decode_context_tokens: float
    """Cached tokens read, summed over its decode steps."""
    longest_prompt_tokens: int
    longest_request_tokens: int
    """Prompt and output: what a preempted request may have to compute again."""

    @classmethod
    def of(cls, trace: Trace) -> WorkloadStatistics:
        """Means over all requests of a trace."""
        prompt, cached = trace.prompt_tokens.astype(float), trace.cached_prompt_tokens.astype(float)
        new, steps = prompt - cached, trace.output_tokens.astype(float) - 1
        pairs = cached * new + new * (new + 1) / 2
        context = steps * prompt + steps * (steps - 1) / 2
        longest = int((trace.prompt_tokens + trace.output_tokens).max())
        means = [float(column.mean()) for column in (new, steps, pairs, context)]
        return cls(len(trace), means[0], means[1], means[2], means[3], int(trace.prompt_tokens.max()), longest)


@dataclass(frozen=True)
class RequestWork:
    """Least time of one stage that a mean request's phases can take, in seconds, batching at its best."""

    prefill_s: float
    decode_s: float


@dataclass(frozen=True)
class PhaseMachines:
    """Machines that the work alone needs, fractional: no queueing, no SLO, no failures."""

    prefill: float
    decode: float


def lone_request(
    model: Model, machine: Machine, latency: LatencySpec, prompt_tokens: int, output_tokens: int
) -> LoneRequest:
    """A request alone on all accelerators of a machine (TP = accelerators, PP = 1); memory is not checked."""
    curve = compile_curve(model, machine, machine.accelerators, 1, latency)
    one = np.ones(1, np.int64)
    times = lone_times(curve, 1, one * prompt_tokens, one * 0, one * output_tokens)
    steps = max(output_tokens - 1, 1)
    return LoneRequest(int(times.ttft_ps[0]) / PS_PER_S, int(times.decode_ps[0]) / PS_PER_S / steps)


def request_work(
    curve: IterationCurve, statistics: WorkloadStatistics, batch_tokens: int, batch_size: int, hybrid: bool
) -> RequestWork:
    """The least stage time a mean request takes: each token at the cheapest batch that could hold it, and its
    attention.

    prefill = q x min_n g(n)/n + a x pairs; decode = k x (min_n g(n)/n + s) + b x context, with k = output - 1;
    n up to ``batch_tokens`` (prefill) or ``batch_size`` (decode), or both together where batches may be ``hybrid``.
    No schedule does with less: a batch's time is shared by its tokens, the rest of the formula is a sum over requests.
    That supposes that computing a preempted request again takes at least the decode step that it saves, which holds of
    any curve whose prefill of a prompt takes longer than one decode's share of a batch.
    """
    prefill = token_ps(curve, BatchKind.PREFILL, batch_tokens)
    decode = token_ps(curve, BatchKind.DECODE, batch_size)
    if hybrid:
        shared = token_ps(curve, BatchKind.HYBRID, batch_tokens + batch_size)
        prefill, decode = min(prefill, shared), min(decode, shared)
    attention = curve.attention * statistics.prefill_pairs / 2**ATTENTION_FRACTION_BITS
    context = curve.context_ps * statistics.decode_context_tokens
    return RequestWork(
        (statistics.prompt_tokens * prefill + attention) / PS_PER_S,
        (statistics.decode_tokens * (decode + curve.decode_seq_ps) + context) / PS_PER_S,
    )


def token_ps(curve: IterationCurve, kind: BatchKind, most: int) -> float:
    """min over 1 <= n <= most of g_kind(n)/n. On a linear piece g(n)/n is monotone, so its least value is at a knot
    or an end."""
    candidates = {1, most, *(knot for knot in curve.tokens if 1 <= knot <= most)}
    return min(curve.base_ps(kind, n) / n for n in candidates)


def work_machines(
    model: Model,
    machine: Machine,
    latency: LatencySpec,
    statistics: WorkloadStatistics,
    rate_req_per_s: float,
    tensor_parallel: int,
    pipeline_parallel: int = 1,
    batch_size: int = MAX_BATCH_SIZE,
) -> PhaseMachines:
    """Machines whose whole time the rate's prefill and decode work takes, each phase in batches of its own kind.

    ``batch_size`` is the largest decode batch to count on: a smaller one (what KV memory or the TBT limit allows) asks
    for more decode machines.
    """
    curve = compile_curve(model, machine, tensor_parallel, pipeline_parallel, latency)
    tokens = max(MAX_BATCH_TOKENS, statistics.longest_prompt_tokens)
    work = request_work(curve, statistics, tokens, batch_size, hybrid=False)
    each = rate_req_per_s / replicas_a_machine(machine, tensor_parallel, pipeline_parallel)
    return PhaseMachines(each * work.prefill_s, each * work.decode_s)


def replicas_a_machine(machine: Machine, tensor_parallel: int, pipeline_parallel: int) -> float:
    """Replicas that one machine carries; below 1 where one replica spans several machines."""
    per_replica = tensor_parallel * pipeline_parallel
    if per_replica > machine.accelerators:
        return 1 / math.ceil(per_replica / machine.accelerators)
    return machine.accelerators // per_replica


def capacity_bound(case: Case, statistics: WorkloadStatistics) -> float:
    """A rate, in requests/s, that no schedule of the case's kind can sustain more than: its pools' time would run out.

    Pools that may do both phases share them as suits best (comparative advantage), the rest do their own. Infinite
    where iterations take no time. SpecError where the case cannot be compiled.
    """
    return sustainable_rate([_pool_work(case, pool, statistics) for pool in case.pools])


def sustainable_rate(pools: Sequence[tuple[int, RequestWork]]) -> float:
    """The rate at which the time of all pools runs out. A pool: its replicas, and what a mean request's phases take
    there (infinite: not done there)."""
    least = _least_work(pools)
    if not least:
        return math.inf
    fastest = sum(replicas for replicas, _ in pools) / least
    if _can_sustain(pools, fastest):
        return fastest
    low, high = 0.0, fastest
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _can_sustain(pools, middle) else (low, middle)
    return high


def _pool_work(case: Case, pool: PoolSpec, statistics: WorkloadStatistics) -> tuple[int, RequestWork]:
    scheduler = case.scheduler
    curve = compile_curve(
        resolve_model(case.model),
        resolve_machine(pool.machine),
        pool.tensor_parallel,
        pool.pipeline_parallel,
        pool.latency or case.latency,
    )
    size = scheduler.max_batch_size or MAX_BATCH_SIZE
    both = pool.role == "mixed" or scheduler.mixed_pool
    hybrid = scheduler.kind in HYBRID_KINDS and both
    work = request_work(curve, statistics, _batch_tokens(scheduler, statistics, size), size, hybrid)
    if both:
        return replica_count(pool), work
    if pool.role == "prefill":
        return replica_count(pool), RequestWork(work.prefill_s, math.inf)
    return replica_count(pool), RequestWork(math.inf, work.decode_s)


def _batch_tokens(scheduler: SchedulerSpec, statistics: WorkloadStatistics, size: int) -> int:
    """No batch of prompts has more tokens: a budget, or one request that is longer; without a budget ``size`` of the
    longest."""
    longest = statistics.longest_request_tokens
    if scheduler.kind in UNBUDGETED_KINDS:
        return size * longest
    given = MOST_AUTO_BUDGET if scheduler.token_budget == AUTO else scheduler.token_budget
    budgets = [b for b in (scheduler.max_batch_tokens, given) if b is not None]
    return max([MAX_BATCH_TOKENS, longest, *budgets])


def _least_work(pools: Sequence[tuple[int, RequestWork]]) -> float:
    return min(work.prefill_s for _, work in pools) + min(work.decode_s for _, work in pools)


def _can_sustain(pools: Sequence[tuple[int, RequestWork]], rate: float) -> bool:
    """Whether the pools' time holds both phases at the rate: prefill goes first to those that are comparatively best
    at it."""
    prefill_left = decode_left = rate
    for replicas, work in sorted(pools, key=lambda pool: _preference(pool[1])):
        time = float(replicas)
        taken = min(prefill_left, time / work.prefill_s if work.prefill_s else math.inf)
        prefill_left -= taken
        time -= taken * work.prefill_s if math.isfinite(work.prefill_s) else 0.0
        decode_left -= time / work.decode_s if work.decode_s else math.inf
    return prefill_left <= rate * 1e-12 and decode_left <= rate * 1e-12


def _preference(work: RequestWork) -> float:
    if math.isinf(work.decode_s):
        return 0.0
    return work.prefill_s / work.decode_s if work.decode_s else math.inf
