"""What a million tokens cost, by a named allocation."""

from __future__ import annotations

from decimal import Decimal

OUTPUT_IN_INPUTS = 4
"""``price_ratio``: an output token is charged as so many input tokens, about what public prices do (2023 to 2026: 3 to
5 for most models)."""
MILLION = 1_000_000
SECONDS_PER_HOUR = 3600


def usd_per_million_tokens(
    usd_per_hour: Decimal, input_tokens_per_s: float, output_tokens_per_s: float
) -> tuple[float, float]:
    """USD of a million input and of a million output tokens, by ``price_ratio``: together they pay for all machines.

    input = usd an hour ÷ 3600 ÷ (input/s + 4 × output/s) × 1e6; output = 4 × input. Zero where no token is served.
    """
    shares = input_tokens_per_s + OUTPUT_IN_INPUTS * output_tokens_per_s
    if shares <= 0:
        return 0.0, 0.0
    of_input = float(usd_per_hour) / SECONDS_PER_HOUR / shares * MILLION
    return of_input, OUTPUT_IN_INPUTS * of_input
