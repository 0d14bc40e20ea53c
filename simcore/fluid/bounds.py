"""Bounds without simulation: what the work alone costs, latency and memory only. Imports no engine.

Each function is a closed form over a pool's ``IterationCurve``; a study of bounds takes milliseconds, so the web
process may call them while a form is being filled in.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import mul
from weakref import WeakKeyDictionary

import numpy as np

from simcore.catalogue import resolve_machine, resolve_model
from simcore.fleet import replica_count
from simcore.fluid.lone import lone_times
from simcore.fluid.phase_work import BatchLimits, RequestWork, phase_works
from simcore.fluid.workload_statistics import WorkloadStatistics as WorkloadStatistics
from simcore.latency.compile import compile_curve
from simcore.latency.curve import PS_PER_S, IterationCurve
from simcore.memory import kv_capacity
from simcore.scheduler_defaults import BATCH_SIZES
from simcore.spec import AUTO, MOST_AUTO_BUDGET, Case, LatencySpec, Machine, Model, PoolSpec, SchedulerSpec

MAX_BATCH_TOKENS = 2048
"""The most tokens that any scheduler kind batches by default, unless one prompt is longer."""
MAX_BATCH_SIZE = 512
"""The most sequences that any scheduler kind batches by default."""
HYBRID_KINDS = ("sarathi", "vllm_v1", "orca", "splitwise", "splitwise_baseline")
UNBUDGETED_KINDS = ("orca", "request_level")
"""Their batches take whole prompts, as many as there are places."""
_known: WeakKeyDictionary[WorkloadStatistics, dict[tuple[IterationCurve, BatchLimits], list[RequestWork]]] = (
    WeakKeyDictionary()
)
"""Prices found already, as long as the workload is in use: the designs of a study share few kinds of pools."""
ON_DEMAND_KINDS = ("sarathi", "vllm", "vllm_v1")
"""Their decodes take memory as tokens appear, unless ``memory.reservation`` says otherwise."""


@dataclass(frozen=True)
class LoneRequest:
    """One request with a machine to itself."""

    first_token_s: float
    token_s: float
    """Mean of the later tokens; 0 with one output token."""


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


def work_machines(
    model: Model,
    machine: Machine,
    latency: LatencySpec,
    statistics: WorkloadStatistics,
    rate_req_per_s: float,
    tensor_parallel: int,
    pipeline_parallel: int = 1,
    batch_size: int = MAX_BATCH_SIZE,
    kv_tokens: int | None = None,
) -> PhaseMachines:
    """Machines whose whole time the rate's prefill and decode work takes, each phase in batches of its own kind.

    ``batch_size`` is the largest decode batch to count on, ``kv_tokens`` what its requests may hold together: less of
    either asks for more decode machines.
    """
    curve = compile_curve(model, machine, tensor_parallel, pipeline_parallel, latency)
    tokens = max(MAX_BATCH_TOKENS, statistics.longest_prompt_tokens)
    work = _priced(statistics, curve, BatchLimits(tokens, 0, batch_size, kv_tokens))[0]
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
    return fluid_bound(case, statistics).rate([replica_count(pool) for pool in case.pools])


@dataclass(frozen=True)
class FluidBound:
    """What the pools of a case can do at most, whatever their sizes: linear in the replicas, several times over."""

    rows: tuple[tuple[float, ...], ...]
    """Each row by itself is a bound: requests/s a replica, by pool."""

    @classmethod
    def of(cls, works: Sequence[Sequence[RequestWork]]) -> FluidBound:
        """From each pool's prices (infinite: not done there), of which any one may be taken in each pool."""
        rows = [row for choice in itertools.product(*works) for row in _rows(choice)]
        return cls(tuple(dict.fromkeys(rows)))

    def rate(self, replicas: Sequence[int]) -> float:
        """The highest rate, in requests/s, that so many replicas of each pool may sustain."""
        return min(float(sum(map(mul, row, replicas))) for row in self.rows)

    def least(self, rate_req_per_s: float, each: Sequence[float]) -> float:
        """What replicas that sustain the rate come to at least, in parts of a replica, where one of each pool comes to
        so much (dollars, machines, watts): by each row the pool that earns the most for it does all."""
        return max(min(part / earned if earned else math.inf for earned, part in zip(row, each, strict=True))
                   for row in self.rows) * rate_req_per_s  # fmt: skip


def fluid_bound(case: Case, statistics: WorkloadStatistics) -> FluidBound:
    """The bound of a case's pools. SpecError where it cannot be compiled."""
    capacities = [_kv_tokens(case, pool) for pool in case.pools]
    served = statistics.fitting(min(capacities))
    pools = zip(case.pools, capacities, strict=True)
    return FluidBound.of([_pool_works(case, pool, served, kv) for pool, kv in pools])


def _rows(works: Sequence[RequestWork]) -> Iterator[tuple[float, ...]]:
    """What a replica of each pool earns at most when a request's phases are paid by an exchange rate of prefill for
    decode, both together 1.

    The pools' earnings bound the requests, whatever the exchange rate (linear programming's duality); the least of them
    is at one where some pool is equally good at both phases, or where one phase alone is paid.
    """
    pairs = [(work.prefill_s, work.decode_s) for work in works]
    for prefill, decode in [*pairs, (1.0, 0.0), (0.0, 1.0)]:
        both = prefill + decode
        if both and math.isfinite(both):
            yield tuple(
                max(_earned(prefill / both, work.prefill_s), _earned(decode / both, work.decode_s)) for work in works
            )


def _earned(pay: float, seconds: float) -> float:
    """A replica's earnings a second when it does nothing else."""
    if not pay:
        return 0.0
    return pay / seconds if seconds else math.inf


def _pool_works(case: Case, pool: PoolSpec, statistics: WorkloadStatistics, kv_tokens: int) -> list[RequestWork]:
    model, scheduler = resolve_model(case.model), case.scheduler
    machine = resolve_machine(pool.machine)
    parallel = (pool.tensor_parallel, pool.pipeline_parallel)
    curve = compile_curve(model, machine, *parallel, pool.latency or case.latency)
    both = pool.role == "mixed" or scheduler.mixed_pool
    tokens, size = _batch_tokens(scheduler, statistics), _batch_size(scheduler, pool.pipeline_parallel)
    if scheduler.kind in UNBUDGETED_KINDS:
        tokens = size * statistics.longest_request_tokens
    limits = BatchLimits(
        prefill_tokens=tokens,
        hybrid_tokens=_hybrid_tokens(scheduler, tokens, size) if both else 0,
        sequences=size,
        kv_tokens=kv_tokens,
        whole_outputs=_reserves_outputs(case),
        windowed_share=model.windowed_layers / model.layers,
        window_tokens=model.window_tokens or 0,
    )
    works = _priced(statistics, curve, limits)
    if both:
        return works
    if pool.role == "prefill":
        return [RequestWork(works[0].prefill_s, math.inf)]
    return [RequestWork(math.inf, works[0].decode_s)]


def _priced(statistics: WorkloadStatistics, curve: IterationCurve, limits: BatchLimits) -> list[RequestWork]:
    known = _known.setdefault(statistics, {})
    if (curve, limits) not in known:
        known[curve, limits] = phase_works(curve, statistics, limits)
    return known[curve, limits]


def _kv_tokens(case: Case, pool: PoolSpec) -> int:
    """The most tokens that one replica holds."""
    machine, parallel = resolve_machine(pool.machine), (pool.tensor_parallel, pool.pipeline_parallel)
    return kv_capacity(resolve_model(case.model), machine, *parallel, case.memory).tokens


def _reserves_outputs(case: Case) -> bool:
    """Whether a decode's whole output is reserved from its start on (``memory.reservation``)."""
    if case.memory.reservation is not None:
        return case.memory.reservation != "on_demand"
    return case.scheduler.kind not in ON_DEMAND_KINDS


def _batch_tokens(scheduler: SchedulerSpec, statistics: WorkloadStatistics) -> int:
    """No batch of prompts has more tokens: a budget that prompts are cut to, or what whole prompts come to."""
    if scheduler.has_token_budget:
        given = MOST_AUTO_BUDGET if scheduler.token_budget == AUTO else scheduler.token_budget
        return given or scheduler.max_batch_tokens or MAX_BATCH_TOKENS
    return max(scheduler.max_batch_tokens or MAX_BATCH_TOKENS, statistics.longest_request_tokens)


def _batch_size(scheduler: SchedulerSpec, stages: int) -> int:
    """No micro-batch decodes more sequences."""
    size = scheduler.max_batch_size or BATCH_SIZES[scheduler.kind]
    return size if scheduler.kind in UNBUDGETED_KINDS else max(size // stages, 1)


def _hybrid_tokens(scheduler: SchedulerSpec, tokens: int, size: int) -> int:
    """No batch of prompts and decodes has more tokens; 0 for kinds that never mix them."""
    if scheduler.kind not in HYBRID_KINDS:
        return 0
    return tokens if scheduler.has_token_budget else tokens + size
