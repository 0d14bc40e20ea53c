"""The experts of a configuration: each family counts them in its own words."""

from __future__ import annotations

from dataclasses import dataclass

from simcore.hf_config.keys import Config

SIZED_BY_FEED_FORWARD = ("mixtral", "gpt_oss", "phimoe", "llama4_text", "dbrx", "olmoe", "minimax_m2")
"""Families whose ``intermediate_size`` is one expert's."""


@dataclass(frozen=True)
class Experts:
    """Fields of ``Model``; none without experts."""

    experts: int | None = None
    experts_per_token: int | None = None
    expert_intermediate_size: int | None = None
    shared_experts: int = 0
    dense_layers: int = 0


def experts_of(config: Config, layers: int) -> Experts:
    """Routed and shared experts; SpecError where layers with and without them alternate, which is not modelled."""
    experts = config.optional("experts", least=0)
    if not experts or experts < 2:
        return Experts()
    size = config.count("expert_intermediate_size", _feed_forward(config))
    return Experts(
        experts=experts,
        experts_per_token=config.count("experts_per_token"),
        expert_intermediate_size=size,
        shared_experts=_shared(config, size),
        dense_layers=_dense_layers(config, layers),
    )


def _feed_forward(config: Config) -> int | None:
    return config.optional("intermediate_size") if config.model_type in SIZED_BY_FEED_FORWARD else None


def _shared(config: Config, size: int) -> int:
    """Shared experts in units of a routed one's size."""
    together = config.optional("shared_expert_intermediate_size", least=0)
    if config.model_type == "llama4_text":
        return 1
    if not together:
        return config.count("shared_experts", 0, least=0)
    if together % size:
        config.refuse("shared_expert_intermediate_size", together, f"a multiple of an expert's size ({size})")
    return together // size


def _dense_layers(config: Config, layers: int) -> int:
    """The first layers, without experts: given as a number, or as a list of layers that must be the first ones."""
    for key in ("decoder_sparse_step", "moe_layer_freq", "interleave_moe_layer_step"):
        step = config.values.get(key)
        if isinstance(step, int) and step > 1:
            config.refuse(key, step, "1: layers with and without experts that alternate are not modelled")
    first = config.count("dense_layers", 0, least=0)
    listed = config.values.get("mlp_only_layers") or []
    if not isinstance(listed, list) or sorted(listed, key=str) != sorted(range(len(listed)), key=str):
        config.refuse("mlp_only_layers", listed, "the first layers only: others without experts are not modelled")
    dense = max(first, len(listed))
    if dense >= layers:
        config.refuse("first_k_dense_replace", dense, f"fewer than the {layers} layers")
    return dense
