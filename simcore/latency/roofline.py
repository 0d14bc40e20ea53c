"""``latency.source: roofline``: an iteration's time from shapes, peaks and fitted coefficients.

The terms are in simcore.latency.terms. The curve's g(n) adds them up over a stage's layers: matrix products, experts,
elementwise passes, all-reduces, attention kernels' fixed time (a prefill's, a decode's or, in a hybrid, the larger),
the LM head's read, sending n*h*2 bytes to the next stage with PP, and the host's time. Attention to tokens: a =
pair FLOPs / their rate; r = b = KV bytes of a token / bandwidth; s: the LM head's compute and what else a decode takes.
The curve is the slowest stage's.

Experts: a token is multiplied with those that it takes, the batch reads the distinct ones expected of n tokens. With
mla a decode attends to the latents themselves, b = max(reading, FLOPs) of one; a chunk unfolds those that are cached,
r = reading + unfolding, and a is a pair's with keys and values unfolded. Windowed layers: each decode reads a full
window (in ``s``), a prefill of n tokens computes the pairs of one prompt of n (in its own time, not in ``a``).

How far off it is, by accelerator, model and engine, on rows that it was fitted to and on others:
docs/decisions/0020; test_shared_data.py and test_kernel_steps.py hold it to that.
"""

from __future__ import annotations

import math

from simcore.catalogue import departures, resolve_accelerator
from simcore.latency.coefficients import CROWDED_SEQUENCES, LISTED_TP, Coefficients, coefficients_of
from simcore.latency.curve import ATTENTION_FRACTION_BITS, PS_PER_S, IterationCurve
from simcore.latency.operators import dense_layer_operators, expert_layer_operators
from simcore.latency.terms import (
    Part,
    allreduces_s,
    chunk_read_s,
    context_s,
    elementwise_s,
    experts_s,
    head_read_s,
    head_sequence_s,
    heads_s,
    joined,
    linear_s,
    pair_s,
    send_s,
    sequence_context_s,
    window_pairs_s,
)
from simcore.spec import Machine, Model
from simcore.stages import stages

STEPS_TO_TOKENS = 8192
"""Up to here each tile's step is in the curve; beyond, single knots at whole tiles."""
LAST_KNOTS = (16384, 32768, 65536, 131072)
SMALL_BATCHES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 65, 96, 128, 129, 192)
LARGE_BATCH_TOKENS = 2048
OVERLAP_NORM = 4


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
    fitted = fitted or coefficients_of(resolve_accelerator(machine), engine)
    parts = stage_parts(model, machine, tensor_parallel, pipeline_parallel, fitted)
    knots, slow = _knots(fitted.tile(model.weight_precision)), machine.prefill_slowdown or 1.0
    prefill, decode, hybrid = _base_ps(parts, knots, slow)
    attention, chunk_read = max(map(pair_s, parts)), max(map(chunk_read_s, parts))
    context, sequence = max(map(context_s, parts)), max(map(_decode_seq_s, parts))
    return IterationCurve(
        tokens=knots,
        prefill_ps=prefill,
        decode_ps=decode,
        hybrid_ps=hybrid,
        attention=round(attention * slow * PS_PER_S * (1 << ATTENTION_FRACTION_BITS)),
        chunk_read_ps=round(chunk_read * slow * PS_PER_S),
        context_ps=round(context * PS_PER_S),
        decode_seq_ps=round(sequence * PS_PER_S),
        source=_words(parts[0], engine, slow),
    )


def stage_parts(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, fitted: Coefficients
) -> list[Part]:
    """Each stage of a replica on one of its accelerators: what the terms are computed of."""
    accelerator = resolve_accelerator(machine)
    every = stages(model, tensor_parallel, pipeline_parallel)
    dense = dense_layer_operators(model, tensor_parallel)
    beside = expert_layer_operators(model, tensor_parallel) if model.experts else ()
    return [
        Part(
            model=model,
            machine=machine,
            accelerator=accelerator,
            tensor_parallel=tensor_parallel,
            pipeline_parallel=pipeline_parallel,
            stage=stage,
            last=i == len(every) - 1,
            fitted=fitted,
            dense_operators=dense,
            beside_experts=beside,
        )
        for i, stage in enumerate(every)
    ]


def _knots(tile: int) -> tuple[int, ...]:
    """1, then both sides of each tile's step, then single knots. Small batches bend too: they read more of a layer's
    experts with each token, and all-reduce by other protocols; there are knots inside the first tiles for them."""
    edges = range(tile, STEPS_TO_TOKENS + 1, tile)
    after = (edge + 1 for edge in edges if edge < STEPS_TO_TOKENS)
    return *sorted({1, *SMALL_BATCHES, *edges, *after}), *LAST_KNOTS


def _base_ps(parts: list[Part], knots: tuple[int, ...], slow: float) -> tuple[tuple[int, ...], ...]:
    """``g`` at the knots for batches of prompts, of decodes, and of both, by the slowest stage."""
    device = [[(part, n, _device_s(part, n)) for part in parts] for n in knots]
    prefill = tuple(round(max(_prefill_s(*one, False) for one in at) * slow * PS_PER_S) for at in device)
    decode = tuple(round(max(_decode_s(*one) for one in at) * PS_PER_S) for at in device)
    hybrid = tuple(round(max(_prefill_s(*one, True) for one in at) * slow * PS_PER_S) for at in device)
    return prefill, decode, hybrid


def _device_s(part: Part, tokens: int) -> float:
    """Device time of ``tokens`` new tokens: all but attention and what a sampling sequence adds."""
    layers = linear_s(part, tokens) + experts_s(part, tokens) + elementwise_s(part, tokens) + heads_s(part, tokens)
    return layers + allreduces_s(part, tokens) + head_read_s(part) + send_s(part, tokens)


def _prefill_s(part: Part, tokens: int, device_s: float, decodes: bool) -> float:
    """A batch with prompts, and with ``decodes`` or without."""
    fitted = part.fitted
    attention = max(fitted.prefill_attention_overhead_s, fitted.decode_attention_overhead_s if decodes else 0.0)
    time = device_s + part.stage.layers * attention + window_pairs_s(part, tokens)
    if tokens > LARGE_BATCH_TOKENS and part.tensor_parallel > LISTED_TP[0]:
        doublings = min(math.log2(part.tensor_parallel) - 1, 2)
        time *= 1 + (fitted.large_batch_slowdown - 1) * doublings / 2
    return _overlapped(part.stage.layers * fitted.prefill_launch_s, time) + fitted.host_step_s


def _decode_s(part: Part, tokens: int, device_s: float) -> float:
    """A batch of decodes alone."""
    fitted = part.fitted
    time = device_s + part.stage.layers * fitted.decode_attention_overhead_s
    host = fitted.host_step_s + fitted.host_step_per_doubling_s * math.log2(part.tensor_parallel)
    host += max(tokens - CROWDED_SEQUENCES, 0) * fitted.crowded_sequence_s
    return _overlapped(part.stage.layers * fitted.decode_launch_s, time) + host


def _overlapped(launch_s: float, device_s: float) -> float:
    """The host launches layer after layer while the device computes those before."""
    return joined(launch_s, device_s, OVERLAP_NORM) if launch_s else device_s


def _decode_seq_s(part: Part) -> float:
    """``s``: the LM head's compute, what a decode reads whatever its context, the host's work for one sequence."""
    return head_sequence_s(part) + sequence_context_s(part) + part.fitted.host_sequence_s


def _words(part: Part, engine: str, slowdown: float) -> str:
    fitted = part.fitted
    of = "these figures" if departures(part.accelerator) else "this accelerator"
    assumed = f"; no fit for {of}, shares of {fitted.stand_in} assumed" if fitted.stand_in else ""
    slowed = f"; prefill x {slowdown:g} (an assumption)" if slowdown != 1 else ""
    return (
        f"roofline: {part.model.id} on {part.accelerator.id} TP{part.tensor_parallel} PP{part.pipeline_parallel},"
        f" {engine} ({fitted.engine_version}, {fitted.date}){assumed}{slowed}"
    )
