"""What a batch does on one accelerator of a stage: bytes and FLOPs as the least time that its peaks allow.

MBU and MFU of a batch are these times over the time that it takes. Counted is the model's own work: weights once a
batch (of routed experts the distinct ones expected), KV of decodes, products with weights, attention; no padding to
tiles, no activations.
"""

from __future__ import annotations

from dataclasses import dataclass

from simcore.shapes import (
    distinct_experts_share,
    embedding_parameters,
    expert_bytes,
    latent_pair_flops,
    pair_flops,
)
from simcore.spec import PRECISION_BYTES, Accelerator, Model
from simcore.stages import Stage


@dataclass(frozen=True)
class Load:
    """One iteration, in tokens; a mean of many need not be whole."""

    tokens: float
    """New ones, of prompts and decodes."""
    sequences: float
    """That sample a token: the LM head is multiplied with so many."""
    pairs: float
    """Of prompts' tokens that attend to each other."""
    kv_tokens: float
    """Cached ones that decodes attend to."""
    decodes: float

    @classmethod
    def of_prompt(cls, tokens: float) -> Load:
        """One whole prompt."""
        return cls(tokens, 1, tokens * (tokens + 1) / 2, 0, 0)

    @classmethod
    def of_decodes(cls, decodes: float, context: float) -> Load:
        """So many decodes of one context."""
        return cls(decodes, decodes, 0, decodes * context, decodes)


@dataclass(frozen=True)
class Work:
    """The least seconds that the peaks of one accelerator allow."""

    read_s: float
    math_s: float
    packed_s: float = 0.0
    """Of ``read_s``: 4-bit weights that cores unpack, since the accelerator has no FLOPs of 4 bits."""

    def over(self, seconds: float) -> tuple[float, float, float]:
        """MBU, MFU and packed weights' part of MBU where it takes so long; a time that no accelerator has is taken as
        the least one."""
        taken = max(seconds, self.read_s, self.math_s)
        return self.read_s / taken, self.math_s / taken, self.packed_s / taken


def least_work(model: Model, accelerator: Accelerator, part: Stage, tensor_parallel: int, load: Load) -> Work:
    """What ``load`` asks of one of the stage's accelerators."""
    head = min(part.embedding_parameters, embedding_parameters(model) / tensor_parallel)
    always = (part.shared_parameters + head) * PRECISION_BYTES[model.weight_precision]
    distinct = distinct_experts_share(model, max(round(load.tokens), 1))
    routed = distinct * part.expert_layers * part.routed_parameters * expert_bytes(model)
    packed = always * _unpacked(accelerator, model.weight_precision)
    packed += routed * _unpacked(accelerator, model.expert_precision or model.weight_precision)
    read = (
        always
        + routed
        + load.kv_tokens * part.full_kv_bytes_per_token(model)
        + load.decodes * _window_bytes(model, part, load)
    )
    shared = load.tokens * part.shared_parameters + load.sequences * head
    math_s = 2 * shared / _peak(accelerator, model.weight_precision)
    if model.experts:
        taken = part.expert_layers * part.routed_parameters * (model.experts_per_token or 0) / model.experts
        precision = model.expert_precision or model.weight_precision
        math_s += 2 * load.tokens * taken / _peak(accelerator, precision)
    math_s += _attention_flops(model, part, load) / tensor_parallel / accelerator.bf16_flops_per_s
    rate = accelerator.memory_bandwidth_bytes_per_s
    return Work(read / rate, math_s, packed / rate)


def _unpacked(accelerator: Accelerator, precision: str) -> bool:
    return precision in ("fp4", "mxfp4") and accelerator.fp4_flops_per_s is None


def _peak(accelerator: Accelerator, precision: str) -> float:
    """FLOP/s at a precision; bf16's where the accelerator has no other. mxfp4 weights are computed in bf16, or times
    mxfp8 inputs at fp8's peak where there are FLOPs of 4 bits."""
    native = accelerator.fp8_flops_per_s if accelerator.fp4_flops_per_s else None
    peaks = {"fp8": accelerator.fp8_flops_per_s, "fp4": accelerator.fp4_flops_per_s, "mxfp4": native}
    return peaks.get(precision) or accelerator.bf16_flops_per_s


def _window_bytes(model: Model, part: Stage, load: Load) -> float:
    """KV that one decode reads in the windowed layers: a full window, or its context where that is shorter."""
    if not model.window_tokens or not load.decodes:
        return 0.0
    return part.window_kv_bytes(model) * min(load.kv_tokens / load.decodes / model.window_tokens, 1)


def _attention_flops(model: Model, part: Stage, load: Load) -> float:
    """Over all heads: prompts' pairs unfolded, decodes' on latents where the model has them."""
    window = min(load.kv_tokens / load.decodes, model.window_tokens or 0) if load.decodes else 0.0
    attended = part.full_layers * load.kv_tokens + part.windowed_layers * window * load.decodes
    within = min(load.pairs, load.tokens * (model.window_tokens or 0))
    pairs = part.full_layers * load.pairs + part.windowed_layers * within
    return (
        pair_flops(model) * pairs
        + (latent_pair_flops(model) if model.attention == "mla" else pair_flops(model)) * attended
    )
