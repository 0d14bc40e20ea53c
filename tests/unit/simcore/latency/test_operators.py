"""Matrix products have the parameters that the model's shapes give."""

from __future__ import annotations

import pytest

from simcore.catalogue import model, model_ids
from simcore.latency.operators import dense_layer_operators, expert_layer_operators
from simcore.shapes import (
    always_parameters,
    attention_parameters,
    feed_forward_parameters,
    latent_parameters,
)


@pytest.mark.parametrize("model_id", model_ids())
def test_the_products_of_a_layer_have_its_parameters(model_id: str) -> None:
    of = model(model_id)
    dense = sum(one.parameters for one in dense_layer_operators(of, 1))
    assert dense == attention_parameters(of) + feed_forward_parameters(of)
    if of.experts:
        beside = sum(one.parameters for one in expert_layer_operators(of, 1))
        assert beside == attention_parameters(of) + always_parameters(of)


def test_ranks_share_all_but_copied_heads_latents_and_routers() -> None:
    llama, deepseek = model("llama-3.1-8b"), model("deepseek-v3")
    one, four = (sum(op.parameters for op in dense_layer_operators(llama, tp)) for tp in (1, 4))
    assert four == one / 4
    sixteen = sum(op.parameters for op in dense_layer_operators(llama, 16))
    assert sixteen == one / 16 + 2 * llama.hidden_size * llama.head_dim / 2
    one, eight = (sum(op.parameters for op in expert_layer_operators(deepseek, tp)) for tp in (1, 8))
    on_all = latent_parameters(deepseek) + deepseek.hidden_size * 256
    assert eight == (one - on_all) / 8 + on_all
