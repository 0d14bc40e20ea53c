"""The line of a cost sheet: one period, pool and category, with the formula that its amount is from.

An amount is its quantity × its unit price in whole cents (``rounding.cents``), unless it is a part of something spread
over time, whose months add up to the whole (``rounding.running_cents``); ``formula`` says which. Totals are sums of
lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from simcore.economics.rounding import cents

View = Literal["cash", "book", "economic"]
"""``cash``: what is paid, when. ``book``: what is bought spread evenly over its life, a reservation over its term.
``economic``: both as an annuity at the discount rate. All else is alike in the three."""

Category = Literal[
    "on_demand",
    "reserved",
    "capital",
    "residual",
    "fabric",
    "support",
    "power",
    "cooling",
    "colocation",
    "licence",
    "staff",
]
CATEGORIES: tuple[Category, ...] = Category.__args__  # type: ignore[attr-defined]
OF_SCHEDULES: tuple[Category, ...] = ("reserved", "capital", "residual", "fabric")
"""What is bought or reserved: paid at once, used over months (``schedules``)."""
FACILITY = "facility"
SHARED = "shared"
"""Pools of what no pool of the design has for itself."""


@dataclass(frozen=True)
class CostLine:
    """One amount."""

    view: View
    period: str
    """A month such as ``2027-01``, or ``730 h``."""
    pool: str
    """A role of the design, ``facility`` or ``shared``."""
    machine: str
    """A catalogue id; empty where it is of none."""
    category: Category
    quantity: Decimal
    unit: str
    unit_price_usd: Decimal
    amount_usd: Decimal
    """Whole cents."""
    formula: str
    """With its numbers filled in."""
    rows: tuple[str, ...] = ()
    """Where they are from: ``prices/list/dgx-h100``, ``assumptions.facility.pue``."""


def product(quantity: Decimal, unit_price_usd: Decimal) -> Decimal:
    """What a line of a quantity at a price comes to."""
    return cents(quantity * unit_price_usd)


def total(lines: Iterable[CostLine]) -> Decimal:
    """The sum of the printed amounts."""
    return sum((line.amount_usd for line in lines), Decimal("0.00"))
