"""Inline machines and models in a case: the catalogue's column names, checked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simcore.catalogue import accelerator, machine, model
from simcore.spec import Machine, Model, SpecError, decode, encode


@pytest.mark.parametrize("machine_id", ["dgx-a100", "dgx-h100-pcap"])
def test_a_machine_survives_the_way_to_json_and_back(machine_id: str) -> None:
    plain = json.loads(json.dumps(encode(machine(machine_id))))
    assert decode(Machine, plain) == machine(machine_id)
    plain["accelerator"] = encode(accelerator("h200-141gb"))
    inline = decode(Machine, plain)
    assert inline.accelerator == accelerator("h200-141gb")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kv_heads": 7}, "kv_heads: found 7, expected a divisor of heads"),
        ({"layers": 0}, "layers: found 0, expected at least 1"),
        ({"weight_precision": "int4"}, "weight_precision: found 'int4', expected one of bf16, fp8, fp4"),
        ({"gated_mlp": "yes"}, "gated_mlp: found 'yes', expected true or false"),
        ({"head_dims": 1}, "head_dims: unknown key, .*nearest: 'head_dim'"),
    ],
)
def test_a_models_figures_are_checked(change: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        decode(Model, {**encode(model("llama2-70b")), **change}, "model")


MIXTURE = {"experts": 8, "experts_per_token": 2, "expert_intermediate_size": 100}
LATENT = {"attention": "mla", "kv_lora_rank": 512, "qk_rope_head_dim": 64}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"attention": "mla"}, "kv_lora_rank: found null, expected a whole number with attention mla"),
        (
            {**LATENT, "qk_rope_head_dim": None},
            "qk_rope_head_dim: found null, expected a whole number with",
        ),
        ({"kv_lora_rank": 512}, "kv_lora_rank: found 512, expected none with attention gqa"),
        ({"v_head_dim": 64}, "v_head_dim: found 64, expected none with attention gqa"),
        ({"attention": "mha"}, "attention: found 'mha', expected one of gqa, mla"),
        ({"windowed_layers": 4}, "window_tokens: found null, expected a whole number with 4 windowed_layers"),
        ({"window_tokens": 128}, "window_tokens: found 128, expected none without windowed_layers"),
        ({"windowed_layers": 81, "window_tokens": 9}, r"windowed_layers: found 81, expected at most layers \(80\)"),
        ({"windowed_layers": 8, "window_tokens": 4097}, "window_tokens: found 4097, expected at most max_model_tokens"),
        ({"experts": 8}, "experts_per_token: found null, expected a value with 8 experts"),
        ({"shared_experts": 1}, "shared_experts: found 1, expected none without experts"),
        ({"dense_layers": 1}, "dense_layers: found 1, expected none without experts"),
        ({"expert_precision": "fp8"}, "expert_precision: found fp8, expected none without experts"),
        ({**MIXTURE, "experts_per_token": 9}, r"experts_per_token: found 9, expected at most experts \(8\)"),
        ({**MIXTURE, "dense_layers": 80}, r"dense_layers: found 80, expected at most layers - 1 \(79\)"),
        ({**MIXTURE, "experts": 1}, "experts: found 1, expected at least 2"),
    ],
)
def test_what_a_model_is_made_of_fits_together(change: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        decode(Model, {**encode(model("llama2-70b")), **change}, "model")


@pytest.mark.parametrize("model_id", ["deepseek-v3", "gpt-oss-120b", "mixtral-8x7b"])
def test_a_model_of_any_form_survives_the_way_to_json_and_back(model_id: str) -> None:
    assert decode(Model, json.loads(json.dumps(encode(model(model_id))))) == model(model_id)


def test_provisioned_is_the_nameplate_where_not_given() -> None:
    assert machine("dgx-h100").provisioned() == machine("dgx-h100").nameplate_w
