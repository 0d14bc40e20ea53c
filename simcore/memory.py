"""KV memory of a replica.

capacity in tokens = min over stages of floor((memory*usable - weights - activations) / KV bytes a token) on one accelerator,
cut to whole blocks. Activations: an allowance for one step of ``ACTIVATION_TOKENS`` tokens, which an engine's own
profiling run would set aside: two hidden states a token, the feed-forward's inner values / TP, and (last stage)
float32 logits of ``SAMPLING_SEQUENCES`` sequences / TP. It leaves out workspaces of kernels and communication (some GB in
practice: aiconfigurator 0.12.0 gives Llama-3.1-70B on 2 H100 14,784 tokens where this gives 37,616).
"""

from __future__ import annotations

from dataclasses import dataclass

from simcore.catalogue import resolve_accelerator
from simcore.shapes import Stage, kv_bytes_per_token, stages, weight_bytes
from simcore.spec import PRECISION_BYTES, Machine, MemorySpec, Model, SpecError

__all__ = ["DoesNotFit", "KvCapacity", "kv_bytes_per_token", "kv_capacity", "kv_capacity_tokens", "weight_bytes"]

ACTIVATION_TOKENS = 2048
SAMPLING_SEQUENCES = 256


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


def kv_capacity(model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int,
                memory: MemorySpec) -> KvCapacity:
    """KV capacity of a replica over TP x PP of the machine's accelerators.

    ``memory.kv_tokens`` and ``memory.kv_bytes_per_token`` (a replica's) override what is derived. Raises ``DoesNotFit`` with
    the reason in bytes, and ``SpecError`` where TP or PP do not suit the model.
    """
    parts = stages(model, tensor_parallel, pipeline_parallel)
    usable = int(resolve_accelerator(machine).memory_bytes * memory.usable)
    override = memory.kv_bytes_per_token
    rooms = [_room(model, part, i == len(parts) - 1, tensor_parallel, usable, override) for i, part in enumerate(parts)]
    room, weights, activations = min(rooms)
    tokens = room if memory.kv_tokens is None else memory.kv_tokens
    blocks = tokens // memory.block_tokens
    if blocks < 1:
        raise DoesNotFit(_reason(model, machine, tensor_parallel, pipeline_parallel, memory, weights, activations, tokens))
    per_token = float(kv_bytes_per_token(model)) if override is None else override
    return KvCapacity(blocks * memory.block_tokens, blocks, memory.block_tokens, per_token, usable, weights, activations,
                      memory.kv_tokens is None)


def kv_capacity_tokens(model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int,
                       memory: MemorySpec) -> int:
    """KV capacity of a replica in tokens, whole blocks; see ``kv_capacity``."""
    return kv_capacity(model, machine, tensor_parallel, pipeline_parallel, memory).tokens


def activation_bytes(model: Model, tensor_parallel: int, last_stage: bool) -> int:
    """The allowance of the module's docstring, on one accelerator, in bytes."""
    inner = (2 if model.gated_mlp else 1) * model.intermediate_size / tensor_parallel
    step = ACTIVATION_TOKENS * (2 * model.hidden_size + inner) * PRECISION_BYTES["bf16"]
    logits = SAMPLING_SEQUENCES * model.vocab_size / tensor_parallel * 4 if last_stage else 0.0
    return round(step + logits)


def _room(model: Model, part: Stage, last: bool, tensor_parallel: int, usable: int,
          override: float | None) -> tuple[int, int, int]:
    weights, activations = round(part.weight_bytes(model)), activation_bytes(model, tensor_parallel, last)
    per_token = part.kv_bytes_per_token(model)
    if override is not None:
        per_token = override * part.layers / model.layers / tensor_parallel
    return int((usable - weights - activations) // per_token), weights, activations


def _reason(model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, memory: MemorySpec,
            weights: int, activations: int, tokens: int) -> str:
    accelerator = resolve_accelerator(machine)
    usable = int(accelerator.memory_bytes * memory.usable)
    if tokens >= 0 and memory.kv_tokens is not None:
        return f"memory.kv_tokens: found {tokens}, expected at least one block of {memory.block_tokens} tokens"
    needed = _accelerators_needed(model, machine, memory)
    advice = f"use {needed} or more accelerators a replica" if needed else "no number of these accelerators up to 64 holds it"
    return (f"{model.id} does not fit {machine.id} at tensor_parallel {tensor_parallel}, pipeline_parallel"
            f" {pipeline_parallel}: weights need {weight_bytes(model) / 1e9:.1f} GB ({weight_bytes(model):,} bytes), on one"
            f" accelerator {weights / 1e9:.1f} GB and {activations / 1e9:.2f} GB of activations, of which one {accelerator.id} can"
            f" use {usable / 1e9:.1f} GB ({memory.usable:.0%} of {accelerator.memory_bytes:,} bytes): {advice}")


def _accelerators_needed(model: Model, machine: Machine, memory: MemorySpec) -> int | None:
    """The fewest accelerators (a power of two) whose memory holds the model: TP within a machine, then PP."""
    for count in (1, 2, 4, 8, 16, 32, 64):
        tensor_parallel = max(t for t in (1, 2, 4, 8) if t <= min(count, machine.accelerators) and model.heads % t == 0)
        pipeline_parallel = -(-count // tensor_parallel)
        if pipeline_parallel > model.layers:
            return None
        usable = int(resolve_accelerator(machine).memory_bytes * memory.usable)
        parts = stages(model, tensor_parallel, pipeline_parallel)
        rooms = [_room(model, part, i == len(parts) - 1, tensor_parallel, usable, memory.kv_bytes_per_token)[0]
                 for i, part in enumerate(parts)]
        if min(rooms) >= memory.block_tokens:
            return count
    return None
