"""Known parameter counts, KV bytes and FLOPs of models with latents, windows and experts."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Literal

import pytest

from simcore.catalogue import model
from simcore.shapes import (
    active_parameters,
    attention_parameters,
    distinct_experts_share,
    embedding_parameters,
    kv_bytes_per_token,
    kv_elements,
    latent_pair_flops,
    latent_parameters,
    matrix_parameters,
    pair_flops,
    unfolding_flops,
    weight_bytes,
)
from simcore.stages import stages


@pytest.mark.parametrize(
    ("model_id", "parameters", "matrices"),
    [
        ("llama-3.1-405b", 405_853_388_800, 405_849_243_648),
        ("yi-34b", 34_388_917_248, 34_388_049_920),
        ("falcon-180b", 179_522_565_120, 179_517_784_064),
        ("mixtral-8x7b", 46_702_792_704, 46_702_526_464),
        ("qwen3-30b-a3b", 30_532_122_624, 30_531_911_680),
        ("qwen3-235b-a22b", 235_093_634_560, 235_092_836_352),
        ("gpt-oss-20b", 20_914_757_184, 20_907_786_240),
        ("gpt-oss-120b", 116_829_156_672, 116_788_838_400),
        ("deepseek-v3", 671_026_419_200, 671_025_397_760),
    ],
)
def test_known_parameter_counts(model_id: str, parameters: int, matrices: int) -> None:
    """The published total, and its matrices; the rest is norms, biases and sinks."""
    assert model(model_id).parameters == parameters
    assert matrix_parameters(model(model_id)) == matrices


@pytest.mark.parametrize(
    ("model_id", "expected"),
    [
        ("llama-3.1-405b", 2 * 126 * 8 * 128 * 2),
        ("mistral-7b", 131_072),
        ("yi-34b", 245_760),
        ("falcon-180b", 2 * 80 * 8 * 64 * 2),
        ("mixtral-8x7b", 131_072),
        ("qwen3-30b-a3b", 98_304),
        ("qwen3-235b-a22b", 192_512),
        ("gpt-oss-20b", 49_152),
        ("gpt-oss-120b", 73_728),
        ("deepseek-v3", 70_272),
    ],
)
def test_known_kv_bytes_a_token(model_id: str, expected: int) -> None:
    assert kv_bytes_per_token(model(model_id)) == expected


@pytest.mark.parametrize(
    ("model_id", "billions"),
    [("mixtral-8x7b", 12.9), ("qwen3-30b-a3b", 3.3), ("qwen3-235b-a22b", 22.2), ("deepseek-v3", 37.6)],
)
def test_active_parameters_are_those_of_the_name(model_id: str, billions: float) -> None:
    """Counted as published, both embeddings included."""
    one = model(model_id)
    assert (active_parameters(one) + 2 * embedding_parameters(one)) / 1e9 == pytest.approx(billions, abs=0.1)


def test_deepseeks_attention_by_hand() -> None:
    one = model("deepseek-v3")
    queries = 7168 * 1536 + 1536 * 128 * 192
    keys_and_values = 7168 * 576 + 512 * 128 * 256
    assert attention_parameters(one) == queries + keys_and_values + 128 * 128 * 7168
    assert latent_parameters(one) == 7168 * (1536 + 576)
    assert pair_flops(one) == 2 * 128 * (192 + 128)
    assert latent_pair_flops(one) == 2 * 128 * (576 + 512)
    assert unfolding_flops(one) == 2 * 512 * 128 * 256
    plain = dataclasses.replace(one, q_lora_rank=None)
    assert attention_parameters(plain) - attention_parameters(one) == 7168 * 128 * 192 - queries


def test_weights_at_their_precision() -> None:
    """gpt-oss-120b's files are 65.2 GB: experts at 4.25 bits, the rest at 16. DeepSeek's are a byte a parameter."""
    assert weight_bytes(model("gpt-oss-120b")) == pytest.approx(65.2e9, rel=0.002)
    assert weight_bytes(model("gpt-oss-20b")) == pytest.approx(13.76e9, rel=0.002)
    assert weight_bytes(model("deepseek-v3")) == 671_026_419_200
    assert weight_bytes(model("mixtral-8x7b")) == 2 * 46_702_792_704


@pytest.mark.parametrize(("precision", "bits"), [("bf16", 16), ("fp8", 8), ("fp4", 4.5), ("mxfp4", 4.25)])
def test_bits_of_a_weight(precision: Literal["bf16", "fp8", "fp4", "mxfp4"], bits: float) -> None:
    llama = dataclasses.replace(model("llama2-70b"), weight_precision=precision)
    assert weight_bytes(llama) == round(68_976_648_192 * bits / 8)
    experts = dataclasses.replace(model("mixtral-8x7b"), expert_precision=precision)
    routed = 32 * 8 * 3 * 4096 * 14336
    assert weight_bytes(experts) == round((46_702_792_704 - routed) * 2 + routed * bits / 8)


def test_kv_at_fp8_takes_half() -> None:
    for model_id in ("llama2-70b", "deepseek-v3", "gpt-oss-120b"):
        one = model(model_id)
        assert 2 * kv_bytes_per_token(dataclasses.replace(one, kv_precision="fp8")) == kv_bytes_per_token(one)


def test_distinct_experts() -> None:
    """One token takes k of E; many take all; two tokens of 2 in 8 take 8 (1 - (3/4)^2) on average."""
    mixtral = model("mixtral-8x7b")
    assert distinct_experts_share(mixtral, 1) == 2 / 8
    assert distinct_experts_share(mixtral, 2) == 1 - 0.75**2
    assert distinct_experts_share(mixtral, 500) == pytest.approx(1)
    assert distinct_experts_share(model("llama2-7b"), 5) == 0


@pytest.mark.parametrize(
    ("model_id", "tp", "elements"),
    [
        ("llama2-7b", 4, 2 * 8 * 128),
        ("llama-3.1-70b", 4, 2 * 2 * 128),
        ("llama-3.1-70b", 16, 2 * 1 * 128),
        ("qwen3-30b-a3b", 8, 2 * 1 * 128),
        ("deepseek-v3", 1, 576),
        ("deepseek-v3", 16, 576),
    ],
)
def test_kv_on_one_accelerator(model_id: str, tp: int, elements: int) -> None:
    """Multi-head: its share of heads; grouped: ceil(kv_heads / TP); latent: all of it on every rank."""
    assert kv_elements(model(model_id), tp) == elements
    assert stages(model(model_id), tp, 1)[0].kv_elements == elements


def test_six_kv_heads_on_four_accelerators_are_two_each() -> None:
    odd = dataclasses.replace(model("llama2-7b"), heads=36, kv_heads=6)
    assert kv_elements(odd, 4) == 2 * 2 * 128


@pytest.mark.parametrize("pp", [1, 2, 4, 8])
@pytest.mark.parametrize("model_id", ["deepseek-v3", "gpt-oss-120b", "mixtral-8x7b", "bloom-176b"])
def test_stages_hold_the_whole_model(model_id: str, pp: int) -> None:
    one = model(model_id)
    parts = stages(one, 1, pp)
    assert sum(part.layers for part in parts) == one.layers
    assert sum(part.windowed_layers for part in parts) == pytest.approx(one.windowed_layers)
    assert sum(part.kv_bytes_per_token(one) for part in parts) == kv_bytes_per_token(one)
    copied = embedding_parameters(one) if one.tied_embeddings and pp > 1 else 0
    held = sum(part.weight_bytes(one) for part in parts)
    assert held == pytest.approx(weight_bytes(one) + 2 * copied, rel=1e-12)
    assert all(low.layers >= high.layers for low, high in itertools.pairwise(parts))


def test_dense_layers_are_the_first() -> None:
    parts = stages(model("deepseek-v3"), 1, 32)
    assert [part.dense_layers for part in parts] == [2, 1] + [0] * 30
    assert [part.layers for part in parts] == [2] * 29 + [1] * 3


def test_what_is_on_every_rank_is_counted_on_each() -> None:
    """DeepSeek's latent projections are copied: 8 ranks hold 7 more of them a layer."""
    one = model("deepseek-v3")
    eight = stages(one, 8, 1)[0]
    copies = 7 * 61 * latent_parameters(one)
    assert 8 * eight.weight_bytes(one) == pytest.approx(weight_bytes(one) + copies, rel=1e-12)
