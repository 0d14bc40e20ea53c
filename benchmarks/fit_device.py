"""Device time: each term's coefficients from its own share of the steps of NVIDIA's kernel tables, by accelerator."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from simcore.catalogue import machine, machine_ids, resolve_accelerator
from simcore.latency.coefficients import LISTED_TP, OPERATOR_NORMS, Coefficients
from simcore.latency.kernel_steps import DATE, TERMS, KernelStep, kernel_steps
from simcore.latency.roofline import stage_parts
from simcore.latency.terms import (
    Part,
    allreduces_s,
    context_s,
    elementwise_s,
    experts_s,
    heads_s,
    linear_s,
    pair_s,
    sequence_context_s,
    window_pairs_s,
)
from simcore.spec import Machine

FITTED_MODELS = ("llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b", "gpt-oss-20b")
FITTED_TP = (1, 2, 8)
TILES = (64, 128, 256)
JUST_ABOVE_TILES = (320, 1088)
"""At fp8 these judge: on Hopper vLLM's products of them take longer than of the next whole tile (record 0020)."""
KNOWN_TILES = {"h100-80gb": (64,), "h200-141gb": (64,)}
"""Of bf16, one chip: 257 tokens take 7 % more than 256 in the tables."""
ROBUST = 0.05
"""Shares of a step that a term is off by count less than their square well above this."""
Bounds = Mapping[str, tuple[float, float, float]]
"""Field -> where the fit starts, least, most."""
Predict = Callable[[Part, KernelStep], float]
Floats = NDArray[np.float64]

LINEAR: Bounds = {
    "flops_share": (0.8, 0.2, 1.0),
    "bandwidth_share": (0.85, 0.3, 1.0),
    "operator_overhead_s": (4e-6, 0, 30e-6),
    "operator_passes": (1.0, 0, 8),
}
QUANTISED: Bounds = {
    "fp8_flops_share": (0.7, 0.2, 1.0),
    "quantise_overhead_s": (3e-6, 0, 30e-6),
    "quantise_passes": (2.0, 0, 20),
}
FP4: Bounds = {"fp4_flops_share": (0.5, 0.1, 1.0)}
ELEMENTWISE: Bounds = {"elementwise_passes": (8.0, 1, 40), "layer_overhead_s": (9e-6, 0, 60e-6)}
PREFILL: Bounds = {"attention_flops_share": (0.6, 0.1, 1.0), "prefill_attention_overhead_s": (25e-6, 0, 100e-6)}
DECODE: Bounds = {
    "attention_bandwidth_share": (0.9, 0.2, 1.0),
    "decode_attention_overhead_s": (12e-6, 0, 60e-6),
    "decode_more_tokens": (50.0, 0, 400),
}
FP8_KV: Bounds = {"fp8_kv_bandwidth_ratio": (0.9, 0.3, 1.2)}
EXPERTS: Bounds = {
    "expert_overhead_s": (20e-6, 0, 100e-6),
    "expert_passes": (4.0, 0, 40),
}
EXPERT_QUANTISE: Bounds = {"expert_quantise_overhead_s": (5e-6, 0, 100e-6)}
EXPERT_SHARES: Mapping[str, Bounds] = {
    "bf16": {"expert_flops_share": (0.6, 0.05, 1.0)},
    "fp8": {"expert_fp8_flops_share": (0.4, 0.05, 1.0)},
    "fp4": {"expert_fp4_flops_share": (0.3, 0.05, 1.0)},
    "mxfp4": {"expert_mxfp4_flops_share": (0.5, 0.05, 2.0)},
}
EXPERT_PADDING_TOKENS = 64.0
"""Half a tile of 128: not fitted, it does as the FLOPs' share does."""
ALLREDUCE = ((5e-6, 0.0, 100e-6), (3e-6, 0.0, 100e-6), (0.5, 0.01, 1.0))
UNFITTED = Coefficients(
    tile_tokens=128,
    operator_norm=2,
    quantised_tile_tokens=256,
    flops_share=0.8,
    fp8_flops_share=0.7,
    fp4_flops_share=0.5,
    bandwidth_share=0.85,
    operator_overhead_s=0.0,
    operator_passes=0.0,
    quantise_overhead_s=0.0,
    quantise_passes=0.0,
    elementwise_passes=8.0,
    layer_overhead_s=0.0,
    attention_flops_share=0.6,
    prefill_attention_overhead_s=0.0,
    attention_bandwidth_share=0.9,
    fp8_kv_bandwidth_ratio=1.0,
    decode_attention_overhead_s=0.0,
    decode_more_tokens=0.0,
    expert_overhead_s=0.0,
    expert_quantise_overhead_s=0.0,
    expert_flops_share=0.6,
    expert_fp8_flops_share=0.4,
    expert_fp4_flops_share=0.3,
    expert_mxfp4_flops_share=0.4,
    expert_padding_tokens=EXPERT_PADDING_TOKENS,
    expert_passes=2.0,
    allreduce_latency_s=(0.0, 0.0, 0.0),
    allreduce_ramp_s=(0.0, 0.0, 0.0),
    allreduce_bandwidth_share=(0.5, 0.5, 0.5),
    host_step_s=0.0,
    host_step_per_doubling_s=0.0,
    host_sequence_s=0.0,
    crowded_sequence_s=0.0,
    prefill_launch_s=0.0,
    decode_launch_s=0.0,
    large_batch_slowdown=1.0,
    engine_version="",
    date=DATE,
    status="estimate",
    stand_in=None,
)


def machine_with(accelerator_id: str) -> Machine:
    """A machine of the catalogue that has the accelerator, uncapped."""
    every = (machine(machine_id) for machine_id in machine_ids())
    return next(one for one in every if resolve_accelerator(one).id == accelerator_id and one.power_cap_w is None)


def is_fitted(step: KernelStep) -> bool:
    """Whether the step is of the part that coefficients are fitted to (hybrids judge)."""
    group = step.group
    if group.weight_precision == "fp8" and step.tokens in JUST_ABOVE_TILES:
        return False
    return group.model_id in FITTED_MODELS and group.tensor_parallel in FITTED_TP and step.kind != "hybrid"


def fit_device(accelerator_id: str) -> Coefficients:
    """The coefficients of one accelerator's device time."""
    own = [step for step in kernel_steps() if step.group.hardware == accelerator_id]
    steps = [step for step in own if is_fitted(step) and step.terms_ms]
    fitted = dataclasses.replace(UNFITTED, engine_version=steps[0].group.engine_version)
    fitted = _fit_linear(fitted, steps)
    fitted = _fit(
        fitted, steps, ELEMENTWISE, "elementwise_ms", lambda part, step: elementwise_s(part, new_tokens(step))
    )
    prefills, decodes = ([step for step in steps if step.kind == kind] for kind in ("prefill", "decode"))
    fitted = _fit(fitted, prefills, PREFILL, "attention_ms", prefill_attention_s)
    fitted = _fit(
        fitted, [s for s in decodes if s.group.kv_precision == "bf16"], DECODE, "attention_ms", decode_attention_s
    )
    at_fp8 = [step for step in decodes if step.group.kv_precision == "fp8"]
    fitted = _fit(fitted, at_fp8, FP8_KV, "attention_ms", decode_attention_s)
    fitted = _fit_experts(fitted, steps)
    return _fit_allreduce(fitted, [step for step in own if step.group.model_id in FITTED_MODELS and step.terms_ms])


def new_tokens(step: KernelStep) -> int:
    """Of the whole batch."""
    return step.tokens + step.decodes


def prefill_attention_s(part: Part, step: KernelStep) -> float:
    """Attention of one chunk."""
    pairs = step.context * step.tokens + step.tokens * (step.tokens + 1) / 2
    windowed = window_pairs_s(part, step.tokens)
    fixed = part.stage.layers * part.fitted.prefill_attention_overhead_s
    return fixed + pair_s(part) * pairs + windowed + heads_s(part, step.tokens)


def decode_attention_s(part: Part, step: KernelStep) -> float:
    """Attention of a batch of decodes."""
    fixed = part.stage.layers * part.fitted.decode_attention_overhead_s
    each = step.decode_context * context_s(part) + sequence_context_s(part)
    return fixed + step.decodes * each + heads_s(part, step.decodes)


def _fit_linear(fitted: Coefficients, steps: Sequence[KernelStep]) -> Coefficients:
    """bf16 first; what fp8 and fp4 change is fitted on top of it. Tiles are those that leave the least error."""
    by = {name: [s for s in steps if s.group.weight_precision == name] for name in ("bf16", "fp8", "fp4")}
    tiles = [
        dataclasses.replace(fitted, tile_tokens=tile, operator_norm=norm)
        for tile in KNOWN_TILES.get(steps[0].group.hardware, TILES)
        for norm in OPERATOR_NORMS
    ]
    fitted = _fit_best(tiles, by["bf16"], LINEAR, "linear_ms", _linear)
    if not by["fp8"]:
        return fitted
    tiles = [dataclasses.replace(fitted, quantised_tile_tokens=tile) for tile in TILES]
    whole = [step for step in by["fp8"] if step.tokens not in JUST_ABOVE_TILES]
    fitted = _fit_best(tiles, whole, QUANTISED, "linear_ms", _linear)
    return _fit(fitted, by["fp4"], FP4, "linear_ms", _linear)


def _fit_best(
    starts: Sequence[Coefficients], steps: Sequence[KernelStep], bounds: Bounds, term: str, predict: Predict
) -> Coefficients:
    fits = [_fit(start, steps, bounds, term, predict) for start in starts]
    return min(fits, key=lambda one: _cost(one, steps, term, predict))


def _linear(part: Part, step: KernelStep) -> float:
    return linear_s(part, new_tokens(step))


def _fit_experts(fitted: Coefficients, steps: Sequence[KernelStep]) -> Coefficients:
    """All precisions at once: what routing and moving tokens takes is theirs together, FLOPs are each one's own."""
    own = [step for step in steps if step.group.model.experts]
    precisions = {step.group.model.expert_precision or step.group.weight_precision for step in own}
    bounds = dict(EXPERTS)
    for precision in sorted(precisions):
        bounds |= EXPERT_SHARES[precision]
    if precisions != {"bf16"}:
        bounds |= EXPERT_QUANTISE
    return _fit(fitted, own, bounds, "experts_ms", lambda part, step: experts_s(part, new_tokens(step)))


def _fit_allreduce(fitted: Coefficients, steps: Sequence[KernelStep]) -> Coefficients:
    """By TP: latency, ramp and bandwidth of the messages of that many ranks."""
    found = []
    for tp in LISTED_TP:
        own = [step for step in steps if step.group.tensor_parallel == tp and step.kind != "hybrid"]
        found.append(_fit_one_allreduce(fitted, own))
    latency, ramp, bandwidth = zip(*found, strict=True)
    return dataclasses.replace(
        fitted, allreduce_latency_s=latency, allreduce_ramp_s=ramp, allreduce_bandwidth_share=bandwidth
    )


def _fit_one_allreduce(fitted: Coefficients, steps: Sequence[KernelStep]) -> tuple[float, ...]:
    def with_values(values: Sequence[float]) -> Coefficients:
        names = ("allreduce_latency_s", "allreduce_ramp_s", "allreduce_bandwidth_share")
        return dataclasses.replace(fitted, **{n: (v, v, v) for n, v in zip(names, values, strict=True)})  # type: ignore[arg-type]

    return _solved(
        ALLREDUCE, with_values, steps, "allreduce_ms", lambda part, step: allreduces_s(part, new_tokens(step))
    )


def _fit(
    fitted: Coefficients, steps: Sequence[KernelStep], bounds: Bounds, term: str, predict: Predict
) -> Coefficients:
    """The coefficients with the bounded fields fitted; as they are where there is no step to fit them to."""
    if not steps:
        return fitted

    def with_values(values: Sequence[float]) -> Coefficients:
        return dataclasses.replace(fitted, **dict(zip(bounds, values, strict=True)))  # type: ignore[arg-type]

    return with_values(_solved(tuple(bounds.values()), with_values, steps, term, predict))


def _solved(
    bounds: Sequence[tuple[float, float, float]],
    with_values: Callable[[Sequence[float]], Coefficients],
    steps: Sequence[KernelStep],
    term: str,
    predict: Predict,
) -> tuple[float, ...]:
    """Least squares, robust, of what the term adds to each step's relative error."""
    start, least, most = (np.array(column) for column in zip(*bounds, strict=True))
    scale = np.where(start > 0, start, most)

    def residuals(scaled: Floats) -> Floats:
        return _residuals(with_values([float(value) for value in scaled * scale]), steps, term, predict)

    solved = least_squares(
        residuals, start / scale, bounds=(least / scale, most / scale), loss="soft_l1", f_scale=ROBUST
    )
    return tuple(float(value) for value in solved.x * scale)


def _residuals(fitted: Coefficients, steps: Sequence[KernelStep], term: str, predict: Predict) -> Floats:
    """What the term adds to each step's relative error."""
    at, parts = TERMS.index(term), _parts(fitted, steps)
    predicted = np.array([1e3 * predict(parts[step.group], step) for step in steps])
    measured = np.array([step.terms_ms[at] if step.terms_ms else 0.0 for step in steps])
    return (predicted - measured) / np.array([step.measured_ms for step in steps])


def _cost(fitted: Coefficients, steps: Sequence[KernelStep], term: str, predict: Predict) -> float:
    """What least squares minimise."""
    scaled = _residuals(fitted, steps, term, predict) / ROBUST
    return float(np.sum(np.sqrt(1 + scaled * scaled) - 1))


def _parts(fitted: Coefficients, steps: Sequence[KernelStep]) -> dict[object, Part]:
    groups = {step.group for step in steps}
    return {
        group: stage_parts(group.model, machine_with(group.hardware), group.tensor_parallel, 1, fitted)[0]
        for group in groups
    }
