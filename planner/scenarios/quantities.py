"""Numbers as people type them: ``10k``, ``1e3``, ``1,000``, ``400 kW``, ``100 ms``, ``99 %``; exact until the end."""

import math
import re
from collections.abc import Mapping
from decimal import Decimal

Units = Mapping[str, Decimal]
"""What a unit, as it is written or in lower case, is worth in the unit of the field."""

ONE = Decimal(1)
PLAIN: Units = {}
REQ_PER_S: Units = {
    **dict.fromkeys(("req/s", "requests/s", "request/s", "/s", "rps", "qps", "hz"), ONE),
    **dict.fromkeys(("req/min", "requests/min", "/min"), ONE / 60),
}
KW: Units = {"kw": ONE, "w": Decimal("0.001"), "mw": Decimal(1000)}
SECONDS: Units = {"s": ONE, "ms": Decimal("0.001"), "min": Decimal(60)}
GB_PER_S: Units = {
    "GB/s": ONE,
    "MB/s": Decimal("0.001"),
    "TB/s": Decimal(1000),
    **dict.fromkeys(("Gb/s", "gbit/s", "gbps"), ONE / 8),
}
"""Also in bits, which networks are sold by. Bytes and bits differ by the case of a letter: ``gb/s`` is neither."""
USD_PER_MONTH: Units = dict.fromkeys(("$", "usd", "$/month", "usd/month", "/month"), ONE)
PERCENT: Units = {"%": ONE, "percent": ONE}
SHARE: Units = {"%": Decimal("0.01")}
TIMES: Units = {"x": ONE, "×": ONE, "times": ONE}

MULTIPLES = {"k": Decimal(1000), "K": Decimal(1000), "M": Decimal(1_000_000)}
NUMBER = re.compile(r"(\$?)\s*([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d{1,3})?)\s*(.*)", re.ASCII)


def parse_quantity(text: str, units: Units) -> float:
    """The number in the field's own unit; ValueError where the text is not one number with one of the units."""
    match = NUMBER.fullmatch(text.strip())
    if match is None or not re.match(r"[+-]?\.?\d", match[2]) or (match[1] and "$" not in units):
        raise ValueError(f"not a quantity: {text}")
    value = float(Decimal(match[2].replace(",", "")) * _worth(match[3].strip(), units))
    if not math.isfinite(value):
        raise ValueError(f"not a quantity: {text}")
    return value


def shown_quantity(value: float) -> str:
    """The shortest text that ``parse_quantity`` reads back as the same number: ``70``, not ``70.0``."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def _worth(unit: str, units: Units) -> Decimal:
    if not unit:
        return ONE
    if (worth := units.get(unit, units.get(unit.lower()))) is not None:
        return worth
    multiple, rest = MULTIPLES.get(unit[0]), unit[1:].strip().lower()
    if multiple is None or (rest and rest not in units):
        raise ValueError(f"not a quantity: {unit}")
    return multiple * units.get(rest, ONE)
