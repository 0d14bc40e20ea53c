"""Figures as people type them (``989 TFLOP/s``, ``80 GiB``, ``400 Gb/s``), as the text that a row stores."""

import re
from collections.abc import Mapping
from decimal import Decimal

K, M, G, T, P = (Decimal(10) ** power for power in (3, 6, 9, 12, 15))
WORTH: Mapping[str, Mapping[str, Decimal]] = {
    "FLOP/s": {
        f"{prefix}{unit}": worth
        for prefix, worth in (("", Decimal(1)), ("M", M), ("G", G), ("T", T), ("P", P))
        for unit in ("FLOP/s", "FLOPS", "FLOPs", "flops")
    },
    "bytes": {
        **{f"{prefix}B": worth for prefix, worth in (("", Decimal(1)), ("k", K), ("M", M), ("G", G), ("T", T))},
        **{f"{prefix}iB": Decimal(2) ** power for prefix, power in (("K", 10), ("M", 20), ("G", 30), ("T", 40))},
    },
    "bytes/s": {
        **{f"{prefix}B/s": worth for prefix, worth in (("", Decimal(1)), ("M", M), ("G", G), ("T", T))},
        **{
            f"{prefix}{unit}": worth / 8
            for prefix, worth in (("M", M), ("G", G), ("T", T))
            for unit in ("b/s", "bps", "bit/s")
        },
    },
    "W": {"kW": K, "MW": M},
    "s": {"ms": 1 / K, "µs": 1 / M, "us": 1 / M},
    "USD": {"$": Decimal(1)},
    "parameters": {"B": G, "billion": G, "M": M, "million": M},
    "tokens": {"k": K},
}  # fmt: skip
"""What units besides a figure's own are worth in it. Bits and bytes differ by their case."""
NUMBER = re.compile(r"\$?\s*([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d{1,3})?)\s*(.*)", re.ASCII)


def stored(text: str, unit: str) -> str:
    """The number in the figure's own unit as text; the text as it is where it does not read so."""
    text = text.strip()
    match = NUMBER.fullmatch(text)
    if match is None or not re.match(r"[+-]?\.?\d", match[1]):
        return text
    number, given = match[1].replace(",", ""), match[2].strip()
    if given in ("", unit):
        return number
    worth = WORTH.get(unit, {}).get(given)
    return text if worth is None else f"{(Decimal(number) * worth).normalize():f}"
