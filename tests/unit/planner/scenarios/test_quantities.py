"""Numbers as people type them."""

import pytest

from planner.scenarios.quantities import (
    KW,
    PERCENT,
    PLAIN,
    REQ_PER_S,
    SECONDS,
    SHARE,
    TIMES,
    USD_PER_MONTH,
    parse_quantity,
    shown_quantity,
)


@pytest.mark.parametrize(
    ("text", "units", "value"),
    [
        ("70", REQ_PER_S, 70.0),
        (" 0.5 ", REQ_PER_S, 0.5),
        (".5", PLAIN, 0.5),
        ("5.", PLAIN, 5.0),
        ("1e3", PLAIN, 1000.0),
        ("1E-1", SECONDS, 0.1),
        ("10k", PLAIN, 10_000.0),
        ("2.5 M", PLAIN, 2_500_000.0),
        ("1,000,000", PLAIN, 1_000_000.0),
        ("70 req/s", REQ_PER_S, 70.0),
        ("10k requests/s", REQ_PER_S, 10_000.0),
        ("60 req/min", REQ_PER_S, 1.0),
        ("400 kW", KW, 400.0),
        ("400kw", KW, 400.0),
        ("0.4 MW", KW, 0.4 * 1000),
        ("500 W", KW, 0.5),
        ("100 ms", SECONDS, 0.1),
        ("2 s", SECONDS, 2.0),
        ("99 %", SHARE, 0.99),
        ("0.99", SHARE, 0.99),
        ("99%", PERCENT, 99.0),
        ("5x", TIMES, 5.0),
        ("$418,000", USD_PER_MONTH, 418_000.0),
        ("418k $/month", USD_PER_MONTH, 418_000.0),
        ("-3", PLAIN, -3.0),
    ],
)
def test_reads(text: str, units: dict[str, float], value: float) -> None:
    assert parse_quantity(text, units) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "nan",
        "inf",
        "1e999",
        "1,5",
        "1,00",
        "10,0000",
        "7 0",
        "0x10",
        "١٢",
        "--1",
        "1e",
        "e3",
        ".",
        "$70",
        "70 kg",
    ],
)
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        parse_quantity(text, REQ_PER_S)


@pytest.mark.parametrize("value", [70.0, 0.1, 1e-9, 123456.789, 1e300, 5])
def test_shown_reads_back_the_same(value: float) -> None:
    assert parse_quantity(shown_quantity(value), PLAIN) == value


def test_whole_numbers_are_shown_without_a_point() -> None:
    assert shown_quantity(70.0) == "70"
