"""What a model's shapes imply: parameters, KV bytes a token, FLOPs.

Embeddings V*h (twice where the LM head is not tied). A layer's attention, grouped queries: h*(heads + 2*kv_heads)*d +
heads*d*h; multi-head latent attention: queries h*q + q*heads*(d + rope) (or h*heads*(d + rope) without a latent), keys
and values h*(kv + rope) + kv*heads*(d + v), output heads*v*h, with q and kv the ranks of the latents. Its feed-forward
3*h*f (gated) or 2*h*f; with experts instead a router h*experts and as much for each routed and shared expert. Norms and
biases are the rest, taken from the published total and spread over the layers.
"""

from __future__ import annotations

from simcore.spec import PRECISION_BYTES, Model


def attention_parameters(model: Model) -> int:
    """Query, key, value and output projections of one layer."""
    if model.attention == "gqa":
        return model.hidden_size * (2 * model.heads + 2 * model.kv_heads) * model.head_dim
    queries = model.heads * (model.head_dim + _rope(model))
    from_latents = (model.q_lora_rank or model.hidden_size) * queries
    from_latents += _kv_rank(model) * model.heads * (model.head_dim + value_dim(model))
    return latent_parameters(model) + from_latents + model.heads * value_dim(model) * model.hidden_size


def latent_parameters(model: Model) -> int:
    """The projections of one layer that make mla's latents: no heads to divide, so they are on every TP rank."""
    if model.attention == "gqa":
        return 0
    return model.hidden_size * ((model.q_lora_rank or 0) + _kv_rank(model) + _rope(model))


def value_dim(model: Model) -> int:
    """Elements of one head's value."""
    return model.v_head_dim or model.head_dim


def _kv_rank(model: Model) -> int:
    return model.kv_lora_rank or 0


def _rope(model: Model) -> int:
    return model.qk_rope_head_dim or 0


def feed_forward_parameters(model: Model) -> int:
    """The feed-forward matrices of one dense layer: three where it is gated, else two."""
    return _matrices(model) * model.hidden_size * model.intermediate_size


def expert_parameters(model: Model) -> int:
    """One expert's feed-forward; 0 without experts."""
    return _matrices(model) * model.hidden_size * (model.expert_intermediate_size or 0)


def _matrices(model: Model) -> int:
    return 3 if model.gated_mlp else 2


def expert_layers(model: Model) -> int:
    """Layers that have experts."""
    return model.layers - model.dense_layers if model.experts else 0


def routed_parameters(model: Model) -> int:
    """All routed experts of one layer."""
    return (model.experts or 0) * expert_parameters(model)


def always_parameters(model: Model) -> int:
    """What every token takes of a layer with experts, next to attention: the router and the shared experts."""
    return model.hidden_size * (model.experts or 0) + model.shared_experts * expert_parameters(model)


def embedding_parameters(model: Model) -> int:
    """One vocabulary matrix: the input embedding, or the LM head."""
    return model.vocab_size * model.hidden_size


def matrix_parameters(model: Model) -> int:
    """All matrices of the model; the published total has norms and biases on top (below 1 %)."""
    tables = 1 if model.tied_embeddings else 2
    return layer_parameters(model) + tables * embedding_parameters(model)


def layer_parameters(model: Model) -> int:
    """Matrices of all layers, with all experts."""
    return _layer_matrices(model, routed_parameters(model))


def active_parameters(model: Model) -> int:
    """Matrices of all layers that one token is multiplied with: of the routed experts those that it takes."""
    return _layer_matrices(model, (model.experts_per_token or 0) * expert_parameters(model))


def _layer_matrices(model: Model, routed: int) -> int:
    with_experts = expert_layers(model)
    dense = (model.layers - with_experts) * feed_forward_parameters(model)
    return model.layers * attention_parameters(model) + dense + with_experts * (always_parameters(model) + routed)


def distinct_experts_share(model: Model, tokens: int) -> float:
    """Expected share of a layer's routed experts that a batch of so many tokens takes, each its own at random and all
    alike: 1 - (1 - k/E)^n. The power by squaring: multiplications have the same bits on every machine, pow may not."""
    if not model.experts:
        return 0.0
    missed, factor = 1.0, 1 - (model.experts_per_token or 0) / model.experts
    while tokens:
        missed *= factor if tokens % 2 else 1.0
        factor *= factor
        tokens //= 2
    return 1 - missed


def expert_bytes(model: Model) -> float:
    """Bytes that one parameter of a routed expert takes."""
    return PRECISION_BYTES[model.expert_precision or model.weight_precision]


def weight_bytes(model: Model) -> int:
    """Bytes of all parameters, each at its precision; all experts are resident."""
    routed = expert_layers(model) * routed_parameters(model)
    rest = (model.parameters - routed) * PRECISION_BYTES[model.weight_precision]
    return round(rest + routed * expert_bytes(model))


def kv_elements(model: Model, tensor_parallel: int = 1) -> int:
    """What one token leaves in one layer's KV memory on one accelerator: keys and values of ceil(kv_heads / TP) heads;
    mla's latent and rotary key, the same on every rank."""
    if model.attention == "mla":
        return _kv_rank(model) + _rope(model)
    return 2 * -(-model.kv_heads // tensor_parallel) * model.head_dim


def kv_bytes_per_token(model: Model) -> int:
    """KV bytes of one token over all layers, each copy once."""
    return round(model.layers * kv_elements(model) * PRECISION_BYTES[model.kv_precision])


def pair_flops(model: Model) -> int:
    """FLOPs of one layer for one pair of tokens, over all heads: a score and a weighted value."""
    return 2 * model.heads * (model.head_dim + _rope(model) + value_dim(model))


def latent_pair_flops(model: Model) -> int:
    """The same where a decode's query attends to mla's latents themselves: its score over latent and rotary key, its
    value the latent. 0 without latents."""
    return 2 * model.heads * (2 * _kv_rank(model) + _rope(model))


def unfolding_flops(model: Model) -> int:
    """FLOPs of one layer to make one cached token's keys and values of its latent again, for a prefill chunk."""
    return 2 * _kv_rank(model) * model.heads * (model.head_dim + value_dim(model))
