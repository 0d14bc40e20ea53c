"""What an iteration's time is made of, term by term: seconds of one pipeline stage for so many new tokens.

- ``linear_s``: each matrix product takes the p-norm (DESIGN.md section 3; p = 2 or 4: square roots have the same bits
  on every machine) of flops/F and weights/B, of tokens rounded up to tiles, + reads and writes of its inputs and
  outputs + the launch of its kernel. At fp8 and fp4 its inputs are quantised first.
- ``experts_s``: one grouped product over the distinct experts that n tokens are expected to take. Each expert's
  tokens are padded to a tile.
- ``elementwise_s``: norms and residuals (on every rank), activation; ``heads_s``: what attention does to new tokens.
- ``allreduces_s``: two a layer, latency + protocol change + 2(TP-1)/TP * message/bandwidth; over the NIC where a TP
  group spans machines.
- attention: FLOPs of pairs, KV bytes of contexts; its kernels' fixed time is a prefill's or a decode's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from simcore.latency.coefficients import LISTED_TP, QUANTISED, Coefficients
from simcore.latency.operators import Operator
from simcore.shapes import (
    distinct_experts_share,
    embedding_parameters,
    expert_bytes,
    expert_parameters,
    latent_pair_flops,
    pair_flops,
    unfolding_flops,
)
from simcore.spec import PRECISION_BYTES, Accelerator, Machine, Model
from simcore.stages import Stage

ACTIVATION_BYTES = PRECISION_BYTES["bf16"]
CROSS_MACHINE_LATENCY_S = 228e-6
CROSS_MACHINE_NIC_SHARE = 0.66
"""All-reduce over two machines of 8: Vidur's profile of 2 x 8 A100, 228 us and 16.6 of 25 GB/s."""
SEND_LATENCY_S = 14e-6
SEND_LINK_SHARE = 0.8
"""Point to point inside a DGX: Vidur's profiles, 8 to 14 us and 312 to 361 GB/s."""
MEGABYTE = 1e6
EXPERT_TILE_GROWTH = 4
"""Kernels take smaller tiles where experts get few tokens: padding is at most so many times what they get."""
INNER_PASSES = 3
"""An activation reads a gate and a value and writes one."""
HEAD_PASSES = 2


@dataclass(frozen=True)
class Part:
    """One stage of a model on one machine at one TP: what all of its terms need."""

    model: Model
    machine: Machine
    accelerator: Accelerator
    tensor_parallel: int
    pipeline_parallel: int
    stage: Stage
    last: bool
    fitted: Coefficients
    dense_operators: tuple[Operator, ...]
    """Of one dense layer."""
    beside_experts: tuple[Operator, ...]
    """Of one layer with experts, all but the routed ones."""

    def flops_per_s(self, precision: str) -> float:
        """What matrix products reach with weights of a precision, at bf16's peak where the accelerator has no other."""
        fitted = self.fitted
        return self._reached(
            precision, {"fp8": fitted.fp8_flops_share, "fp4": fitted.fp4_flops_share}, fitted.flops_share
        )

    @cached_property
    def weight_flops_per_s(self) -> float:
        """The same with the model's own weights."""
        return self.flops_per_s(self.model.weight_precision)

    @property
    def expert_precision(self) -> str:
        """Of routed experts' weights."""
        return self.model.expert_precision or self.model.weight_precision

    @cached_property
    def expert_flops_per_s(self) -> float:
        """What routed experts reach; with mxfp4 weights as a share of bf16's peak, native or unpacked."""
        precision, fitted = self.expert_precision, self.fitted
        shares = {"fp8": fitted.expert_fp8_flops_share, "fp4": fitted.expert_fp4_flops_share}
        plain = fitted.expert_mxfp4_flops_share if precision == "mxfp4" else fitted.expert_flops_share
        return self._reached(precision, shares, plain)

    def _reached(self, precision: str, shares: Mapping[str, float], plain_share: float) -> float:
        peaks = {"fp8": self.accelerator.fp8_flops_per_s, "fp4": self.accelerator.fp4_flops_per_s}
        peak = peaks.get(precision)
        return peak * shares[precision] if peak else plain_share * self.accelerator.bf16_flops_per_s

    @cached_property
    def bytes_per_s(self) -> float:
        """What reading weights reaches."""
        return self.fitted.bandwidth_share * self.accelerator.memory_bandwidth_bytes_per_s

    @cached_property
    def head_parameters(self) -> float:
        """The LM head's share of one accelerator, if it is on this stage."""
        return embedding_parameters(self.model) / self.tensor_parallel if self.last else 0.0

    @cached_property
    def computed_precision(self) -> str:
        """What weights are computed at: below bf16 their inputs are quantised too, where the accelerator has a peak for
        it."""
        precision = self.model.weight_precision
        quantised = precision in QUANTISED and self.accelerator.fp8_flops_per_s is not None
        return precision if quantised else "bf16"


def joined(one_s: float, other_s: float, norm: int) -> float:
    """The p-norm of two times that overlap, p = 2 or 4."""
    one, other = one_s * one_s, other_s * other_s
    return math.sqrt(one + other) if norm == 2 else math.sqrt(math.sqrt(one * one + other * other))


def linear_s(part: Part, tokens: int) -> float:
    """All matrix products but those of routed experts and the LM head."""
    stage, time = part.stage, 0.0
    if stage.dense_layers:
        time += stage.dense_layers * sum(_operator_s(part, one, tokens) for one in part.dense_operators)
    if stage.expert_layers:
        time += stage.expert_layers * sum(_operator_s(part, one, tokens) for one in part.beside_experts)
    return time


def _operator_s(part: Part, operator: Operator, tokens: int) -> float:
    fitted, precision = part.fitted, part.computed_precision
    computed = fitted.computed_tokens(tokens, precision)
    math_s = 2 * computed * operator.parameters / part.weight_flops_per_s
    read_s = operator.parameters * PRECISION_BYTES[part.model.weight_precision] / part.bytes_per_s
    moved = fitted.operator_passes * (operator.inputs + operator.outputs)
    launch_s = fitted.operator_overhead_s
    if precision in QUANTISED:
        moved += fitted.quantise_passes * operator.inputs
        launch_s += fitted.quantise_overhead_s
    moving_s = tokens * moved * ACTIVATION_BYTES / part.bytes_per_s
    return joined(math_s, read_s, fitted.operator_norm) + moving_s + launch_s


def experts_s(part: Part, tokens: int) -> float:
    """The routed experts of the stage's layers that have them."""
    if not part.stage.expert_layers:
        return 0.0
    model, fitted, each = part.model, part.fitted, expert_parameters(part.model) / part.tensor_parallel
    taken = tokens * (model.experts_per_token or 0)
    distinct = distinct_experts_share(model, tokens) * (model.experts or 0)
    padded = taken + min(distinct * fitted.expert_padding_tokens, EXPERT_TILE_GROWTH * taken)
    read_s = distinct * each * expert_bytes(model) / part.bytes_per_s
    moved_s = taken * fitted.expert_passes * model.hidden_size * ACTIVATION_BYTES / part.bytes_per_s
    launch_s = fitted.expert_overhead_s
    if part.expert_precision != "bf16":
        launch_s += fitted.expert_quantise_overhead_s
    layer_s = math.hypot(2 * padded * each / part.expert_flops_per_s, read_s) + moved_s + launch_s
    return part.stage.expert_layers * layer_s


def elementwise_s(part: Part, tokens: int) -> float:
    """Norms and residuals, and a dense feed-forward's activation: what a layer does beside the other terms."""
    model, fitted, stage = part.model, part.fitted, part.stage
    hidden = stage.layers * model.hidden_size * fitted.elementwise_passes
    inner = stage.dense_layers * INNER_PASSES * model.intermediate_size / part.tensor_parallel
    moved = tokens * (hidden + inner) * ACTIVATION_BYTES
    return moved / part.bytes_per_s + stage.layers * fitted.layer_overhead_s


def heads_s(part: Part, tokens: int) -> float:
    """Rotating queries and keys, keeping keys and values, reading queries and writing what heads make."""
    kv_heads = -(-part.model.kv_heads // part.tensor_parallel)
    heads = 2 * (part.model.heads / part.tensor_parallel + kv_heads) * part.model.head_dim
    return part.stage.layers * tokens * HEAD_PASSES * heads * ACTIVATION_BYTES / part.bytes_per_s


def allreduces_s(part: Part, tokens: int) -> float:
    """Two a layer."""
    message = tokens * part.model.hidden_size * ACTIVATION_BYTES
    return 2 * part.stage.layers * _allreduce_s(part, message)


def _allreduce_s(part: Part, message_bytes: float) -> float:
    """One message over the TP group. Engines change from one protocol to the next as it grows: the square root."""
    size = part.tensor_parallel
    if size == 1:
        return 0.0
    latency, ramp = CROSS_MACHINE_LATENCY_S, 0.0
    bandwidth = CROSS_MACHINE_NIC_SHARE * part.machine.nic_bytes_per_s
    if size <= part.machine.accelerators:
        at = next((i for i, listed in enumerate(LISTED_TP) if listed >= size), len(LISTED_TP) - 1)
        latency, ramp = part.fitted.allreduce_latency_s[at], part.fitted.allreduce_ramp_s[at]
        bandwidth = part.fitted.allreduce_bandwidth_share[at] * part.accelerator.link_bandwidth_bytes_per_s
    return latency + ramp * math.sqrt(message_bytes / MEGABYTE) + 2 * (size - 1) / size * message_bytes / bandwidth


def head_read_s(part: Part) -> float:
    """Reading the LM head, which stays in bf16 where the layers are quantised."""
    return part.head_parameters * ACTIVATION_BYTES / part.bytes_per_s


def head_sequence_s(part: Part) -> float:
    """The LM head's compute for one sampling sequence."""
    return 2 * part.head_parameters / part.flops_per_s("bf16")


def send_s(part: Part, tokens: int) -> float:
    """Sending hidden states to the next stage: over the link inside a machine, over the NIC between machines."""
    if part.last:
        return 0.0
    inside = part.tensor_parallel * part.pipeline_parallel <= part.machine.accelerators
    rate = SEND_LINK_SHARE * part.accelerator.link_bandwidth_bytes_per_s if inside else part.machine.nic_bytes_per_s
    return SEND_LATENCY_S + tokens * part.model.hidden_size * ACTIVATION_BYTES / rate


def pair_s(part: Part) -> float:
    """``a``: scores and weighted values of one pair of tokens over the stage's layers that are not windowed."""
    return part.stage.full_layers * _attention_s(part, pair_flops(part.model))


def window_pairs_s(part: Part, tokens: int) -> float:
    """Pairs of one prompt of so many tokens in the stage's windowed layers: each token and at most a window."""
    ramp = min(tokens, part.model.window_tokens or 0)
    pairs = ramp * (ramp + 1) / 2 + (tokens - ramp) * ramp
    return part.stage.windowed_layers * pairs * _attention_s(part, pair_flops(part.model))


def chunk_read_s(part: Part) -> float:
    """``r``: reading one cached token's KV for a chunk, and unfolding its latent."""
    unfolding = unfolding_flops(part.model) / part.tensor_parallel / part.weight_flops_per_s
    return _kv_read_s(part, part.stage.full_kv_bytes_per_token(part.model)) + part.stage.full_layers * unfolding


def context_s(part: Part) -> float:
    """``b``: reading one cached token's KV for a decode, or attending to its latent if that takes longer."""
    latent = part.stage.full_layers * _attention_s(part, latent_pair_flops(part.model))
    return max(_kv_read_s(part, part.stage.full_kv_bytes_per_token(part.model)), latent)


def sequence_context_s(part: Part) -> float:
    """What a decode reads whatever its context: a full window in the windowed layers, and some tokens more in all
    layers, since kernels read whole blocks and split them unevenly."""
    window = _kv_read_s(part, part.stage.window_kv_bytes(part.model))
    return window + part.fitted.decode_more_tokens * _kv_read_s(part, part.stage.kv_bytes_per_token(part.model))


def _attention_s(part: Part, flops: float) -> float:
    """FLOPs of attention over all heads, on one accelerator."""
    rate = part.fitted.attention_flops_share * part.accelerator.bf16_flops_per_s
    return flops / part.tensor_parallel / rate


def _kv_read_s(part: Part, kv_bytes: float) -> float:
    share = part.fitted.attention_bandwidth_share
    if part.model.kv_precision == "fp8":
        share *= part.fitted.fp8_kv_bandwidth_ratio
    return kv_bytes / (share * part.accelerator.memory_bandwidth_bytes_per_s)
