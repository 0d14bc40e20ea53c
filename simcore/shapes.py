"""What a model's shapes imply: parameters, their place on a pipeline stage, KV bytes a token, FLOPs.

Parameters of a dense decoder: embeddings V*h (twice where the LM head is not tied), a layer's attention h*(heads +
2*kv_heads)*d + heads*d*h and feed-forward 3*h*f (gated) or 2*h*f. Norms and biases are the rest, taken from the
published total and spread over the layers.
"""

from __future__ import annotations

from dataclasses import dataclass

from simcore.spec import PRECISION_BYTES, Model, SpecError


def attention_parameters(model: Model) -> int:
    """Query, key, value and output projections of one layer."""
    width = (2 * model.heads + 2 * model.kv_heads) * model.head_dim
    return model.hidden_size * width


def feed_forward_parameters(model: Model) -> int:
    """The feed-forward matrices of one layer: three where it is gated, else two."""
    return (3 if model.gated_mlp else 2) * model.hidden_size * model.intermediate_size


def embedding_parameters(model: Model) -> int:
    """One vocabulary matrix: the input embedding, or the LM head."""
    return model.vocab_size * model.hidden_size


def matrix_parameters(model: Model) -> int:
    """All matrices of the model; the published total has norms and biases on top (below 1 %)."""
    tables = 1 if model.tied_embeddings else 2
    layer = attention_parameters(model) + feed_forward_parameters(model)
    return model.layers * layer + tables * embedding_parameters(model)


def weight_bytes(model: Model) -> int:
    """Bytes of all parameters at the model's weight precision."""
    return round(model.parameters * PRECISION_BYTES[model.weight_precision])


def kv_bytes_per_token(model: Model) -> int:
    """KV bytes of one token over all layers and heads: 2 * layers * kv_heads * head_dim * bytes an element."""
    return round(2 * model.layers * model.kv_heads * model.head_dim * PRECISION_BYTES[model.kv_precision])


@dataclass(frozen=True)
class Stage:
    """One pipeline stage's share of a model on one of its tensor-parallel accelerators."""

    layers: int
    layer_parameters: float
    """Of the stage's layers, on one accelerator."""
    embedding_parameters: float
    """Input embedding and LM head that are on this stage, on one accelerator."""
    kv_heads: int
    """KV heads on one accelerator: ceil(kv_heads / TP)."""

    def weight_bytes(self, model: Model) -> float:
        """Bytes of weights on one accelerator."""
        return (self.layer_parameters + self.embedding_parameters) * PRECISION_BYTES[model.weight_precision]

    def kv_bytes_per_token(self, model: Model) -> float:
        """KV bytes of one token on one accelerator."""
        return 2 * self.layers * self.kv_heads * model.head_dim * PRECISION_BYTES[model.kv_precision]


def check_parallelism(model: Model, tensor_parallel: int, pipeline_parallel: int) -> None:
    """SpecError where heads do not divide by TP, or where there are more stages than layers."""
    if model.heads % tensor_parallel:
        raise SpecError(
            f"tensor_parallel: found {tensor_parallel}, expected a divisor of {model.id}'s {model.heads} heads"
        )
    if pipeline_parallel > model.layers:
        raise SpecError(
            f"pipeline_parallel: found {pipeline_parallel}, expected at most {model.id}'s {model.layers} layers"
        )


def stages(model: Model, tensor_parallel: int, pipeline_parallel: int) -> tuple[Stage, ...]:
    """The model's stages: layers as even as can be (the first stages have one more), the input embedding on the
    first, the LM head on the last (a copy where it is tied and there are several stages); KV heads are copied where
    TP exceeds them.
    """
    check_parallelism(model, tensor_parallel, pipeline_parallel)
    tables = 1 if model.tied_embeddings else 2
    each_layer = (model.parameters - tables * embedding_parameters(model)) / model.layers
    copied = -(-model.kv_heads // tensor_parallel) * tensor_parallel - model.kv_heads
    each_layer += 2 * copied * model.head_dim * model.hidden_size
    return tuple(_stage(model, tensor_parallel, pipeline_parallel, i, each_layer) for i in range(pipeline_parallel))


def _stage(model: Model, tensor_parallel: int, pipeline_parallel: int, index: int, each_layer: float) -> Stage:
    layers = model.layers // pipeline_parallel + (index < model.layers % pipeline_parallel)
    first, last = index == 0, index == pipeline_parallel - 1
    tables = 1 if first and last and model.tied_embeddings else first + last
    return Stage(
        layers,
        layers * each_layer / tensor_parallel,
        tables * embedding_parameters(model) / tensor_parallel,
        -(-model.kv_heads // tensor_parallel),
    )
