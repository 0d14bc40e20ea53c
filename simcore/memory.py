"""KV memory of a replica.

capacity in tokens = min over stages of floor((memory*usable - weights - activations) / KV bytes a token) on one
accelerator, cut to whole blocks. Weights: of all experts, each parameter at its precision. KV bytes a token: of all
layers, as if none were windowed (what a request's windowed layers keep less is counted with the request, in blocks);
ceil(kv_heads / TP) heads, or mla's latent on every rank. Activations: an allowance for one step of
``ACTIVATION_TOKENS`` tokens, which an engine's own profiling run would set aside: two hidden states a token, the
feed-forward's inner values (of all experts that a token takes) / TP, and (last stage) float32 logits of
``SAMPLING_SEQUENCES`` sequences / TP. It leaves out workspaces of kernels and communication (some GB in practice:
aiconfigurator 0.12.0 gives Llama-3.1-70B on 2 H100 14,784 tokens where this gives 37,616).
"""

from __future__ import annotations

from dataclasses import dataclass

from simcore.catalogue import resolve_accelerator
from simcore.shapes import expert_layers, kv_bytes_per_token, weight_bytes
from simcore.spec import PRECISION_BYTES, Machine, MemorySpec, Model, SpecError
from simcore.stages import Stage, stages

__all__ = ["DoesNotFit", "KvCapacity", "kv_bytes_per_token", "kv_capacity", "weight_bytes"]

ACTIVATION_TOKENS = 2048
SAMPLING_SEQUENCES = 256
LOGIT_BYTES = 4
MOST_ACCELERATORS = 64


class DoesNotFit(SpecError):  # noqa: N818 - reads as the finding that it is
    """A replica's weights and activations leave no room for KV; the message says why in bytes."""


@dataclass(frozen=True)
class KvCapacity:
    """KV memory of one replica, and what it is made of on the accelerator of its tightest stage."""

    tokens: int
    """In whole blocks."""
    blocks: int
    block_tokens: int
    kv_bytes_per_token: float
    """Of the whole replica: what a KV transfer sends for each prompt token."""
    usable_bytes: int
    weight_bytes_per_accelerator: int
    activation_bytes_per_accelerator: int
    derived: bool
    """False where ``kv_tokens`` was given."""


def kv_capacity(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, memory: MemorySpec
) -> KvCapacity:
    """KV capacity of a replica over TP x PP of the machine's accelerators.

    ``memory.kv_tokens`` and ``memory.kv_bytes_per_token`` (a replica's) override what is derived. Raises ``DoesNotFit``
    with the reason in bytes, and ``SpecError`` where TP or PP do not suit the model.
    """
    room = _tightest(model, machine, tensor_parallel, pipeline_parallel, memory)
    tokens = room.tokens if memory.kv_tokens is None else memory.kv_tokens
    blocks = tokens // memory.block_tokens
    if blocks < 1 and memory.kv_tokens is not None:
        raise DoesNotFit(
            f"memory.kv_tokens: found {tokens}, expected at least one block of {memory.block_tokens} tokens"
        )
    if blocks < 1:
        raise DoesNotFit(_reason(model, machine, tensor_parallel, pipeline_parallel, memory, room))
    return KvCapacity(
        tokens=blocks * memory.block_tokens,
        blocks=blocks,
        block_tokens=memory.block_tokens,
        kv_bytes_per_token=memory.kv_bytes_per_token or float(kv_bytes_per_token(model)),
        usable_bytes=_usable_bytes(machine, memory),
        weight_bytes_per_accelerator=room.weight_bytes,
        activation_bytes_per_accelerator=room.activation_bytes,
        derived=memory.kv_tokens is None,
    )


def activation_bytes(model: Model, tensor_parallel: int, last_stage: bool) -> int:
    """The allowance of the module's docstring, on one accelerator, in bytes."""
    inner = (2 if model.gated_mlp else 1) * _widest_feed_forward(model) / tensor_parallel
    step = ACTIVATION_TOKENS * (2 * model.hidden_size + inner) * PRECISION_BYTES["bf16"]
    logits = SAMPLING_SEQUENCES * model.vocab_size / tensor_parallel * LOGIT_BYTES if last_stage else 0.0
    return round(step + logits)


def _widest_feed_forward(model: Model) -> int:
    """Inner values of one token: a dense layer's, or those of the experts that it takes."""
    experts = (model.experts_per_token or 0) + model.shared_experts
    dense = model.intermediate_size if expert_layers(model) < model.layers else 0
    return max(dense, experts * (model.expert_intermediate_size or 0))


@dataclass(frozen=True, order=True)
class _Room:
    """What one accelerator of one stage has left for KV, in tokens of the replica; negative: bytes are missing."""

    tokens: int
    weight_bytes: int
    activation_bytes: int


def _tightest(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, memory: MemorySpec
) -> _Room:
    parts = stages(model, tensor_parallel, pipeline_parallel)
    usable = _usable_bytes(machine, memory)
    return min(_room(model, part, part is parts[-1], tensor_parallel, usable, memory) for part in parts)


def _room(model: Model, part: Stage, last: bool, tensor_parallel: int, usable_bytes: int, memory: MemorySpec) -> _Room:
    weights, activations = round(part.weight_bytes(model)), activation_bytes(model, tensor_parallel, last)
    per_token = part.kv_bytes_per_token(model)
    if memory.kv_bytes_per_token is not None:
        per_token *= memory.kv_bytes_per_token / kv_bytes_per_token(model)
    return _Room(int((usable_bytes - weights - activations) // per_token), weights, activations)


def _usable_bytes(machine: Machine, memory: MemorySpec) -> int:
    return int(resolve_accelerator(machine).memory_bytes * memory.usable)


def _reason(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, memory: MemorySpec, room: _Room
) -> str:
    accelerator, usable = resolve_accelerator(machine), _usable_bytes(machine, memory)
    needed = _accelerators_needed(model, machine, memory)
    advice = f"use {needed} or more accelerators a replica" if needed else f"not even {MOST_ACCELERATORS} hold it"
    if room.tokens >= 0:
        advice = f"beside them fits KV of {room.tokens}, expected one block of {memory.block_tokens} tokens: {advice}"
    return (
        f"{model.id} does not fit {machine.id} at tensor_parallel {tensor_parallel}, pipeline_parallel"
        f" {pipeline_parallel}: weights need {weight_bytes(model) / 1e9:.1f} GB ({weight_bytes(model):,} bytes), each"
        f" accelerator {room.weight_bytes / 1e9:.1f} GB and {room.activation_bytes / 1e9:.2f} GB for activations; one"
        f" {accelerator.id} can use {usable / 1e9:.1f} GB ({memory.usable:.0%} of {accelerator.memory_bytes:,} bytes):"
        f" {advice}"
    )


def _accelerators_needed(model: Model, machine: Machine, memory: MemorySpec) -> int | None:
    """The fewest accelerators (a power of two) whose memory holds the model: TP within a machine, then PP."""
    count = 1
    while count <= MOST_ACCELERATORS:
        widths = [tp for tp in (1, 2, 4, 8) if tp <= min(count, machine.accelerators) and model.heads % tp == 0]
        depth = -(-count // max(widths))
        if depth > model.layers:
            return None
        if _tightest(model, machine, max(widths), depth, memory).tokens >= memory.block_tokens:
            return count
        count *= 2
    return None
