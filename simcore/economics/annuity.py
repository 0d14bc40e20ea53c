"""Money at different times: annuity, present value. Payments are at the ends of equal periods unless said otherwise.

Formulas as in any textbook of engineering economics (e.g. Park, Contemporary Engineering Economics, chapters 3 and 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

MONTHS_A_YEAR = 12


def monthly_rate(annual: Decimal) -> Decimal:
    """The rate a month that compounds to ``annual``: (1 + annual)^(1/12) - 1."""
    return (1 + annual) ** (Decimal(1) / MONTHS_A_YEAR) - 1


def present_value(payments: Sequence[Decimal], rate: Decimal) -> Decimal:
    """Sum of payment_k / (1 + rate)^k, k = 0, 1, ...: the first is paid now."""
    value = Decimal(0)
    for payment in reversed(payments):
        value = value / (1 + rate) + payment
    return value


def annuity(principal: Decimal, residual: Decimal, rate: Decimal, periods: int) -> Decimal:
    """What is paid at each period's end so that it is worth ``principal`` now less ``residual`` after the last.

    (principal - residual × v) × rate / (1 - v), v = (1 + rate)^-periods; without interest (principal - residual) /
    periods. ``periods`` at least 1.
    """
    if rate == 0:
        return (principal - residual) / periods
    v = (1 + rate) ** -periods
    return (principal - residual * v) * rate / (1 - v)
