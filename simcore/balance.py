"""The balance point of an accelerator: from how many tokens in a batch on its linear layers are bound by arithmetic.

A linear layer of N weights over n tokens computes 2 N n FLOPs and reads N weights of w bytes. Both take as long at

    n = FLOP/s x w / (2 x bytes/s)

Below it a batch waits for memory, and more tokens cost next to nothing (why decodes are batched, and why prompts'
chunks ride along with them); beyond it each token costs its FLOPs. The iteration times that simulations use join the
two smoothly (``simcore.latency.terms``).
"""

from __future__ import annotations

from dataclasses import dataclass

from simcore.latency.coefficients import Coefficients, coefficients_of
from simcore.spec import PRECISION_BYTES, Accelerator

BF16 = "bf16"


@dataclass(frozen=True)
class BalancePoint:
    """Of one precision of weights."""

    weights: str
    """How weights are stored."""
    computed: str
    """What products are computed at: bf16 where the accelerator has no other."""
    bytes_per_weight: float
    flops_per_s: float
    tokens: float
    """By the peaks of the data sheet."""
    reached_tokens: float
    """By the shares of both peaks that the roofline has products and reads reach."""


def balance_points(accelerator: Accelerator, engine: str = "vllm-2026") -> list[BalancePoint]:
    """One for each precision that weights may be stored at."""
    fitted = coefficients_of(accelerator, engine)
    return [_point(accelerator, precision, fitted) for precision in PRECISION_BYTES]


def _point(accelerator: Accelerator, weights: str, fitted: Coefficients) -> BalancePoint:
    """mxfp4 is how weights are stored: they are computed at bf16's peak."""
    peaks = {
        "fp8": (accelerator.fp8_flops_per_s, fitted.fp8_flops_share),
        "fp4": (accelerator.fp4_flops_per_s, fitted.fp4_flops_share),
    }
    peak, share = peaks.get(weights, (None, 0.0))
    computed = weights if peak else BF16
    if not peak:
        peak, share = accelerator.bf16_flops_per_s, fitted.flops_share
    size = PRECISION_BYTES[weights]
    tokens = peak * size / (2 * accelerator.memory_bandwidth_bytes_per_s)
    return BalancePoint(weights, computed, size, peak, tokens, tokens * share / fitted.bandwidth_share)
