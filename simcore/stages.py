"""Where a model's layers, parameters and KV are: its pipeline stages, on one of each stage's accelerators."""

from __future__ import annotations

from dataclasses import dataclass

from simcore.shapes import (
    always_parameters,
    attention_parameters,
    embedding_parameters,
    expert_bytes,
    expert_layers,
    feed_forward_parameters,
    kv_elements,
    latent_parameters,
    matrix_parameters,
    routed_parameters,
)
from simcore.spec import PRECISION_BYTES, Model, SpecError


@dataclass(frozen=True)
class Stage:
    """One pipeline stage's share of a model on one of its tensor-parallel accelerators."""

    dense_layers: int
    expert_layers: int
    windowed_layers: float
    """Of both, as many as the model's share."""
    dense_layer_parameters: float
    """Of one dense layer, on one accelerator."""
    expert_layer_parameters: float
    """Of one layer with experts, without the routed ones, on one accelerator."""
    routed_parameters: float
    """Of one layer's routed experts, on one accelerator."""
    embedding_parameters: float
    """Input embedding and LM head that are on this stage, on one accelerator."""
    kv_elements: int
    """Of one token in one layer, on one accelerator."""

    @property
    def layers(self) -> int:
        """Of either kind."""
        return self.dense_layers + self.expert_layers

    @property
    def full_layers(self) -> float:
        """Those that attend to the whole context."""
        return self.layers - self.windowed_layers

    @property
    def shared_parameters(self) -> float:
        """All but routed experts and embeddings: what every token is multiplied with."""
        return self.dense_layers * self.dense_layer_parameters + self.expert_layers * self.expert_layer_parameters

    def weight_bytes(self, model: Model) -> float:
        """Bytes of weights on one accelerator."""
        return self.read_bytes(model, 1.0)

    def read_bytes(self, model: Model, experts_share: float) -> float:
        """Bytes of weights on one accelerator with only so much of the routed experts."""
        others = (self.shared_parameters + self.embedding_parameters) * PRECISION_BYTES[model.weight_precision]
        return others + experts_share * self.expert_layers * self.routed_parameters * expert_bytes(model)

    def kv_bytes_per_token(self, model: Model) -> float:
        """KV bytes of one token on one accelerator, over all layers."""
        return self.layers * self.kv_elements * PRECISION_BYTES[model.kv_precision]

    def full_kv_bytes_per_token(self, model: Model) -> float:
        """The same over the layers that attend to the whole context."""
        return self.full_layers * self.kv_elements * PRECISION_BYTES[model.kv_precision]

    def window_kv_bytes(self, model: Model) -> float:
        """KV bytes of a full window on one accelerator, over the windowed layers."""
        elements = self.windowed_layers * self.kv_elements * (model.window_tokens or 0)
        return elements * PRECISION_BYTES[model.kv_precision]


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
    """The model's stages: layers as even as can be (the first stages have one more; dense layers of a model with
    experts are its first), the input embedding on the first, the LM head on the last (a copy where it is tied and there
    are several stages). KV heads are copied where TP exceeds them, what makes mla's latents is on every rank.
    """
    check_parallelism(model, tensor_parallel, pipeline_parallel)
    return tuple(_stage(model, tensor_parallel, pipeline_parallel, index) for index in range(pipeline_parallel))


def _stage(model: Model, tensor_parallel: int, pipeline_parallel: int, index: int) -> Stage:
    each, more = divmod(model.layers, pipeline_parallel)
    layers, start = each + (index < more), index * each + min(index, more)
    dense = min(max(model.layers - expert_layers(model) - start, 0), layers)
    first, last = index == 0, index == pipeline_parallel - 1
    tables = 1 if first and last and model.tied_embeddings else first + last
    every = _parameters_of_every_layer(model, tensor_parallel)
    return Stage(
        dense_layers=dense,
        expert_layers=layers - dense,
        windowed_layers=layers * model.windowed_layers / model.layers,
        dense_layer_parameters=(every + feed_forward_parameters(model)) / tensor_parallel,
        expert_layer_parameters=(every + always_parameters(model)) / tensor_parallel,
        routed_parameters=routed_parameters(model) / tensor_parallel,
        embedding_parameters=tables * embedding_parameters(model) / tensor_parallel,
        kv_elements=kv_elements(model, tensor_parallel),
    )


def _parameters_of_every_layer(model: Model, tensor_parallel: int) -> float:
    """Attention, norms and biases of one layer, over all TP ranks: with what they have copies of."""
    rest = (model.parameters - matrix_parameters(model)) / model.layers
    copies = (tensor_parallel - 1) * latent_parameters(model)
    if model.attention == "gqa":
        copied_heads = -(-model.kv_heads // tensor_parallel) * tensor_parallel - model.kv_heads
        copies = 2 * copied_heads * model.head_dim * model.hidden_size
    return attention_parameters(model) + rest + copies
