"""What published names are in the catalogue."""

from __future__ import annotations

import pytest

from simcore.catalogue import accelerator_ids, machine, machine_ids, model, resolve_accelerator
from simcore.validation.names import (
    Gpus,
    Software,
    Unknown,
    at_precision,
    gpus_of_name,
    machine_with,
    model_of_name,
    software_of_name,
)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("llama2-70b", "llama2-70b"),
        ("Llama-2-70b-hf", "llama2-70b"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("meta-llama/Meta-Llama-3.1-70B", "llama-3.1-70b"),
        ("nvidia/Llama-3.1-70B-Instruct-FP8", "llama-3.1-70b"),
        ("Llama 3.3 70B", "llama-3.1-70b"),
        ("Meta-Llama-3-8B", "llama-3.1-8b"),
        ("llama3.1-405b", "llama-3.1-405b"),
        ("Llama-3.1-8B (see issue)", "llama-3.1-8b"),
        ("mixtral 8x7B", "mixtral-8x7b"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"),
        ("openai/gpt-oss-120b", "gpt-oss-120b"),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b"),
        ("Qwen/Qwen3-32B", "qwen3-32b"),
        ("deepseek-ai/DeepSeek-R1-0528", "deepseek-v3"),
        ("deepseek-ai/DeepSeek-V3.1", "deepseek-v3"),
        ("DeepSeek-R1/V3", "deepseek-v3"),
        ("tiiuae/falcon-180B-chat", "falcon-180b"),
        ("bigscience/bloom", "bloom-176b"),
    ],
)
def test_models(name: str, known: str) -> None:
    assert model_of_name(name).id == known


@pytest.mark.parametrize("name", ["glm-4.5-air", "QwQ-32B", "llama2-13b", "", "unknown", "DeepSeek-V3.2-Exp", "v3"])
def test_models_that_are_not_in_the_catalogue(name: str) -> None:
    with pytest.raises(Unknown, match="is not in the catalogue"):
        model_of_name(name)


@pytest.mark.parametrize(
    ("text", "accelerator", "count"),
    [
        ("8x NVIDIA H200-SXM-141GB", "h200-141gb", 8),
        ("8x Virtualized NVIDIA H200-SXM-141GB", "h200-141gb", 8),
        ("8x NVIDIA B200-SXM-180GB", "b200-180gb", 8),
        ("4xB200 192GB", "b200-180gb", 4),
        ("1x H100", "h100-80gb", 1),
        ("2x H100 (8xH100 node)", "h100-80gb", 2),
        ("2x H100 80G (as 1.8.0; verify)", "h100-80gb", 2),
        ("H200-SXM-141GBx8", "h200-141gb", 8),
        ("1x H100 NVL 94GB", "h100-nvl-94gb", 1),
        ("8x H100-PCIe-80GB", "h100-pcie-80gb", 8),
        ("1x RTX PRO 6000", "rtx-pro-6000-96gb", 1),
        ("h100_sxm", "h100-80gb", None),
        ("b200_sxm", "b200-180gb", None),
        ("a100-80gb", "a100-80gb", None),
        ("(see page: H100)", "h100-80gb", None),
    ],
)
def test_accelerators(text: str, accelerator: str, count: int | None) -> None:
    assert gpus_of_name(text) == Gpus(accelerator, count)


@pytest.mark.parametrize("text", ["8x A100 40GB", "1x GH200 96GB", "8x A100-PCIe-80GB", "1x RTX 4090", "", "TPU v5e"])
def test_accelerators_that_are_not_in_the_catalogue(text: str) -> None:
    with pytest.raises(Unknown, match="is not in the catalogue"):
        gpus_of_name(text)


def test_two_kinds_of_accelerators_are_not_one() -> None:
    with pytest.raises(Unknown, match="2 kinds"):
        gpus_of_name("24x NVIDIA H200-SXM-141GB (x16), NVIDIA H100-SXM-80GB (x8)")


def test_every_accelerator_of_a_machine_is_found_by_its_own_id() -> None:
    in_machines = {resolve_accelerator(machine(machine_id)).id for machine_id in machine_ids()}
    for accelerator in set(accelerator_ids()) & in_machines:
        assert gpus_of_name(accelerator).accelerator == accelerator
        assert resolve_accelerator(machine_with(accelerator)).id == accelerator
        assert machine_with(accelerator).power_cap_w is None


@pytest.mark.parametrize(
    ("text", "weights"),
    [("fp8", "fp8"), ("FP8", "fp8"), ("bfloat16", "bf16"), ("fp16", "bf16"), ("bf16?", "bf16"), ("FP4", "fp4")],
)
def test_precisions(text: str, weights: str) -> None:
    served = at_precision(model("llama-3.1-70b"), text, "fp8")
    assert (served.weight_precision, served.kv_precision) == (weights, "fp8")


def test_a_models_own_precision_stays() -> None:
    published = model("gpt-oss-120b")
    assert at_precision(published, "mxfp4") == published
    assert at_precision(published, "native") == published
    assert at_precision(published, "bf16").expert_precision is None


@pytest.mark.parametrize("text", ["int4", "UINT4", "IQ2_M", "(see page)"])
def test_precisions_that_are_not_modelled(text: str) -> None:
    with pytest.raises(Unknown, match="is not modelled"):
        at_precision(model("llama-3.1-8b"), text)


@pytest.mark.parametrize(
    ("text", "software"),
    [
        ("vLLM 0.11.1", Software("vllm", "vllm-2026")),
        ("vLLM 0.6.5.dev964+mlperf50, Pytorch 2.7", Software("vllm", "vllm-2026")),
        ("vLLM", Software("vllm", "vllm-2026")),
        ("vLLM 0.3 pre-chunked", Software("vllm", "vllm-2023")),
        ("Mango LLMBoost AI Enterprise Platform, vllm-0.9.0.2.dev108+g", Software("vllm", "vllm-2026")),
        ("SGLang-omni", Software("sglang", "vllm-2026")),
        ("TensorRT 10.11, CUDA 12.9", Software("trtllm", "trtllm-2025")),
        ("TensorRT-LLM 1.0 PyTorch backend", Software("trtllm", "trtllm-2025")),
        ("NIM 1.8.0", Software("nim", "trtllm-2025")),
    ],
)
def test_software(text: str, software: Software) -> None:
    assert software_of_name(text) == software


@pytest.mark.parametrize("text", ["llama.cpp", "tt-inference-server", ""])
def test_software_that_is_not_modelled(text: str) -> None:
    with pytest.raises(Unknown, match=r"is not (modelled|stated)"):
        software_of_name(text)
