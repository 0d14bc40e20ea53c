"""Numbers and names as people read them: three significant digits, no exponent, units after the number."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

SIGNIFICANT = 3
MOST_SIGNIFICANT = 9


def number(value: float, digits: int = SIGNIFICANT) -> str:
    """Three significant digits (or so many): ``1,230``, ``0.0456``, ``78.1``."""
    return f"{Decimal(f'{value:.{digits}g}'):,f}"


def digits_apart(value: float | None, other: float) -> int:
    """The significant digits, at least three, at which two numbers that differ also read differently."""
    if value is None:
        return SIGNIFICANT
    apart = (
        digits for digits in range(SIGNIFICANT, MOST_SIGNIFICANT) if number(value, digits) != number(other, digits)
    )
    return next(apart, MOST_SIGNIFICANT if value != other else SIGNIFICANT)


SPELT_AN = "AEFHILMNORSX8"
"""What a word that is spelt out, or a number, takes ``an`` before: an AWS, an L40S, an 8 x A40; a DGX."""
SOUNDED_AN = "AEIO"


def with_article(name: str) -> str:
    """``a DGX A100``, ``an AWS g6.48xlarge``, ``an Intel server``."""
    begins = name[:2]
    vowels = SPELT_AN if begins == begins.upper() else SOUNDED_AN
    return f"{'an' if begins[:1].upper() in tuple(vowels) else 'a'} {name}"


def counted(count: float, noun: str) -> str:
    """``1 machine``, ``2 machines``."""
    return f"{count:,.0f} {noun}" if count == 1 else f"{count:,.0f} {noun}s"


def sentences(texts: Iterable[str]) -> str:
    """Remarks as sentences: each with a capital and a full stop."""
    return " ".join(text[0].upper() + text[1:].rstrip(".") + "." for text in texts if text)


def dollars(value: Decimal | float) -> str:
    """Whole dollars to three significant digits from $1,000 up, else cents: ``$418,000``, ``$24.31``."""
    amount = float(value)
    return f"${float(f'{amount:.3g}'):,.0f}" if abs(amount) >= 1000 else f"${amount:,.2f}"


def kilowatts(watts: float) -> str:
    """Watts as kW: ``171 kW``."""
    return f"{number(watts / 1000)} kW"


def percent(share: float) -> str:
    """A share as a percentage: whole from 10 % up, one decimal below: ``12 %``, ``3.4 %``."""
    value = abs(share) * 100
    return f"{value:.0f} %" if value >= 10 else f"{float(f'{value:.1f}'):g} %"


def limit_name(metric: str, percentile: float) -> str:
    """``P99 TTFT slowdown``, ``P50 scheduling delay``; an attainment (percentile 0) by its own name."""
    names = {
        "ttft_s": "TTFT",
        "tbt_s": "TBT",
        "tpot_s": "TPOT",
        "e2e_s": "E2E",
        "queue_s": "scheduling delay",
        "ttft_slowdown": "TTFT slowdown",
        "tbt_slowdown": "TBT slowdown",
        "e2e_slowdown": "E2E slowdown",
    }
    return f"P{percentile:g} {names.get(metric, metric)}" if percentile else names.get(metric, metric)


def limit_value(metric: str, value: float | None, digits: int = SIGNIFICANT) -> str:
    """A limit's value with its unit: ``0.42 s``, ``1.47×``, ``99 %``; ``unbounded`` for None."""
    if value is None:
        return "unbounded"
    if metric.endswith("_s"):
        return f"{number(value, digits)} s" if value >= 0.1 else f"{number(value * 1000, digits)} ms"
    return f"{number(value, digits)}×" if metric.endswith("slowdown") else f"{number(value * 100, digits)} %"


def listed(items: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""
