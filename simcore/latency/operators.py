"""The matrix products of one layer on one tensor-parallel accelerator.

Queries, keys and values are one product, as is what a gated feed-forward makes from its input; KV heads are copied
where TP exceeds them. With mla what makes the latents is one product on every rank, and one more of each latent makes a
head's queries, keys and values (a decode takes that product in the other order: as many parameters, as many FLOPs).
"""

from __future__ import annotations

from dataclasses import dataclass

from simcore.spec import Model


@dataclass(frozen=True)
class Operator:
    """Each token's ``inputs`` elements times a matrix of ``inputs`` x ``outputs``."""

    inputs: float
    outputs: float

    @property
    def parameters(self) -> float:
        """Of the matrix."""
        return self.inputs * self.outputs


def attention_operators(model: Model, tensor_parallel: int) -> tuple[Operator, ...]:
    """What makes queries, keys and values, and the projection of heads' values back to the hidden state."""
    heads = model.heads / tensor_parallel
    if model.attention == "mla":
        return _latent_operators(model, heads)
    kv_heads = -(-model.kv_heads // tensor_parallel)
    made = (heads + 2 * kv_heads) * model.head_dim
    return Operator(model.hidden_size, made), Operator(heads * model.head_dim, model.hidden_size)


def _latent_operators(model: Model, heads: float) -> tuple[Operator, ...]:
    rope, kv_rank = model.qk_rope_head_dim or 0, model.kv_lora_rank or 0
    values = model.v_head_dim or model.head_dim
    queries = Operator(model.q_lora_rank or model.hidden_size, heads * (model.head_dim + rope))
    return (
        Operator(model.hidden_size, (model.q_lora_rank or 0) + kv_rank + rope),
        queries,
        Operator(kv_rank, heads * (model.head_dim + values)),
        Operator(heads * values, model.hidden_size),
    )


def feed_forward_operators(model: Model, inner: float) -> tuple[Operator, ...]:
    """A feed-forward of ``inner`` elements (one accelerator's share), gated or not; none where it has no element."""
    if not inner:
        return ()
    made = 2 * inner if model.gated_mlp else inner
    return Operator(model.hidden_size, made), Operator(inner, model.hidden_size)


def dense_layer_operators(model: Model, tensor_parallel: int) -> tuple[Operator, ...]:
    """All of a dense layer."""
    return (
        *attention_operators(model, tensor_parallel),
        *feed_forward_operators(model, model.intermediate_size / tensor_parallel),
    )


def expert_layer_operators(model: Model, tensor_parallel: int) -> tuple[Operator, ...]:
    """A layer with experts, without the routed ones: attention, the router, the shared experts."""
    shared = model.shared_experts * (model.expert_intermediate_size or 0) / tensor_parallel
    router = Operator(model.hidden_size, model.experts or 0)
    return *attention_operators(model, tensor_parallel), router, *feed_forward_operators(model, shared)
