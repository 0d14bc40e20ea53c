"""A quote as a plan uses it: the break that its number of machines reaches, less the discount, in USD."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from simcore.economics.rounding import millionths
from simcore.spec import USD, Exchange, Offer, SpecError, rate_of


@dataclass(frozen=True)
class Taken:
    """One quote for so many machines. Amounts are converted once, each to a millionth of a dollar, half to even."""

    offer: Offer
    machines: int
    """Which the break is chosen by."""
    list_usd: Decimal
    """Before discount."""
    net_usd: Decimal
    """After: price × (1 - discount) × rate, rounded at the end."""
    support_usd: Decimal = Decimal(0)
    """A year's, of one bought machine."""
    exchange: Exchange | None = None
    """None: the quote is in USD."""

    @property
    def words(self) -> str:
        """`` (290,000 EUR less 10 % × 1.08)``; empty where the price is used as it is quoted."""
        offer = self.offer
        if not offer.discount and self.exchange is None:
            return ""
        less = f" less {offer.discount * 100:f} %" if offer.discount else ""
        rate = f" × {self.exchange.usd:f}" if self.exchange else ""
        price = offer.before_discount(self.machines)
        return f" ({price:,f} {offer.currency}{less}{rate})".replace(".00 %", " %").replace(".0 %", " %")


def taken(offer: Offer, rates: Iterable[Exchange], machines: int) -> Taken:
    """SpecError where its currency has no rate."""
    try:
        exchange = None if offer.currency == USD else rate_of(offer.currency, rates)
    except SpecError as error:
        raise SpecError(f"quotes: {offer.name} for '{offer.machine}': {error}") from None
    return Taken(
        offer,
        machines,
        in_usd(offer.before_discount(machines), exchange),
        in_usd(offer.after_discount(machines), exchange),
        in_usd(offer.support_per_year, exchange),
        exchange,
    )


def in_usd(amount: Decimal, exchange: Exchange | None) -> Decimal:
    """amount × rate, to a millionth."""
    return millionths(amount * exchange.usd if exchange else amount).normalize() + 0
