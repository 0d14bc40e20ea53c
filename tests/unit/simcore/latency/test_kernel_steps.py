"""The roofline against every step of NVIDIA's kernel tables, those that it was fitted to and those that judge it.

Bounds are a fence a little above what the fits leave; goals are validation's (record 0024).
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from functools import cache

import pytest

from benchmarks.fit_device import is_fitted, machine_with
from simcore.latency.coefficients import coefficients
from simcore.latency.curve import IterationCurve
from simcore.latency.kernel_steps import TERMS, KernelGroup, KernelStep, kernel_steps
from simcore.latency.roofline import roofline_curve

MEASURED = ("a100-80gb", "h100-80gb", "h200-141gb", "b200-180gb", "gb200-192gb", "l40s-48gb", "rtx-pro-6000-96gb")
LATENT = "deepseek-v3"


@cache
def curve_of(group: KernelGroup) -> IterationCurve:
    return roofline_curve(group.model, machine_with(group.hardware), group.tensor_parallel, 1, "kernel")


def errors(steps: list[KernelStep]) -> list[float]:
    return [step.predicted_ms(curve_of(step.group)) / step.measured_ms - 1 for step in steps]


def mape(steps: list[KernelStep]) -> float:
    return statistics.mean(map(abs, errors(steps)))


def of(hardware: str, kind: str, fitted: bool) -> list[KernelStep]:
    return [
        step
        for step in kernel_steps()
        if (step.group.hardware, step.kind, is_fitted(step)) == (hardware, kind, fitted)
        and step.group.model_id != LATENT
    ]


@pytest.mark.parametrize("kind", ["prefill", "decode"])
@pytest.mark.parametrize("hardware", MEASURED)
def test_steps_that_it_was_fitted_to(hardware: str, kind: str) -> None:
    steps = of(hardware, kind, fitted=True)
    assert len(steps) > 30
    assert mape(steps) <= (0.105 if hardware == "l40s-48gb" else 0.10)


@pytest.mark.parametrize("kind", ["prefill", "decode", "hybrid"])
@pytest.mark.parametrize("hardware", MEASURED)
def test_steps_that_it_was_not_fitted_to(hardware: str, kind: str) -> None:
    """Other models, and TP4, and all hybrids."""
    steps = of(hardware, kind, fitted=False)
    assert len(steps) > 30
    assert mape(steps) <= 0.11
    assert abs(statistics.mean(errors(steps))) <= 0.10


@pytest.mark.parametrize("hardware", ["h100-80gb", "h200-141gb", "b200-180gb", "gb200-192gb"])
def test_dense_models_that_it_was_not_fitted_to(hardware: str) -> None:
    """Llama-3.1-405B and Qwen3-32B, at every precision and TP."""
    groups: dict[tuple[str, str, str], list[KernelStep]] = defaultdict(list)
    for step in kernel_steps():
        if step.group.hardware == hardware and step.group.model_id in ("llama-3.1-405b", "qwen3-32b"):
            groups[step.group.model_id, step.group.weight_precision, step.kind].append(step)
    assert len(groups) >= 12
    slow = {key for key in groups if hardware.startswith("h") and key[1] == "fp8" and key[2] != "decode"}
    assert max(mape(groups[key]) for key in groups if key not in slow) <= 0.14
    assert all(mape(groups[key]) <= 0.29 for key in slow)  # just above whole tiles: docs/decisions/0020


@pytest.mark.parametrize("hardware", ["h100-80gb", "h200-141gb", "b200-180gb"])
def test_latent_attention_judges_alone(hardware: str) -> None:
    """DeepSeek-V3, TP8, fp8: none of it was fitted to. Long contexts of its decodes are what is far off."""
    steps = [s for s in kernel_steps() if (s.group.hardware, s.group.model_id) == (hardware, LATENT)]
    steps = [step for step in steps if step.group.weight_precision == "fp8"]
    prompts = [step for step in steps if step.kind != "decode"]
    decodes = [step for step in steps if step.kind == "decode"]
    assert len(prompts) == 10
    assert mape(prompts) <= 0.10
    assert mape(decodes) <= 0.30


def test_terms_are_parts_of_their_step() -> None:
    timed = [step for step in kernel_steps() if step.terms_ms]
    assert len(timed) > 3000
    for step in timed:
        assert step.terms_ms is not None
        assert len(step.terms_ms) == len(TERMS)
        assert 0.6 * step.measured_ms <= sum(step.terms_ms) <= 1.02 * step.measured_ms


def test_what_was_measured_has_coefficients_of_its_own() -> None:
    for hardware in {step.group.hardware for step in kernel_steps()}:
        found = coefficients(hardware, "kernel")
        assert found.stand_in is None
        assert found.engine_version in {s.group.engine_version for s in kernel_steps() if s.group.hardware == hardware}
