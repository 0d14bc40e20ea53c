"""What a set of machines costs an hour and a month, and what a dollar buys."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from simcore.spec import PriceBook

HOURS_PER_MONTH = 730
"""The month of every "$/month": 8,760 hours a year over 12 (the convention of cloud price sheets)."""
SECONDS_PER_HOUR = 3600


def usd_per_hour(machines: Mapping[str, int], book: PriceBook) -> Decimal:
    """Sum over machine ids of count × price, USD an hour, exact; SpecError where the book lacks a price."""
    return sum((book.price(machine).usd_per_hour * count for machine, count in machines.items()), Decimal(0))


def usd_per_month(per_hour: Decimal) -> Decimal:
    """A month of 730 h at ``per_hour``, USD, exact."""
    return per_hour * HOURS_PER_MONTH


def req_per_usd(req_per_s: float, per_hour: Decimal) -> float:
    """Perf/$: requests for a dollar = 3600 × requests/s ÷ USD an hour of all machines of the design."""
    return SECONDS_PER_HOUR * req_per_s / float(per_hour)
