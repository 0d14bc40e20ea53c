"""How each pool's replicas spent a run: time by phase, MFU, MBU, KV memory, NIC."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simcore.catalogue import resolve_accelerator, resolve_machine, resolve_model
from simcore.engine.inputs import ClusterInputs, Int64
from simcore.engine.outputs import RunResult
from simcore.evaluation import PoolResult
from simcore.fleet import pool_machines
from simcore.latency.curve import PS_PER_S
from simcore.memory import kv_bytes_per_token
from simcore.shapes import (
    active_parameters,
    distinct_experts_share,
    embedding_parameters,
    expert_bytes,
    expert_layers,
    layer_parameters,
    pair_flops,
    routed_parameters,
)
from simcore.spec import PRECISION_BYTES, Accelerator, Case, Model, PoolSpec

FLOPS_PER_WEIGHT = 2


@dataclass(frozen=True)
class PoolUse:
    """A pool's shares of its replicas' time (first arrival to last finish), and its peaks."""

    result: PoolResult
    transfer_wait: float
    padding: float
    """Tokens computed for nobody over all tokens computed."""
    kv_peak_tokens: int
    """Of the fullest replica."""
    kv_capacity_tokens: int
    """Of one replica."""


@dataclass(frozen=True)
class Counters:
    """The engine's counters of one pool, summed over its replicas."""

    prefill_tokens: int
    decode_tokens: int
    prefill_pairs: int
    chunk_read_tokens: int
    context_tokens: int
    iterations: int
    prompts: int


def pool_uses(case: Case, inputs: ClusterInputs, run: RunResult, duration_ps: int) -> list[PoolUse]:
    """One entry a pool, in the case's order. ``duration_ps``: first arrival to last finish."""
    pool_of = np.array([replica.pool for replica in inputs.replicas])
    return [_pool_use(case, inputs, run, duration_ps, i, np.flatnonzero(pool_of == i)) for i in range(len(case.pools))]


def model_flops(model: Model, counters: Counters) -> float:
    """FLOPs of the model's own work.

    2 x layer parameters for each new token (of the experts those that it takes) + 2 x h x V for each token sampled
    (decodes, and one a prompt) + in each layer 4 x heads x head_dim for each attended pair (mla: as its heads attend,
    latents unfolded). Recomputed and padded tokens count only where the model saw them as tokens (recomputed yes,
    padded no); embedding look-ups, norms and activations do not.
    """
    tokens = counters.prefill_tokens + counters.decode_tokens
    sampled = counters.decode_tokens + counters.prompts
    pairs = counters.prefill_pairs + counters.context_tokens + counters.decode_tokens
    matrices = FLOPS_PER_WEIGHT * (active_parameters(model) * tokens + embedding_parameters(model) * sampled)
    return float(matrices + pair_flops(model) * _over_layers(model, pairs, tokens))


def model_bytes(model: Model, kv_bytes: float, counters: Counters) -> float:
    """Bytes that the model's own work moves: weights (without the input embedding) once a micro-batch, of the experts
    those expected of its tokens' mean number; KV of every cached token read for a chunk or a decode, KV of every new
    token written. Copies on several accelerators count once."""
    written = counters.prefill_tokens + counters.decode_tokens
    chunks = _over_layers(model, counters.chunk_read_tokens, counters.iterations)
    decodes = _over_layers(model, counters.context_tokens, counters.decode_tokens)
    weights = _read_weights(model, written / max(counters.iterations, 1))
    return counters.iterations * weights + kv_bytes * ((chunks + decodes) / model.layers + written)


def _read_weights(model: Model, tokens: float) -> float:
    experts = expert_layers(model) * routed_parameters(model)
    others = layer_parameters(model) - experts + embedding_parameters(model)
    read = distinct_experts_share(model, tokens) * experts * expert_bytes(model)
    return read + others * PRECISION_BYTES[model.weight_precision]


def _over_layers(model: Model, attended: int, windows: int) -> float:
    """Cached tokens summed over the layers: in windowed ones at most a window for each decode, chunk or pair's new
    token (taken as full where less came before; one chunk an iteration)."""
    windowed = min(attended, windows * (model.window_tokens or 0))
    return float((model.layers - model.windowed_layers) * attended + model.windowed_layers * windowed)


def peak_flops_per_s(accelerator: Accelerator, model: Model) -> float:
    """Dense peak at the weights' precision; that of bf16 where the accelerator has no figure for it."""
    by_precision = {"fp8": accelerator.fp8_flops_per_s, "fp4": accelerator.fp4_flops_per_s}
    return by_precision.get(model.weight_precision) or accelerator.bf16_flops_per_s


def _pool_use(
    case: Case, inputs: ClusterInputs, run: RunResult, duration_ps: int, index: int, members: Int64
) -> PoolUse:
    pool, replicas = case.pools[index], run.replicas
    stage_ps = max(duration_ps * len(members) * pool.pipeline_parallel, 1)
    prefill, decode, hybrid = (float(x) / stage_ps for x in replicas.busy_ps[members].sum(axis=0))
    busy = prefill + decode + hybrid
    peak = int(replicas.kv_peak_tokens[members].max(initial=0))
    capacity = min((inputs.replicas[i].kv_blocks for i in members), default=0) * inputs.scheduler.block_tokens
    mfu, mbu = _efficiency(case, pool, _counters(run, members), len(members), duration_ps)
    return PoolUse(
        PoolResult(
            role=pool.role,
            machine=resolve_machine(pool.machine).id,
            machines=pool_machines(pool),
            replicas=len(members),
            busy=busy,
            prefill=prefill,
            decode=decode,
            hybrid=hybrid,
            idle=max(1.0 - busy, 0.0),
            blocked=float(replicas.blocked_ps[members].sum()) / stage_ps,
            mfu=mfu,
            mbu=mbu,
            kv_peak_share=peak / capacity if capacity else 0.0,
            nic_busy=float(replicas.nic_busy_ps[members].sum()) / max(duration_ps * len(members), 1),
        ),
        transfer_wait=float(replicas.transfer_wait_ps[members].sum()) / stage_ps,
        padding=_padding(run, members),
        kv_peak_tokens=peak,
        kv_capacity_tokens=capacity,
    )


def _padding(run: RunResult, members: Int64) -> float:
    replicas = run.replicas
    padding = int(replicas.padding_tokens[members].sum())
    useful = int(replicas.prefill_tokens[members].sum() + replicas.decode_tokens[members].sum())
    return padding / max(padding + useful, 1)


def _counters(run: RunResult, members: Int64) -> Counters:
    replicas = run.replicas
    started = np.isin(run.requests.prefill_replica, members) & (run.requests.first_token_ps >= 0)

    def total(column: Int64) -> int:
        return int(column[members].sum())

    return Counters(
        prefill_tokens=total(replicas.prefill_tokens),
        decode_tokens=total(replicas.decode_tokens),
        prefill_pairs=total(replicas.prefill_pairs),
        chunk_read_tokens=total(replicas.chunk_read_tokens),
        context_tokens=total(replicas.context_tokens),
        iterations=total(replicas.iterations),
        prompts=int(np.count_nonzero(started)),
    )


def _efficiency(case: Case, pool: PoolSpec, counters: Counters, replicas: int, duration_ps: int) -> tuple[float, float]:
    """MFU and MBU over all time of the pool's accelerators, busy or idle."""
    model = resolve_model(case.model)
    accelerator = resolve_accelerator(resolve_machine(pool.machine))
    kv_bytes = case.memory.kv_bytes_per_token or kv_bytes_per_token(model)
    seconds = max(replicas * pool.tensor_parallel * pool.pipeline_parallel * duration_ps / PS_PER_S, 1e-12)
    flops = model_flops(model, counters) / (peak_flops_per_s(accelerator, model) * seconds)
    moved = model_bytes(model, kv_bytes, counters) / (accelerator.memory_bandwidth_bytes_per_s * seconds)
    return flops, moved
