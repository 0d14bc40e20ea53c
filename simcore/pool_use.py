"""How each pool's replicas spent a run: where their time went, MFU, MBU, bubbles, KV memory, NIC."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from simcore.catalogue import resolve_machine
from simcore.efficiency import Work, efficiency
from simcore.engine.inputs import ClusterInputs, Int64
from simcore.engine.outputs import BubbleCause, RunResult
from simcore.evaluation import PhaseResult, PoolResult
from simcore.fleet import pool_machines
from simcore.latency.curve import PS_PER_S, BatchKind
from simcore.spec import Case

PHASES = tuple(kind.name.lower() for kind in BatchKind)


@dataclass(frozen=True)
class PoolUse:
    """A pool's shares of its replicas' time (first arrival to the end of the run), and its peaks."""

    result: PoolResult
    kv_peak_tokens: int
    """Of the fullest replica."""
    kv_capacity_tokens: int
    """Of one replica."""


def pool_uses(case: Case, inputs: ClusterInputs, run: RunResult) -> list[PoolUse]:
    """One entry a pool, in the case's order."""
    pool_of = np.array([replica.pool for replica in inputs.replicas])
    return [_pool_use(case, inputs, run, i, np.flatnonzero(pool_of == i)) for i in range(len(case.pools))]


def run_ps(inputs: ClusterInputs, run: RunResult) -> int:
    """From the first arrival to the end of the last iteration: the last finish, unless requests are left over."""
    return max(run.busy_until_ps - int(inputs.arrival_ps[0]), 0)


def _pool_use(case: Case, inputs: ClusterInputs, run: RunResult, index: int, members: Int64) -> PoolUse:
    pool, replicas = case.pools[index], run.replicas
    replica_ps = max(run_ps(inputs, run) * len(members), 1)
    stage_ps = replica_ps * pool.pipeline_parallel
    peak = int(replicas.kv_peak_tokens[members].max(initial=0))
    capacity = min((inputs.replicas[i].kv_blocks for i in members), default=0) * inputs.scheduler.block_tokens
    busy_ps = [int(kind) for kind in replicas.busy_ps[members].sum(axis=0)]
    works = [_work(run, members, kind) for kind in BatchKind]
    bubbles = replicas.bubble_ps[members, : pool.pipeline_parallel].sum(axis=0) / replica_ps
    shares = {
        **{name: ps / stage_ps for name, ps in zip(PHASES, busy_ps, strict=True)},
        "bubble": float(bubbles.sum()) / pool.pipeline_parallel,
        "blocked": float(replicas.blocked_ps[members].sum()) / stage_ps,
        "transfer_wait": float(replicas.transfer_wait_ps[members].sum()) / stage_ps,
    }
    mfu, mbu = efficiency(case, pool, works, _accelerator_s(stage_ps, pool.tensor_parallel))
    result = PoolResult(
        role=pool.role,
        machine=resolve_machine(pool.machine).id,
        machines=pool_machines(pool),
        replicas=len(members),
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
            PhaseResult(name, ps / stage_ps, *efficiency(case, pool, [work], _accelerator_s(ps, pool.tensor_parallel)))
            for name, ps, work in zip(PHASES, busy_ps, works, strict=True)
        ),
    )
    return PoolUse(result, peak, capacity)


def _accelerator_s(stage_ps: int, tensor_parallel: int) -> float:
    """Seconds of single accelerators in so much time of stages."""
    return stage_ps / PS_PER_S * tensor_parallel


def _work(run: RunResult, members: Int64, kind: BatchKind) -> Work:
    """The engine's counters of a pool's batches of one kind."""
    return Work(**{field.name: int(getattr(run.replicas, field.name)[members, kind].sum()) for field in fields(Work)})


def _padding(run: RunResult, members: Int64) -> float:
    """Tokens computed for nobody over all tokens computed."""
    counts = run.replicas
    padding = int(counts.padding_tokens[members].sum())
    useful = int(counts.prefill_tokens[members].sum() + counts.decode_tokens[members].sum())
    return padding / max(padding + useful, 1)
