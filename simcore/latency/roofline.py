"""``latency.source: roofline``: an iteration's time from shapes, peaks and fitted coefficients.

One layer's linear operators take hypot(flops/F, bytes/B) + c: the p-norm of DESIGN.md section 3 with p = 2 (tokens
are rounded up to tiles of 128; with that, p from 2 to 3 fits alike, and a square root has the same bits on every
machine). A layer adds elementwise passes and two all-reduces, alpha + 2(TP-1)/TP * n*h*2 / bandwidth, over the NIC
when a TP group spans machines. An iteration adds the LM head (read once, computed once a sampling sequence: ``s``
for decodes), sends n*h*2 bytes to the next stage with PP, and the host's time. Attention: a =
4*heads*head_dim*layers/TP / flops a pair, r = b = KV bytes of a token / bandwidth. The curve is the slowest
stage's.

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
from simcore.shapes import Stage, embedding_parameters, stages
from simcore.spec import PRECISION_BYTES, Accelerator, Machine, Model

ACTIVATION_BYTES = PRECISION_BYTES["bf16"]
STEPS_TO_TOKENS = 8192
"""Up to here each tile's step is in the curve; beyond, single knots at whole tiles."""
LAST_KNOTS = (16384, 32768, 65536, 131072)
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
        peaks = {"fp8": self.accelerator.fp8_flops_per_s, "fp4": self.accelerator.fp4_flops_per_s}
        peak = peaks.get(self.model.weight_precision) or self.accelerator.bf16_flops_per_s
        return self.fitted.flops_share * peak

    @property
    def bytes_per_s(self) -> float:
        """What reading weights reaches."""
        return self.fitted.bandwidth_share * self.accelerator.memory_bandwidth_bytes_per_s

    @property
    def head_parameters(self) -> float:
        """The LM head's share of one accelerator, if it is on this stage."""
        return embedding_parameters(self.model) / self.tensor_parallel if self.last else 0.0


def roofline_curve(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, engine: str
) -> IterationCurve:
    """The curve of the slowest stage, in whole ps; ``Machine.prefill_slowdown`` multiplies all but decodes."""
    parts = _parts(model, machine, tensor_parallel, pipeline_parallel, engine)
    knots = _knots(parts[0].fitted.tile_tokens)
    slow = machine.prefill_slowdown
    prefill = tuple(round(max(_prefill_s(part, n) for part in parts) * slow * PS_PER_S) for n in knots)
    decode = tuple(round(max(_decode_s(part, n) for part in parts) * PS_PER_S) for n in knots)
    attention, read, sequence = (max(f(part) for part in parts) for f in (_pair_s, _context_s, _decode_seq_s))
    return IterationCurve(
        tokens=knots,
        prefill_ps=prefill,
        decode_ps=decode,
        hybrid_ps=prefill,
        attention=round(attention * slow * PS_PER_S * (1 << ATTENTION_FRACTION_BITS)),
        chunk_read_ps=round(read * slow * PS_PER_S),
        context_ps=round(read * PS_PER_S),
        decode_seq_ps=round(sequence * PS_PER_S),
        source=_words(parts[0], engine, slow),
    )


def _parts(model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, engine: str) -> list[_Part]:
    accelerator = resolve_accelerator(machine)
    fitted = coefficients(accelerator.id, engine)
    every = stages(model, tensor_parallel, pipeline_parallel)
    return [
        _Part(model, machine, accelerator, tensor_parallel, pipeline_parallel, stage, i == len(every) - 1, fitted)
        for i, stage in enumerate(every)
    ]


def _knots(tile: int) -> tuple[int, ...]:
    """1, then both sides of each tile's step, then single knots."""
    edges = range(tile, STEPS_TO_TOKENS + 1, tile)
    steps = sorted({1, *edges, *(edge + 1 for edge in edges if edge < STEPS_TO_TOKENS)})
    return (*steps, *LAST_KNOTS)


def _prefill_s(part: _Part, tokens: int) -> float:
    device = _device_s(part, tokens) + part.fitted.host_step_s
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
    return part.stage.layers * _layer_s(part, tokens) + _head_read_s(part) + _send_s(part, tokens)


def _layer_s(part: _Part, tokens: int) -> float:
    tile = part.fitted.tile_tokens
    computed = -(-tokens // tile) * tile
    parameters = part.stage.layer_parameters / part.stage.layers
    weights = parameters * PRECISION_BYTES[part.model.weight_precision]
    linear = math.hypot(2 * computed * parameters / part.flops_per_s, weights / part.bytes_per_s)
    hidden = tokens * part.model.hidden_size * ACTIVATION_BYTES
    elementwise = hidden * part.fitted.elementwise_passes / part.bytes_per_s
    return linear + part.fitted.layer_overhead_s + elementwise + 2 * _allreduce_s(part, hidden)


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
    """``a``: scores and weighted values of one pair of tokens over the stage's layers."""
    flops = 4 * part.stage.layers * part.model.heads * part.model.head_dim / part.tensor_parallel
    return flops / (part.fitted.attention_flops_share * part.accelerator.bf16_flops_per_s)


def _context_s(part: _Part) -> float:
    """``r`` and ``b``: reading one cached token's KV."""
    rate = part.fitted.attention_bandwidth_share * part.accelerator.memory_bandwidth_bytes_per_s
    return part.stage.kv_bytes_per_token(part.model) / rate


def _decode_seq_s(part: _Part) -> float:
    """``s``: the LM head's compute and the host's work for one sequence."""
    return 2 * part.head_parameters / part.flops_per_s + part.fitted.host_sequence_s


def _words(part: _Part, engine: str, slowdown: float) -> str:
    assumed = "; no fit for this accelerator, H100's shares assumed" if part.fitted.status == "assumption" else ""
    slowed = f"; prefill x {slowdown:g} (an assumption)" if slowdown != 1 else ""
    return (
        f"roofline: {part.model.id} on {part.accelerator.id} TP{part.tensor_parallel} PP{part.pipeline_parallel},"
        f" {engine}{assumed}{slowed}"
    )
