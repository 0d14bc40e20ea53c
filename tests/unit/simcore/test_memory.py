"""KV capacity: the formula, what it is made of, and the reason in bytes where a model does not fit."""

from __future__ import annotations

import pytest

from simcore.catalogue import machine, model, model_ids
from simcore.memory import (
    DoesNotFit,
    activation_bytes,
    kv_bytes_per_token,
    kv_capacity,
    weight_bytes,
)
from simcore.shapes import matrix_parameters
from simcore.spec import Machine, MemorySpec, Model, SpecError
from simcore.stages import stages


def capacity_tokens(of: Model, box: Machine, tp: int, pp: int, memory: MemorySpec) -> int:
    return kv_capacity(of, box, tp, pp, memory).tokens


@pytest.mark.parametrize("model_id", model_ids())
def test_published_parameters_follow_from_the_shapes(model_id: str) -> None:
    assert matrix_parameters(model(model_id)) == pytest.approx(model(model_id).parameters, rel=0.01)


@pytest.mark.parametrize(
    ("model_id", "expected"),
    [
        ("bloom-176b", 4_014_080),
        ("llama2-70b", 327_680),
        ("llama2-7b", 524_288),
        ("llama-3.1-8b", 131_072),
        ("qwen3-32b", 262_144),
    ],
)
def test_kv_bytes_a_token(model_id: str, expected: int) -> None:
    assert kv_bytes_per_token(model(model_id)) == expected


def test_capacity_is_what_is_left_of_the_usable_memory() -> None:
    """Llama-3.1-70B on 2 H100: about 40,000 tokens with the driver's 81,559 MiB, of which activations take 1,500."""
    llama, box = model("llama-3.1-70b"), machine("dgx-h100")
    found = kv_capacity(llama, box, 2, 1, MemorySpec())
    assert found.usable_bytes == int(81559 * 2**20 * 0.9)
    assert found.weight_bytes_per_accelerator == weight_bytes(llama) // 2
    room = found.usable_bytes - found.weight_bytes_per_accelerator - found.activation_bytes_per_accelerator
    assert found.tokens == room // (327_680 // 2) // 16 * 16
    assert found.tokens == pytest.approx(39_000, rel=0.05)
    assert found.blocks * 16 == found.tokens


def test_the_tightest_stage_decides() -> None:
    llama, box = model("llama-3.1-70b"), machine("dgx-h100")
    first, last = stages(llama, 2, 2)
    assert first.layers == last.layers == 40
    found = kv_capacity(llama, box, 2, 2, MemorySpec(block_tokens=1))
    used = last.weight_bytes(llama) + activation_bytes(llama, 2, True)
    assert found.tokens == int((found.usable_bytes - used) // last.kv_bytes_per_token(llama))


def test_stages_add_up_to_the_model() -> None:
    for model_id, pp in (("llama-3.1-70b", 3), ("qwen3-32b", 4), ("bloom-176b", 1)):
        one = model(model_id)
        parts = stages(one, 1, pp)
        assert sum(part.layers for part in parts) == one.layers
        assert sum(part.weight_bytes(one) for part in parts) == pytest.approx(weight_bytes(one), rel=1e-9)


def test_kv_heads_are_copied_where_tensor_parallel_exceeds_them() -> None:
    llama = model("llama-3.1-70b")
    eight, sixteen = stages(llama, 8, 1)[0], stages(llama, 16, 1)[0]
    assert sixteen.kv_bytes_per_token(llama) == eight.kv_bytes_per_token(llama) == 327_680 / 8
    assert 16 * sixteen.dense_layer_parameters > 8 * eight.dense_layer_parameters


def test_given_figures_override_what_is_derived() -> None:
    bloom, box = model("bloom-176b"), machine("dgx-a100")
    assert capacity_tokens(bloom, box, 8, 1, MemorySpec(kv_tokens=83507, block_tokens=1)) == 83507
    assert capacity_tokens(bloom, box, 8, 1, MemorySpec(kv_tokens=100)) == 96
    assert capacity_tokens(bloom, box, 1, 1, MemorySpec(kv_tokens=100, block_tokens=1)) == 100
    halved = kv_capacity(bloom, box, 8, 1, MemorySpec(kv_bytes_per_token=4_014_080 / 2, block_tokens=1))
    assert halved.tokens == pytest.approx(2 * capacity_tokens(bloom, box, 8, 1, MemorySpec(block_tokens=1)), abs=1)
    assert halved.kv_bytes_per_token == 4_014_080 / 2


def test_given_kv_bytes_are_spread_as_the_models_own() -> None:
    """Half the bytes a token, twice the tokens: also where every rank has the whole latent, or a copied head."""
    for model_id, tp in (("deepseek-v3", 8), ("qwen3-30b-a3b", 8), ("llama-3.1-70b", 4)):
        one, box = model(model_id), machine("dgx-b200")
        own = capacity_tokens(one, box, tp, 1, MemorySpec(block_tokens=1))
        half = kv_bytes_per_token(one) / 2
        halved = capacity_tokens(one, box, tp, 1, MemorySpec(kv_bytes_per_token=half, block_tokens=1))
        assert halved == pytest.approx(2 * own, abs=1)


def test_a_latent_takes_as_much_on_every_rank() -> None:
    """More ranks leave DeepSeek's KV more memory each, but no fewer bytes a token."""
    deepseek, box = model("deepseek-v3"), machine("dgx-b200")
    found = kv_capacity(deepseek, box, 8, 1, MemorySpec(block_tokens=1))
    room = found.usable_bytes - found.weight_bytes_per_accelerator - found.activation_bytes_per_accelerator
    assert found.tokens == room // 70_272
    assert found.kv_bytes_per_token == 70_272


def test_all_experts_are_resident_and_those_taken_are_active() -> None:
    mixtral, box = model("mixtral-8x7b"), machine("dgx-h100")
    found = kv_capacity(mixtral, box, 2, 1, MemorySpec())
    assert found.weight_bytes_per_accelerator == weight_bytes(mixtral) // 2
    inner, hidden = 2 * 2 * 14336 // 4, 2 * 4096
    assert activation_bytes(mixtral, 4, False) == 2048 * (hidden + inner) * 2
    deepseek = model("deepseek-v3")
    assert activation_bytes(deepseek, 1, False) == 2048 * (2 * 7168 + 2 * max(18432, 9 * 2048)) * 2


def test_what_does_not_fit_says_why_in_bytes_and_what_would() -> None:
    with pytest.raises(DoesNotFit) as error:
        kv_capacity(model("llama-3.1-70b"), machine("dgx-a100"), 1, 1, MemorySpec())
    words = str(error.value)
    assert "llama-3.1-70b does not fit dgx-a100" in words
    assert "141,107,412,992 bytes" in words
    assert "85,899,345,920 bytes" in words
    assert "use 2 or more accelerators" in words
    assert "\n" not in words
    assert capacity_tokens(model("llama-3.1-70b"), machine("dgx-a100"), 2, 1, MemorySpec()) > 0


def test_the_advice_is_the_smallest_that_fits() -> None:
    for model_id, machine_id, needed in (("bloom-176b", "dgx-h200", 4), ("bloom-176b", "dgx-a100", 8)):
        with pytest.raises(DoesNotFit, match=f"use {needed} or more"):
            kv_capacity(model(model_id), machine(machine_id), needed // 2, 1, MemorySpec())
        assert kv_capacity(model(model_id), machine(machine_id), needed, 1, MemorySpec()).tokens > 0


def test_less_than_a_block_is_no_capacity() -> None:
    with pytest.raises(DoesNotFit, match=r"memory\.kv_tokens: found 15, expected at least one block of 16"):
        kv_capacity(model("llama2-7b"), machine("dgx-a100"), 1, 1, MemorySpec(kv_tokens=15))
    found = kv_capacity(model("llama2-7b"), machine("dgx-a100"), 1, 1, MemorySpec(block_tokens=1)).tokens
    with pytest.raises(DoesNotFit, match=rf"fits KV of {found}, expected one block of {found + 1} tokens: use 2"):
        kv_capacity(model("llama2-7b"), machine("dgx-a100"), 1, 1, MemorySpec(block_tokens=found + 1))
    with pytest.raises(DoesNotFit) as error:
        kv_capacity(model("llama-3.1-70b"), machine("dgx-a100"), 1, 1, MemorySpec())
    assert "block" not in str(error.value), "the weights alone are too large"


def test_parallelism_that_does_not_suit_the_model_is_refused() -> None:
    with pytest.raises(SpecError, match="tensor_parallel: found 3, expected a divisor of llama2-7b's 32 heads"):
        kv_capacity(model("llama2-7b"), machine("dgx-a100"), 3, 1, MemorySpec())
