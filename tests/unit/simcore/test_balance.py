"""The balance point, by hand."""

from dataclasses import replace

import pytest

from simcore.balance import balance_points
from simcore.catalogue import accelerator, accelerator_ids


def tokens(accelerator_id: str) -> dict[str, tuple[str, float]]:
    return {point.weights: (point.computed, point.tokens) for point in balance_points(accelerator(accelerator_id))}


def test_it_is_flops_over_bytes_for_each_weight() -> None:
    h100 = tokens("h100-80gb")
    assert h100["bf16"] == ("bf16", pytest.approx(989e12 * 2 / (2 * 3.35e12)))
    assert h100["fp8"] == ("fp8", pytest.approx(1979e12 * 1 / (2 * 3.35e12)))
    assert h100["fp4"] == ("bf16", pytest.approx(989e12 * 0.5625 / (2 * 3.35e12)))
    assert h100["mxfp4"] == ("bf16", pytest.approx(989e12 * 0.53125 / (2 * 3.35e12)))
    assert tokens("a100-80gb")["bf16"][1] == pytest.approx(312e12 / 2039e9)
    assert tokens("b200-180gb")["fp4"][0] == "fp4"


def test_twice_the_bandwidth_halves_it() -> None:
    h100 = accelerator("h100-80gb")
    faster = replace(h100, memory_bandwidth_bytes_per_s=2 * h100.memory_bandwidth_bytes_per_s)
    for one, other in zip(balance_points(h100), balance_points(faster), strict=True):
        assert one.tokens == pytest.approx(2 * other.tokens)
        assert one.reached_tokens == pytest.approx(2 * other.reached_tokens)


@pytest.mark.parametrize("accelerator_id", accelerator_ids())
def test_every_accelerator_has_one_for_each_precision(accelerator_id: str) -> None:
    points = balance_points(accelerator(accelerator_id))
    assert [point.weights for point in points] == ["bf16", "fp8", "fp4", "mxfp4"]
    assert all(point.tokens > 0 and point.reached_tokens > 0 for point in points)
