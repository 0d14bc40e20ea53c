"""The precision of weights and KV: a checkpoint's type, and how it was quantized."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simcore.hf_config.keys import Config

GROUPED = ("compressed-tensors", "modelopt", "modelopt_fp4", "quark")
PLAIN = {"bfloat16": "bf16", "float16": "bf16", "float32": "bf16", "float8_e4m3fn": "fp8", "auto": "bf16", "": "bf16"}


@dataclass(frozen=True)
class Precisions:
    """Fields of ``Model``."""

    weight_precision: str = "bf16"
    kv_precision: str = "bf16"
    expert_precision: str | None = None


def precisions_of(config: Config) -> Precisions:
    """From ``quantization_config`` where there is one, else the weights' own type (float16 and float32 are served as
    bf16). SpecError for formats that are not modelled (int4, int8, GGUF)."""
    quantized = config.table("quantization_config")
    if not quantized:
        return Precisions(_plain(config))
    method = str(quantized.get("quant_method") or quantized.get("quant_type") or "").lower()
    if method == "mxfp4":
        return Precisions(expert_precision="mxfp4") if _has_experts(config) else Precisions("mxfp4")
    if method in ("fp8", "fbgemm_fp8"):
        return Precisions("fp8")
    if method not in GROUPED:
        config.refuse("quantization_config.quant_method", method, f"fp8, mxfp4, {', '.join(GROUPED)}")
    return Precisions(_grouped(config, quantized, method), _kv(quantized))


def _plain(config: Config) -> str:
    named = config.text("weights_dtype").removeprefix("torch.")
    if named not in PLAIN:
        config.refuse("torch_dtype", named, "bfloat16, float16 or float32")
    if named == "float32":
        config.notes.append("weights are stored as float32: taken as served in bf16")
    return PLAIN[named]


def _has_experts(config: Config) -> bool:
    return bool(config.optional("experts", least=0))


def _grouped(config: Config, quantized: Mapping[str, Any], method: str) -> str:
    """The weights of a file that says bits and type by group of layers."""
    algorithm = str(quantized.get("quant_algo") or "").lower()
    if "fp4" in algorithm or "fp4" in method:
        return "fp4"
    if "fp8" in algorithm:
        return "fp8"
    groups = quantized.get("config_groups")
    first: object = next(iter(groups.values()), None) if isinstance(groups, Mapping) else None
    weights: object = first.get("weights") if isinstance(first, Mapping) else None
    weights = weights if isinstance(weights, Mapping) else {}
    bits, kind = weights.get("num_bits"), str(weights.get("type") or "float")
    precision = {8: "fp8", 4: "fp4"}.get(bits) if isinstance(bits, int) and kind.startswith("float") else None
    if precision is None:
        config.refuse("quantization_config", f"{method} {algorithm or f'{bits} bits, {kind}'}", "fp8 or fp4 weights")
    return precision


def _kv(quantized: Mapping[str, Any]) -> str:
    scheme = quantized.get("kv_cache_scheme")
    bits = scheme.get("num_bits") if isinstance(scheme, Mapping) else None
    named = str(quantized.get("kv_cache_quant_algo") or "").lower()
    return "fp8" if bits == 8 or named == "fp8" else "bf16"
