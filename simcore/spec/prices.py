"""What machines cost: a dated book of prices. Applied after physics, never inside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from simcore.spec.decode import SpecError, bounded, nearest
from simcore.spec.offers import USD, Exchange, Offer

LEAST_USD_PER_HOUR, MOST_USD_PER_HOUR = Decimal("0.0001"), 1_000_000
"""Of a machine, wherever its price is given."""
MOST_USD_PER_KWH = 1_000


@dataclass(frozen=True)
class Price:
    """One machine's price an hour. ``status`` says how sure it is: verified, memory, estimate, assumption, user."""

    machine: str
    """A machine's catalogue id."""
    usd_per_hour: Decimal = bounded(least=LEAST_USD_PER_HOUR, most=MOST_USD_PER_HOUR)
    source: str = "user"
    date: str = ""
    status: str = "user"
    kind: Literal["on_demand", "reserved", "owned"] = "on_demand"
    currency: str = USD
    local_per_hour: Decimal | None = bounded(None, above=0)
    """As the source says it, in ``currency``; None where that is USD. ``usd_per_hour`` is this × the book's rate, to a
    millionth."""


@dataclass(frozen=True)
class PriceBook:
    """Prices of many machines under one name; at most one a machine."""

    id: str
    name: str
    date: str
    prices: tuple[Price, ...]
    usd_per_kwh: Decimal | None = bounded(None, least=0, most=MOST_USD_PER_KWH)
    """Of electricity that is paid beside the machines' prices; None: it is in them."""
    offers: tuple[Offer, ...] = ()
    """Quotes, which a plan of costs may choose instead of what the book lists."""
    rates: tuple[Exchange, ...] = ()
    """Of the currencies that its prices and quotes are in; at most one a currency."""

    def price(self, machine_id: str) -> Price:
        """The machine's price; SpecError where the book has none."""
        for price in self.prices:
            if price.machine == machine_id:
                return price
        known = [price.machine for price in self.prices]
        raise SpecError(
            f"prices: book '{self.id}' has no price for '{machine_id}',"
            f" expected one of {', '.join(known)}{nearest(machine_id, known)}"
        )

    def rate(self, currency: str) -> Exchange:
        """USD of one unit of a currency; SpecError where the book says none."""
        return rate_of(currency, self.rates)


def rate_of(currency: str, rates: Iterable[Exchange]) -> Exchange:
    """Of USD itself 1; SpecError names the currencies that have a rate."""
    known = {USD: Exchange(USD, Decimal(1)), **{one.currency: one for one in rates}}
    if currency not in known:
        raise SpecError(
            f"currency: found '{currency}', which has no rate: expected one of {', '.join(known)}"
            f"{nearest(currency, known)}"
        )
    return known[currency]
