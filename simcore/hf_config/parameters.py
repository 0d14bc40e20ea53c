"""Every parameter of a model, counted by part: the matrices of ``shapes.py``, and the small ones beside them."""

from __future__ import annotations

from dataclasses import dataclass

from simcore.hf_config.families import Family
from simcore.hf_config.keys import Config
from simcore.shapes import (
    active_parameters,
    embedding_parameters,
    expert_layers,
    layer_parameters,
    matrix_parameters,
)
from simcore.spec import Model

CORRECTED = ("deepseek_v3", "minimax_m2")
"""Families whose routers always have a correction."""


@dataclass(frozen=True)
class Parameters:
    """Counts; ``total`` is their sum, but for ``active``."""

    embeddings: int
    """Input embedding, LM head where it is one of its own, learned positions."""
    layers: int
    """Matrices of all layers, all experts."""
    norms: int
    biases: int
    """With attention sinks, and what corrects a router's scores."""
    active: int
    """What one token is multiplied with: all layers, of the routed experts its own, and the LM head."""

    @property
    def total(self) -> int:
        """All parameters."""
        return self.embeddings + self.layers + self.norms + self.biases


def count_parameters(model: Model, family: Family, config: Config) -> Parameters:
    """Part by part, from the shapes and what the family has beside them."""
    positions = (model.max_model_tokens + max(family.positions, 0)) * model.hidden_size if family.positions else 0
    tables = matrix_parameters(model) - layer_parameters(model) + positions
    return Parameters(
        embeddings=tables,
        layers=layer_parameters(model),
        norms=_norms(model, family),
        biases=model.layers * _layer_biases(model, family)
        + _expert_biases(model, family, config)
        + _head(model, family),
        active=active_parameters(model) + embedding_parameters(model),
    )


def _norms(model: Model, family: Family) -> int:
    one = model.hidden_size * (2 if family.norm_bias else 1)
    per_head = {"": 0, "head": 2 * model.head_dim, "all": (model.heads + model.kv_heads) * model.head_dim}
    latents = (model.q_lora_rank or 0) + (model.kv_lora_rank or 0)
    return (
        model.layers * (family.layer_norms * one + per_head[family.head_norms] + latents) + _outer_norms(family) * one
    )


def _outer_norms(family: Family) -> int:
    return 1 + family.embedding_norms


def _layer_biases(model: Model, family: Family) -> int:
    """Of attention and of a dense feed-forward in one layer."""
    biases = (model.heads + 2 * model.kv_heads) * model.head_dim if family.query_bias else 0
    biases += model.hidden_size if family.output_bias else 0
    biases += model.heads if family.attention_sinks else 0
    if family.mlp_bias and not model.experts:
        biases += model.intermediate_size * (2 if model.gated_mlp else 1) + model.hidden_size
    return biases


def _expert_biases(model: Model, family: Family, config: Config) -> int:
    if not model.experts:
        return 0
    size = model.expert_intermediate_size or 0
    one = model.experts * (2 * size + model.hidden_size) if family.expert_bias else 0
    one += model.experts if family.router_bias or _corrected(config) else 0
    one += model.hidden_size if family.shared_gate and model.shared_experts else 0
    return expert_layers(model) * one


def _corrected(config: Config) -> bool:
    """Routers whose scores have a learned correction (DeepSeek V3's way to balance experts without a loss)."""
    return config.values.get("topk_method") == "noaux_tc" or config.model_type in CORRECTED


def _head(model: Model, family: Family) -> int:
    return model.vocab_size if family.head_bias else 0
