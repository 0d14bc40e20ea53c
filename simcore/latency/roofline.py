"""``latency.source: roofline``: an iteration's time from shapes, peaks and fitted coefficients.

One layer's linear operators take hypot(flops/F, bytes/B) + c: the p-norm of DESIGN.md section 3 with p = 2 (tokens
are rounded up to tiles of 128; with that, p from 2 to 3 fits alike, and a square root has the same bits on every
machine). A layer adds elementwise passes and two all-reduces, alpha + 2(TP-1)/TP * n*h*2 / bandwidth, over the NIC
when a TP group spans machines. An iteration adds the LM head (read once, computed once a sampling sequence: ``s``
for decodes), sends n*h*2 bytes to the next stage with PP, and the host's time. Attention: a =
4*heads*head_dim*layers/TP / flops a pair, r = b = KV bytes of a token / bandwidth. The curve is the slowest
stage's.

Experts: a token is multiplied with those that it takes, the batch reads the distinct ones expected of n tokens; each
such layer takes a while to route (33 measured decodes of two models: 12 % off on average, up to 38 % fast). With
mla a decode attends to the latents themselves, b = max(reading, FLOPs) of one; a chunk unfolds those that are cached,
r = reading + unfolding, and a is a pair's with keys and values unfolded. Windowed layers: each decode reads a full
window (in ``s``), a prefill of n tokens computes the pairs of one prompt of n (in its own time, not in ``a``).

Mean absolute error: kernel 3 to 5 % by accelerator on Llama-3.1-70B at TP2 and TP8, which it was fitted to, and at most
12 % on prefills of engines that it was not; vllm-2023 4 to 5 % (H100) and 8 to 19 % (A100). test_shared_data.py and
test_roofline.py hold it to that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simcore.catalogue import resolve_accelerator
from simcore.latency.coefficients import LISTED_TP, Coefficients, coefficients
from simcore.latency.curve import ATTENTION_FRACTION_BITS, PS_PER_S, IterationCurve
from simcore.shapes import (
    distinct_experts_share,
    embedding_parameters,
    expert_bytes,
    latent_pair_flops,
    pair_flops,
    unfolding_flops,
)
from simcore.spec import PRECISION_BYTES, Accelerator, Machine, Model
from simcore.stages import Stage, stages

ACTIVATION_BYTES = PRECISION_BYTES["bf16"]
STEPS_TO_TOKENS = 8192
"""Up to here each tile's step is in the curve; beyond, single knots at whole tiles."""
LAST_KNOTS = (16384, 32768, 65536, 131072)
SMALL_BATCHES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 192)
EXPERT_LAYER_S = 30e-6
"""Routing, and sorting tokens by expert: an estimate from decodes of 4 to 64 sequences that ML.ENERGY (Qwen3-30B-A3B
and gpt-oss-120b, vLLM 0.11.1, TP1 and TP2) and InferenceX (gpt-oss-120b, TP2 to TP8) measured on H100 and B200."""
LARGE_BATCH_TOKENS = 2048
CROSS_MACHINE_LATENCY_S = 228e-6
CROSS_MACHINE_NIC_SHARE = 0.66
"""All-reduce over two machines of 8: Vidur's profile of 2 x 8 A100, 228 us and 16.6 of 25 GB/s."""
SEND_LATENCY_S = 14e-6
SEND_LINK_SHARE = 0.8
"""Point to point inside a DGX: Vidur's profiles, 8 to 14 us and 312 to 361 GB/s."""


@dataclass(frozen=True)
class _Part:
    """One stage of a model on one machine at one TP: what all of its terms need."""

    model: Model
    machine: Machine
    accelerator: Accelerator
    tensor_parallel: int
    pipeline_parallel: int
    stage: Stage
    last: bool
    fitted: Coefficients

    @property
    def flops_per_s(self) -> float:
        """What linear operators reach at the model's precision; at bf16's peak where the accelerator has no other."""
        return self._reached(self.model.weight_precision)

    @property
    def expert_flops_per_s(self) -> float:
        """What routed experts reach. mxfp4 is how weights are stored: it is computed at bf16's peak."""
        return self._reached(self.model.expert_precision or self.model.weight_precision)

    def _reached(self, precision: str) -> float:
        peaks = {"fp8": self.accelerator.fp8_flops_per_s, "fp4": self.accelerator.fp4_flops_per_s}
        return self.fitted.flops_share * (peaks.get(precision) or self.accelerator.bf16_flops_per_s)

    @property
    def bytes_per_s(self) -> float:
        """What reading weights reaches."""
        return self.fitted.bandwidth_share * self.accelerator.memory_bandwidth_bytes_per_s

    @property
    def head_parameters(self) -> float:
        """The LM head's share of one accelerator, if it is on this stage."""
        return embedding_parameters(self.model) / self.tensor_parallel if self.last else 0.0


def roofline_curve(
    model: Model,
    machine: Machine,
    tensor_parallel: int,
    pipeline_parallel: int,
    engine: str,
    fitted: Coefficients | None = None,
) -> IterationCurve:
    """The curve of the slowest stage, in whole ps; ``Machine.prefill_slowdown`` multiplies all but decodes. With
    ``fitted`` (a calibration's) in place of the shipped coefficients of the machine's accelerator and ``engine``.
    """
    fitted = fitted or coefficients(resolve_accelerator(machine).id, engine)
    parts = _parts(model, machine, tensor_parallel, pipeline_parallel, fitted)
    knots = _knots(parts[0].fitted.tile_tokens, model)
    slow = machine.prefill_slowdown or 1.0
    prefill = tuple(round(max(_prefill_s(part, n) for part in parts) * slow * PS_PER_S) for n in knots)
    decode = tuple(round(max(_decode_s(part, n) for part in parts) * PS_PER_S) for n in knots)
    attention, chunk_read = max(map(_pair_s, parts)), max(map(_chunk_read_s, parts))
    context, sequence = max(map(_context_s, parts)), max(map(_decode_seq_s, parts))
    return IterationCurve(
        tokens=knots,
        prefill_ps=prefill,
        decode_ps=decode,
        hybrid_ps=prefill,
        attention=round(attention * slow * PS_PER_S * (1 << ATTENTION_FRACTION_BITS)),
        chunk_read_ps=round(chunk_read * slow * PS_PER_S),
        context_ps=round(context * PS_PER_S),
        decode_seq_ps=round(sequence * PS_PER_S),
        source=_words(parts[0], engine, slow),
    )


def _parts(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, fitted: Coefficients
) -> list[_Part]:
    accelerator = resolve_accelerator(machine)
    every = stages(model, tensor_parallel, pipeline_parallel)
    return [
        _Part(model, machine, accelerator, tensor_parallel, pipeline_parallel, stage, i == len(every) - 1, fitted)
        for i, stage in enumerate(every)
    ]


def _knots(tile: int, model: Model) -> tuple[int, ...]:
    """1, then both sides of each tile's step, then single knots. Small batches of a model with experts read more of
    them with each token, ever less: there are knots inside the first tiles too."""
    edges = range(tile, STEPS_TO_TOKENS + 1, tile)
    bend = SMALL_BATCHES if model.experts else ()
    steps = sorted({1, *bend, *edges, *(edge + 1 for edge in edges if edge < STEPS_TO_TOKENS)})
    return (*steps, *LAST_KNOTS)


def _prefill_s(part: _Part, tokens: int) -> float:
    device = _device_s(part, tokens) + _window_pairs_s(part, tokens) + part.fitted.host_step_s
    if tokens > LARGE_BATCH_TOKENS and part.tensor_parallel > LISTED_TP[0]:
        doublings = min(math.log2(part.tensor_parallel) - 1, 2)
        device *= 1 + (part.fitted.large_batch_slowdown - 1) * doublings / 2
    floor = part.fitted.prefill_floor_s
    return math.sqrt(math.sqrt(floor * floor * floor * floor + device * device * device * device)) if floor else device


def _decode_s(part: _Part, tokens: int) -> float:
    host = part.fitted.host_step_s + part.fitted.host_step_per_doubling_s * math.log2(part.tensor_parallel)
    return _device_s(part, tokens) + host


def _device_s(part: _Part, tokens: int) -> float:
    """Device time of ``tokens`` new tokens: all but attention and what a sampling sequence adds."""
    stage = part.stage
    linear = stage.dense_layers * _linear_s(part, tokens, stage.dense_layer_parameters, 0.0)
    routed = _linear_s(part, tokens, stage.expert_layer_parameters, stage.routed_parameters) + EXPERT_LAYER_S
    linear += stage.expert_layers * routed
    return linear + stage.layers * _beside_linear_s(part, tokens) + _head_read_s(part) + _send_s(part, tokens)


def _linear_s(part: _Part, tokens: int, shared: float, routed: float) -> float:
    """The linear operators of a layer with ``shared`` parameters for every token and ``routed`` ones in experts."""
    tile, model = part.fitted.tile_tokens, part.model
    computed = -(-tokens // tile) * tile
    taken = routed * (model.experts_per_token or 0) / (model.experts or 1)
    read = shared * PRECISION_BYTES[model.weight_precision]
    read += routed * distinct_experts_share(model, tokens) * expert_bytes(model)
    math_s = 2 * computed * (shared / part.flops_per_s + taken / part.expert_flops_per_s)
    return math.hypot(math_s, read / part.bytes_per_s)


def _beside_linear_s(part: _Part, tokens: int) -> float:
    """What else a layer takes: its overhead, elementwise passes, two all-reduces."""
    hidden = tokens * part.model.hidden_size * ACTIVATION_BYTES
    elementwise = hidden * part.fitted.elementwise_passes / part.bytes_per_s
    return part.fitted.layer_overhead_s + elementwise + 2 * _allreduce_s(part, hidden)


def _allreduce_s(part: _Part, message_bytes: float) -> float:
    """Ring all-reduce of one message over the TP group."""
    size = part.tensor_parallel
    if size == 1:
        return 0.0
    latency, bandwidth = CROSS_MACHINE_LATENCY_S, CROSS_MACHINE_NIC_SHARE * part.machine.nic_bytes_per_s
    if size <= part.machine.accelerators:
        at = next((i for i, listed in enumerate(LISTED_TP) if listed >= size), len(LISTED_TP) - 1)
        latency = part.fitted.allreduce_latency_s[at]
        bandwidth = part.fitted.allreduce_bandwidth_share[at] * part.accelerator.link_bandwidth_bytes_per_s
    return latency + 2 * (size - 1) / size * message_bytes / bandwidth


def _head_read_s(part: _Part) -> float:
    return part.head_parameters * PRECISION_BYTES[part.model.weight_precision] / part.bytes_per_s


def _send_s(part: _Part, tokens: int) -> float:
    """Sending hidden states to the next stage: over the link inside a machine, over the NIC between machines."""
    if part.last:
        return 0.0
    inside = part.tensor_parallel * part.pipeline_parallel <= part.machine.accelerators
    rate = SEND_LINK_SHARE * part.accelerator.link_bandwidth_bytes_per_s if inside else part.machine.nic_bytes_per_s
    return SEND_LATENCY_S + tokens * part.model.hidden_size * ACTIVATION_BYTES / rate


def _pair_s(part: _Part) -> float:
    """``a``: scores and weighted values of one pair of tokens over the stage's layers that are not windowed."""
    return part.stage.full_layers * _attention_s(part, pair_flops(part.model))


def _window_pairs_s(part: _Part, tokens: int) -> float:
    """Pairs of one prompt of so many tokens in the stage's windowed layers: each token and at most a window."""
    ramp = min(tokens, part.model.window_tokens or 0)
    pairs = ramp * (ramp + 1) / 2 + (tokens - ramp) * ramp
    return part.stage.windowed_layers * pairs * _attention_s(part, pair_flops(part.model))


def _chunk_read_s(part: _Part) -> float:
    """``r``: reading one cached token's KV for a chunk, and unfolding its latent."""
    unfolding = unfolding_flops(part.model) / part.tensor_parallel / part.flops_per_s
    return _read_s(part, part.stage.full_kv_bytes_per_token(part.model)) + part.stage.full_layers * unfolding


def _context_s(part: _Part) -> float:
    """``b``: reading one cached token's KV for a decode, or attending to its latent if that takes longer."""
    latent = part.stage.full_layers * _attention_s(part, latent_pair_flops(part.model))
    return max(_read_s(part, part.stage.full_kv_bytes_per_token(part.model)), latent)


def _attention_s(part: _Part, flops: float) -> float:
    """FLOPs of attention over all heads, on one accelerator."""
    rate = part.fitted.attention_flops_share * part.accelerator.bf16_flops_per_s
    return flops / part.tensor_parallel / rate


def _read_s(part: _Part, kv_bytes: float) -> float:
    """Reading KV."""
    return kv_bytes / (part.fitted.attention_bandwidth_share * part.accelerator.memory_bandwidth_bytes_per_s)


def _decode_seq_s(part: _Part) -> float:
    """``s``: the LM head's compute, a full window's KV in the windowed layers, the host's work for one sequence."""
    head, window = 2 * part.head_parameters / part.flops_per_s, _read_s(part, part.stage.window_kv_bytes(part.model))
    return head + window + part.fitted.host_sequence_s


def _words(part: _Part, engine: str, slowdown: float) -> str:
    assumed = "; no fit for this accelerator, H100's shares assumed" if part.fitted.status == "assumption" else ""
    slowed = f"; prefill x {slowdown:g} (an assumption)" if slowdown != 1 else ""
    return (
        f"roofline: {part.model.id} on {part.accelerator.id} TP{part.tensor_parallel} PP{part.pipeline_parallel},"
        f" {engine}{assumed}{slowed}"
    )
