"""Numbers for people: three significant digits, thousands apart; the exact value goes into a title."""

import math
from decimal import Decimal

Number = int | float | Decimal


def short(value: Number | None, digits: int = 3) -> str:
    """``418,000``, ``70.4``, ``0.0123``; whole numbers under 10,000 in full; a dash for None and not finite."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if isinstance(value, int) and abs(value) < 10_000:
        return f"{value:,}"
    decimals = digits - 1 - math.floor(math.log10(abs(float(value))))
    rounded = round(float(value), decimals)
    text = f"{rounded:,.{max(decimals, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def exact(value: object) -> str:
    """The value in full: the shortest decimal form that gives the same number back."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value)
    return "" if value is None else str(value)


def usd(value: Number | None) -> str:
    """``$418,000``."""
    if value is None:
        return "–"
    return f"−${short(-value)}" if value < 0 else f"${short(value)}"


def cents(value: Number | None) -> str:
    """``$418,032.10``: to be added up."""
    return "–" if value is None else f"{'−' if value < 0 else ''}${abs(value):,.2f}"


def compact(value: Number) -> str:
    """``$15.47M``, ``−$60.9k``, ``$12.50``: beside a bar, where the table has the cents."""
    sign, size = "−" if value < 0 else "", abs(float(value))
    for least, of, unit, digits in ((1e9, 1e9, "B", 2), (1e6, 1e6, "M", 2), (1e4, 1e3, "k", 1)):
        if size >= least:
            return f"{sign}${size / of:,.{digits}f}{unit}"
    return cents(value)


def change(value: Number) -> str:
    """``+$12,045.00``; ``$0.00`` where there is none."""
    return f"+{cents(value)}" if value > 0 else cents(value)


def share(value: float | None) -> str:
    """``96 %``; under one per cent with a digit more, so that little is not nothing."""
    if value is None:
        return "–"
    percent = 100 * value
    return f"{percent:.1f} %" if 0 < percent < 1 else f"{percent:.0f} %"


def duration(seconds: float) -> str:
    """``8 s``, ``2 min 5 s``, ``1 h 3 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
