from decimal import Decimal

import pytest

from planner.numerals import compact, duration, exact, share, short, usd
from planner.studies.templatetags.numerals import opening


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (418_123.4, "418,000"),
        (70.44, "70.4"),
        (70.0, "70"),
        (0.012345, "0.0123"),
        (999.6, "1,000"),
        (1234, "1,234"),
        (12_345, "12,300"),
        (Decimal("573.21"), "573"),
        (-0.5, "-0.5"),
        (0, "0"),
        (None, "–"),
        (float("inf"), "–"),
    ],
)
def test_three_significant_digits(value: float | None, text: str) -> None:
    assert short(value) == text


def test_exact_keeps_every_digit() -> None:
    assert [exact(v) for v in (0.1, Decimal("1.10"), True, None, "x")] == ["0.1", "1.10", "yes", "", "x"]


def test_money_shares_and_times() -> None:
    assert [usd(418_123), usd(-31_000), usd(None)] == ["$418,000", "−$31,000", "–"]
    amounts = (Decimal("15466162.87"), Decimal("-60896.46"), Decimal("9999.50"), 2_500_000_000)
    assert [compact(value) for value in amounts] == ["$15.47M", "−$60.9k", "$9,999.50", "$2.50B"]
    assert [share(0.957), share(0.004), share(0.0), share(None)] == ["96 %", "0.4 %", "0 %", "–"]
    assert [duration(8.2), duration(125), duration(120), duration(3800)] == ["8 s", "2 min 5 s", "2 min", "1 h 3 min"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the workload", "The workload"),
        ("vLLM V0 on 1", "vLLM V0 on 1"),
        ("Buy 3", "Buy 3"),
        ("1 DGX", "1 DGX"),
        ("", ""),
    ],
)
def test_a_sentence_opens_with_a_capital_but_for_names_without_one(text: str, shown: str) -> None:
    assert opening(text) == shown
