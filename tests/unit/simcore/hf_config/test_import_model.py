"""A Hugging Face configuration becomes a model whose parameters and KV bytes are the known ones."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simcore.__main__ import main
from simcore.catalogue import model as catalogue_model
from simcore.catalogue import model_ids
from simcore.hf_config import checks, import_model, read_config
from simcore.hf_config.check import named_size
from simcore.shapes import kv_bytes_per_token
from simcore.spec import Model, SpecError, decode
from tests.unit.simcore.hf_config.configs import DEEPSEEK_V3, GPT_OSS, PUBLISHED, SHIPPED


def imported(config: dict[str, Any], name: str = "it") -> Any:
    return import_model(read_config(json.dumps(config)), name)


def test_all_shipped_models_are_held_to_it() -> None:
    assert set(SHIPPED) == set(model_ids())


@pytest.mark.parametrize("model_id", SHIPPED)
def test_a_shipped_model_comes_out_of_its_configuration_to_the_last_parameter(model_id: str) -> None:
    shipped, found = catalogue_model(model_id), imported(SHIPPED[model_id])
    assert replace(found.model, id=shipped.id, name=shipped.name) == shipped
    assert kv_bytes_per_token(found.model) == kv_bytes_per_token(shipped)
    compared = checks(found)
    assert {check.what for check in compared} == {"parameters", "KV bytes a token"}
    assert all(check.agrees and check.difference == 0 for check in compared)


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_are_those_of_the_weight_files(name: str) -> None:
    total, config = PUBLISHED[name]
    found = imported(config, name)
    assert found.model.parameters == found.counted.total == total
    assert all(check.agrees for check in checks(found, published=total))
    assert found.notes == ()


def test_kv_bytes_of_a_token_by_hand() -> None:
    assert kv_bytes_per_token(imported(PUBLISHED["Qwen2.5 7B"][1]).model) == 2 * 28 * 4 * 128 * 2
    assert kv_bytes_per_token(imported(PUBLISHED["Kimi K2"][1]).model) == 61 * (512 + 64) * 2
    assert kv_bytes_per_token(imported(PUBLISHED["Falcon 7B"][1]).model) == 2 * 32 * 1 * 64 * 2


@pytest.mark.parametrize(
    ("config", "windows"),
    [
        (PUBLISHED["Gemma 2 9B"][1], (21, 4096)),
        (PUBLISHED["Phi 3 mini"][1], (32, 2047)),
        (
            PUBLISHED["Qwen2.5 7B"][1] | {"use_sliding_window": True, "sliding_window": 4096, "max_window_layers": 20},
            (8, 4096),
        ),
        (PUBLISHED["Gemma 2 9B"][1] | {"model_type": "gemma3_text", "sliding_window": 1024}, (35, 1024)),
        (SHIPPED["mistral-7b"] | {"sliding_window": 32768}, (0, None)),
    ],
)
def test_windows(config: dict[str, Any], windows: tuple[int, int | None]) -> None:
    model = imported(config).model
    assert (model.windowed_layers, model.window_tokens) == windows


@pytest.mark.parametrize(
    ("quantized", "weights", "kv", "experts"),
    [
        ({"quant_method": "fp8"}, "fp8", "bf16", None),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}, "fp4", "fp8", None),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8", "bf16", None),
        (
            {"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8, "type": "float"}}
            | {"config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}},
            "fp8",
            "fp8",
            None,
        ),
    ],
)
def test_precisions(quantized: dict[str, Any], weights: str, kv: str, experts: str | None) -> None:
    model = imported(SHIPPED["llama-3.1-8b"] | {"quantization_config": quantized}).model
    assert (model.weight_precision, model.kv_precision, model.expert_precision) == (weights, kv, experts)


def test_a_model_that_also_sees_gives_its_decoder() -> None:
    whole = {"model_type": "mistral3", "vision_config": {"hidden_size": 1024}, "text_config": SHIPPED["mistral-7b"]}
    found = imported(whole)
    assert found.model.parameters == catalogue_model("mistral-7b").parameters
    assert "only the decoder (text_config)" in found.notes[0]


def test_scaled_contexts() -> None:
    yarn = {"rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}}
    assert imported(PUBLISHED["Qwen2.5 7B"][1] | yarn).model.max_model_tokens == 131072
    assert imported(SHIPPED["llama-3.1-8b"]).model.max_model_tokens == 131072
    dynamic = {"rope_scaling": {"type": "dynamic", "factor": 2.0}}
    assert imported(SHIPPED["llama2-7b"] | dynamic).model.max_model_tokens == 8192


def test_an_unknown_family_is_taken_as_llama_and_says_so() -> None:
    found = imported(SHIPPED["llama-3.1-8b"] | {"model_type": "novel"})
    assert found.model.parameters == catalogue_model("llama-3.1-8b").parameters
    assert found.notes == ("model_type 'novel' is not known: taken as Llama's form, small parts may be missing",)


def test_a_wrong_published_total_is_shown() -> None:
    check = checks(imported(SHIPPED["llama-3.1-8b"]), published=8_800_000_000)[0]
    assert not check.agrees
    assert check.difference == pytest.approx(-0.0875, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("Llama 3.1 70B", 70e9),
        ("gpt2-124M", 124e6),
        ("Mixtral 8x7B", None),
        ("Qwen3 30B-A3B", 30e9),
        ("Phi 3 mini", None),
    ],
)
def test_sizes_in_names(name: str, size: float | None) -> None:
    assert named_size(name) == size


LLAMA = SHIPPED["llama-3.1-8b"]


def without(config: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in config.items() if name != key}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (without(LLAMA, "num_hidden_layers"), "num_hidden_layers (or n_layer, n_layers, num_layers): missing"),
        (without(LLAMA, "vocab_size"), "vocab_size: missing, expected a whole number"),
        (without(LLAMA, "max_position_embeddings"), "max_position_embeddings (or "),
        (LLAMA | {"num_hidden_layers": "32"}, "num_hidden_layers: found '32', expected a whole number"),
        (LLAMA | {"num_hidden_layers": True}, "num_hidden_layers: found True, expected a whole number"),
        (LLAMA | {"hidden_size": 1e300}, "hidden_size: found 1e+300, expected a whole number"),
        (LLAMA | {"hidden_size": 4097}, "hidden_size: found 4097, expected a multiple of the 32 heads"),
        (
            LLAMA | {"num_key_value_heads": 5},
            "num_key_value_heads: found 5, expected a divisor of num_attention_heads (32)",
        ),
        *(
            (LLAMA | {"rope_scaling": {"type": kind, "factor": factor}}, "rope_scaling.factor: found")
            for kind, factor in (
                ("linear", math.nan),
                ("dynamic", math.inf),
                ("linear", -4),
                ("yarn", 0),
                ("yarn", "4"),
            )
        ),
        (
            without(LLAMA, "rope_scaling") | {"rope_parameters": {"rope_type": "yarn", "factor": 1e308}},
            "rope_parameters.factor: found 1e+308",
        ),
        (LLAMA | {"model_type": ["llama"]}, "model_type: found ['llama'], expected a word such as llama"),
        (LLAMA | {"model_type": "a\0b"}, "model_type: found 'a\\x00b', expected a word"),
        (LLAMA | {"model_type": "\ud800"}, "model_type: found '\\ud800', expected a word"),
        (LLAMA | {"num_hidden_layers": 10**12, "intermediate_size": 10**12}, "parameters, expected at most 1e+15"),
        (LLAMA | {"hidden_size": 10**400}, "hidden_size: found 1000"),
        (LLAMA | {"model_type": "mamba2"}, "model_type: found 'mamba2', expected attention in every layer"),
        (LLAMA | {"model_type": "t5"}, "model_type: found 't5', expected a decoder"),
        (LLAMA | {"layer_types": ["linear_attention"] * 32}, "layer_types: found 'linear_attention'"),
        (LLAMA | {"layer_types": ["full_attention"] * 3}, "layer_types: found '3 layers', expected the 32"),
        (LLAMA | {"quantization_config": {"quant_method": "awq", "bits": 4}}, "quant_method: found 'awq'"),
        (LLAMA | {"quantization_config": "fp8"}, "quantization_config: found 'fp8', expected an object"),
        (LLAMA | {"torch_dtype": "int8"}, "torch_dtype: found 'int8'"),
        (DEEPSEEK_V3 | {"first_k_dense_replace": 61}, "first_k_dense_replace: found 61, expected fewer than"),
        (DEEPSEEK_V3 | {"moe_layer_freq": 2}, "moe_layer_freq: found 2, expected 1"),
        (without(DEEPSEEK_V3, "qk_rope_head_dim"), "qk_rope_head_dim: missing"),
        (
            GPT_OSS | {"num_local_experts": 32, "num_experts_per_tok": 64},
            "num_experts_per_tok: found 64, expected at most",
        ),
        ({"tokenizer_class": "LlamaTokenizer"}, "found a tokenizer's configuration"),
        ({"weight_map": {}, "metadata": {}}, "found the index of weight files"),
        ({"bos_token_id": 1, "transformers_version": "4.40"}, "found a generation's configuration"),
        ({}, "found no num_hidden_layers"),
    ],
)
def test_what_is_wrong_is_named(config: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError) as error:
        imported(config)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1 column 1: found what is not JSON"),
        ("<html>", "found what is not JSON"),
        ("[1, 2]", "found [1, 2], expected an object"),
        ("[" * 200_000, "found JSON that is nested too deeply"),
        ('{"hidden_size": ' + "9" * 6000 + "}", "found a number of thousands of digits"),
        (b"\xff\xfe{}", "not UTF-8"),
        ("{" + '"a": 1,' * 700_000, "found more than 4,000,000 bytes"),
    ],
)
def test_a_text_that_is_no_configuration(text: str | bytes, words: str) -> None:
    with pytest.raises(SpecError) as error:
        read_config(text)
    assert words in str(error.value)


def test_a_name_of_unprintable_letters_is_left_without_them() -> None:
    assert import_model(read_config(json.dumps(LLAMA | {"_name_or_path": "org/our\0\ud800-8B"}))).model.name == "our-8B"


def test_a_byte_order_mark_is_no_fault() -> None:
    text = json.dumps(LLAMA).encode("utf-8-sig")
    assert import_model(read_config(text), "x").model == imported(LLAMA, "x").model


def test_the_command_writes_a_model_that_a_case_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, out = tmp_path / "config.json", tmp_path / "model.json"
    config.write_text(json.dumps(PUBLISHED["Qwen3 8B"][1]))
    assert main(["model", str(config), "--name", "Qwen3 8B", "--parameters", "8,190,735,360", "--out", str(out)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["parameters"] == sum(report["parameters_by_part"].values()) == 8_190_735_360
    assert report["kv_bytes_per_token"] == 2 * 36 * 8 * 128 * 2
    assert [check["agrees"] for check in report["checks"]] == [True, True]
    made = decode(Model, json.loads(out.read_text()))
    assert (made.id, made.parameters) == ("qwen3-8b", 8_190_735_360)


def test_the_command_names_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}")
    assert main(["model", str(config)]) == 2
    assert capsys.readouterr().err.startswith(f"{config}: config.json: found no num_hidden_layers")


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        (
            "llama-3.1-8b",
            {"num_key_value_heads": 7},
            "num_key_value_heads: found 7, expected a divisor of num_attention_heads (32)",
        ),
        (
            "mixtral-8x7b",
            {"num_experts_per_tok": 9},
            "num_experts_per_tok: found 9, expected at most num_local_experts (8)",
        ),
        (
            "bloom-176b",
            {"n_head": 112, "num_key_value_heads": 5},
            "num_key_value_heads: found 5, expected a divisor of n_head",
        ),
    ],
)
def test_what_does_not_fit_together_is_named_by_the_files_own_keys(
    name: str, changes: dict[str, Any], words: str
) -> None:
    config = {
        key: value for key, value in SHIPPED[name].items() if not (key == "num_attention_heads" and "n_head" in changes)
    }
    with pytest.raises(SpecError) as error:
        imported(config | changes)
    assert str(error.value).startswith(words)
    with pytest.raises(SpecError) as error:
        imported({"model_type": "seen", "text_config": config | changes})
    assert str(error.value).startswith(f"text_config.{words}")
