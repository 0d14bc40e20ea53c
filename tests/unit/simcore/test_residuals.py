"""Which residuals are nearest to a point."""

from __future__ import annotations

import math

from simcore.catalogue import machine, model
from simcore.residuals import residuals, residuals_near


def test_the_very_place_is_the_nearest() -> None:
    found = residuals_near(model("llama-3.1-70b"), machine("dgx-h100"), 2, "kernel")
    assert set(found) >= {"prefill", "decode", "hybrid"}
    for one in found.values():
        assert (one.model, one.accelerator, one.tensor_parallel) == ("llama-3.1-70b", "h100-80gb", 2)


def test_rows_that_no_fit_used_come_before_those_that_it_did() -> None:
    every = residuals()
    decodes = [
        one
        for one in every
        if (one.engine, one.model, one.accelerator, one.tensor_parallel, one.phase)
        == ("kernel", "llama-3.1-70b", "h100-80gb", 2, "decode")
    ]
    assert {one.fitted for one in decodes} == {True, False}
    assert not residuals_near(model("llama-3.1-70b"), machine("dgx-h100"), 2, "kernel")["decode"].fitted


def test_another_accelerator_is_further_than_another_model() -> None:
    found = residuals_near(model("qwen3-32b"), machine("dgx-b200"), 8, "kernel")["decode"]
    assert found.accelerator == "b200-180gb"


def test_what_a_generation_was_not_measured_in_is_that_of_device_times() -> None:
    found = residuals_near(model("llama-3.1-70b"), machine("dgx-h200"), 2, "vllm-2026")
    assert found["prefill"].engine == "kernel"
    assert found["capacity"].engine == "vllm-2026"
    assert "prefill" in residuals_near(model("bloom-176b"), machine("dgx-a100"), 8, "vllm-2023")


def test_figures_hang_together() -> None:
    """mean |e| >= |mean e|, and mean e^2 = bias^2 + spread^2 >= (mean |e|)^2, to four digits."""
    for one in residuals():
        assert one.rows >= 1
        assert one.mape >= abs(one.bias) - 1e-4
        assert math.hypot(one.bias, one.spread) >= one.mape - 2e-4
        assert one.source
