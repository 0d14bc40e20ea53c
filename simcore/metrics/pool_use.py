"""How each pool's replicas spent a run: where their time went, MFU, MBU, bubbles, KV memory, NIC."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from itertools import accumulate

from simcore.catalogue import resolve_machine
from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import BubbleCause, RunResult
from simcore.evaluation import PhaseResult, PoolResult
from simcore.fleet import pool_machines
from simcore.latency.curve import PS_PER_S, BatchKind
from simcore.metrics.efficiency import Work, efficiencies
from simcore.spec import Case

PHASES = tuple(kind.name.lower() for kind in BatchKind)
COUNTERS = tuple(field.name for field in fields(Work))


@dataclass(frozen=True)
class PoolUse:
    """A pool's shares of its replicas' time (first arrival to the end of the run), and its peaks."""

    result: PoolResult
    kv_peak_tokens: int
    """Of the fullest replica."""
    kv_capacity_tokens: int
    """Of one replica."""


def pool_uses(case: Case, inputs: ClusterInputs, run: RunResult) -> list[PoolUse]:
    """One entry a pool, in the case's order, which is that of the replicas."""
    sizes = Counter(replica.pool for replica in inputs.replicas)
    ends = list(accumulate((sizes[i] for i in range(len(case.pools))), initial=0))
    return [_pool_use(case, inputs, run, i, slice(*ends[i : i + 2])) for i in range(len(case.pools))]


def run_ps(inputs: ClusterInputs, run: RunResult) -> int:
    """From the first arrival to the end of the last iteration: the last finish, unless requests are left over."""
    return max(run.busy_until_ps - int(inputs.arrival_ps[0]), 0)


def _pool_use(case: Case, inputs: ClusterInputs, run: RunResult, index: int, members: slice) -> PoolUse:
    pool, replicas = case.pools[index], run.replicas
    count = members.stop - members.start
    replica_ps = max(run_ps(inputs, run) * count, 1)
    stage_ps = replica_ps * pool.pipeline_parallel
    peak = int(replicas.kv_peak_tokens[members].max(initial=0))
    capacity = min((it.kv_blocks for it in inputs.replicas[members]), default=0) * inputs.scheduler.block_tokens
    busy_ps = replicas.busy_ps[members].sum(axis=0).tolist()
    works = _works(run, members)
    bubbles = replicas.bubble_ps[members, : pool.pipeline_parallel].sum(axis=0) / replica_ps
    shares = {
        **{name: ps / stage_ps for name, ps in zip(PHASES, busy_ps, strict=True)},
        "bubble": float(bubbles.sum()) / pool.pipeline_parallel,
        "blocked": float(replicas.blocked_ps[members].sum()) / stage_ps,
        "transfer_wait": float(replicas.transfer_wait_ps[members].sum()) / stage_ps,
    }
    times_s = [_accelerator_s(ps, pool.tensor_parallel) for ps in busy_ps]
    (mfu, mbu), by_kind = efficiencies(case, pool, works, times_s, _accelerator_s(stage_ps, pool.tensor_parallel))
    result = PoolResult(
        role=pool.role,
        machine=resolve_machine(pool.machine).id,
        machines=pool_machines(pool),
        replicas=count,
        busy=sum(busy_ps) / stage_ps,
        **shares,
        idle=max(1.0 - sum(shares.values()), 0.0),
        mfu=mfu,
        mbu=mbu,
        kv_peak_share=peak / capacity if capacity else 0.0,
        nic_busy=min(float(replicas.nic_busy_ps[members].sum()) / replica_ps, 1.0),
        padding=_padding(run, members),
        bubbles=tuple({cause.name.lower(): float(stage[cause]) for cause in BubbleCause} for stage in bubbles),
        phases=tuple(
            PhaseResult(name, ps / stage_ps, *of_kind)
            for name, ps, of_kind in zip(PHASES, busy_ps, by_kind, strict=True)
        ),
    )
    return PoolUse(result, peak, capacity)


def _accelerator_s(stage_ps: int, tensor_parallel: int) -> float:
    """Seconds of single accelerators in so much time of stages."""
    return stage_ps / PS_PER_S * tensor_parallel


def _works(run: RunResult, members: slice) -> list[Work]:
    """The engine's counters of a pool's batches, by kind."""
    counters = [getattr(run.replicas, name)[members].sum(axis=0).tolist() for name in COUNTERS]
    return [Work(*of_kind) for of_kind in zip(*counters, strict=True)]


def _padding(run: RunResult, members: slice) -> float:
    """Tokens computed for nobody over all tokens computed."""
    counts = run.replicas
    padding = int(counts.padding_tokens[members].sum())
    useful = int(counts.prefill_tokens[members].sum() + counts.decode_tokens[members].sum())
    return padding / max(padding + useful, 1)
