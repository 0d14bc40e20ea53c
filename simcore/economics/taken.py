"""A quote that a plan chose, and what it comes to: the break that its number of machines reaches, less the discount, in
USD."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from simcore.economics.rounding import millionths
from simcore.spec import USD, Exchange, Offer, PriceBook


@dataclass(frozen=True)
class Chosen:
    """A quote with the rate of its book, as both were when it was chosen."""

    offer: Offer
    book: str
    """The id of the price book that it stands in."""
    exchange: Exchange | None = None
    """None: the quote is in USD."""

    @property
    def row(self) -> str:
        """What a figure links to."""
        return f"{self.book}/quotes/{self.offer.key}"


def choose(offer: Offer, book: PriceBook) -> Chosen:
    """SpecError where the book has no rate of its currency."""
    return Chosen(offer, book.id, None if offer.currency == USD else book.rate(offer.currency))


@dataclass(frozen=True)
class Taken:
    """A chosen quote for so many machines. Amounts are converted once, to a millionth of a dollar, half to even."""

    chosen: Chosen
    machines: int
    """Which the break is chosen by."""
    list_usd: Decimal
    """Before discount."""
    net_usd: Decimal
    """After: price × (1 - discount) × rate, rounded at the end."""
    support_usd: Decimal
    """A year's, of one bought machine."""

    @property
    def offer(self) -> Offer:
        return self.chosen.offer

    @property
    def words(self) -> str:
        """`` (290,000 EUR less 10 % × 1.08)``; empty where the price is used as it is quoted."""
        offer, exchange = self.offer, self.chosen.exchange
        if not offer.discount and exchange is None:
            return ""
        less = f" less {(offer.discount * 100).normalize() + 0:f} %" if offer.discount else ""
        rate = f" × {exchange.usd:f}" if exchange else ""
        return f" ({offer.before_discount(self.machines):,f} {offer.currency}{less}{rate})"


def taken(chosen: Chosen, machines: int) -> Taken:
    """For so many machines."""
    offer, exchange = chosen.offer, chosen.exchange
    return Taken(
        chosen,
        machines,
        in_usd(offer.before_discount(machines), exchange),
        in_usd(offer.after_discount(machines), exchange),
        in_usd(offer.support_per_year, exchange),
    )


def in_usd(amount: Decimal, exchange: Exchange | None) -> Decimal:
    """amount × rate, to a millionth."""
    return millionths(amount * exchange.usd if exchange else amount).normalize() + 0
