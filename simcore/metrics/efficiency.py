"""MFU and MBU: the share of the accelerators' peak FLOP/s and memory bandwidth that the model's own work used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simcore.catalogue import resolve_accelerator, resolve_machine, resolve_model
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
class Work:
    """What batches of one kind held, counted by the engine (``ReplicaResults``)."""

    prefill_tokens: int
    prompt_ends: int
    decode_tokens: int
    prefill_pairs: int
    chunk_read_tokens: int
    context_tokens: int
    iterations: int


def efficiencies(
    case: Case, pool: PoolSpec, works: Sequence[Work], times_s: Sequence[float], accelerator_s: float
) -> tuple[tuple[float, float], list[tuple[float, float]]]:
    """MFU and MBU of all works over so many seconds of the pool's accelerators, and of each over its own time; 0 in no
    time."""
    model = resolve_model(case.model)
    accelerator = resolve_accelerator(resolve_machine(pool.machine))
    kv_bytes = case.memory.kv_bytes_per_token or kv_bytes_per_token(model)
    flops = [model_flops(model, work) for work in works]
    moved = [model_bytes(model, kv_bytes, work) for work in works]
    peaks = peak_flops_per_s(accelerator, model), accelerator.memory_bandwidth_bytes_per_s
    each = zip(flops, moved, times_s, strict=True)
    return _shares(sum(flops), sum(moved), peaks, accelerator_s), [_shares(f, b, peaks, s) for f, b, s in each]


def _shares(flops: float, moved_bytes: float, peaks: tuple[float, float], seconds: float) -> tuple[float, float]:
    if seconds <= 0:
        return 0.0, 0.0
    return flops / (peaks[0] * seconds), moved_bytes / (peaks[1] * seconds)


def model_flops(model: Model, work: Work) -> float:
    """FLOPs of the model's own work.

    2 x layer parameters for each new token (of the experts those that it takes) + 2 x h x V for each token sampled (a
    decode, or the end of a prompt) + in each layer 4 x heads x head_dim for each attended pair (mla: as its heads
    attend, latents unfolded). Recomputed tokens count, padding does not; nor do embedding look-ups, norms and
    activations.
    """
    tokens = work.prefill_tokens + work.decode_tokens
    sampled = work.decode_tokens + work.prompt_ends
    pairs = work.prefill_pairs + work.context_tokens + work.decode_tokens
    matrices = FLOPS_PER_WEIGHT * (active_parameters(model) * tokens + embedding_parameters(model) * sampled)
    return float(matrices + pair_flops(model) * _over_layers(model, pairs, tokens))


def model_bytes(model: Model, kv_bytes: float, work: Work) -> float:
    """Bytes that the model's own work moves: weights (without the input embedding) once a micro-batch, of the experts
    those expected of its tokens' mean number; KV of every cached token read for a chunk or a decode, KV of every new
    token written. Copies on several accelerators count once."""
    written = work.prefill_tokens + work.decode_tokens
    chunks = _over_layers(model, work.chunk_read_tokens, work.iterations)
    decodes = _over_layers(model, work.context_tokens, work.decode_tokens)
    weights = _read_weights(model, round(written / max(work.iterations, 1)))
    return work.iterations * weights + kv_bytes * ((chunks + decodes) / model.layers + written)


def _read_weights(model: Model, tokens: int) -> float:
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
