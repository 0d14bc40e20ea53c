"""List prices and quotes of machines: what one costs under a term, for so many, on a day, in USD.

An offer beside another of the same machine and term stands in for it: a quote before a list price, of two quotes the
one that costs less for the number asked for. What has expired is not used; it is named (``Standing``).
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from simcore.economics.assumptions import MachineCost
from simcore.economics.rounding import millionths
from simcore.spec import SpecError, nearest
from simcore.spec.decode import bounded

OfferTerm = Literal["on_demand", "reserved_1y", "reserved_3y", "purchase"]
Standing = Literal["valid", "not_yet", "expired"]
TERMS: tuple[OfferTerm, ...] = ("on_demand", "reserved_1y", "reserved_3y", "purchase")
USD = "USD"


@dataclass(frozen=True)
class Break:
    """A price from so many machines on."""

    machines: int = bounded(least=1)
    price: Decimal = bounded(least=0)


@dataclass(frozen=True)
class Offer:
    """One machine's price under one term, in its own currency; money as its source says it."""

    machine: str
    """A catalogue id."""
    term: OfferTerm
    price: Decimal = bounded(least=0)
    """Before discount: an hour of one machine; of ``purchase``, one machine."""
    currency: str = USD
    discount: Decimal = bounded(Decimal(0), least=0, most=1)
    """The share taken off price and breaks."""
    breaks: tuple[Break, ...] = ()
    """Instead of ``price`` from so many machines on: the largest that the number reaches."""
    support_per_year: Decimal = bounded(Decimal(0), least=0)
    """Of one bought machine; not discounted."""
    vendor: str = ""
    quote: str = ""
    """The quote's number; empty: a list price."""
    valid_from: str = ""
    """The first day, as 2027-01-31; empty: always."""
    valid_to: str = ""
    """The last day; empty: open."""
    source: str = "user"
    date: str = ""
    row: str = ""
    """What a figure links to."""

    def __post_init__(self) -> None:
        first, last = _day(self.valid_from, "valid_from"), _day(self.valid_to, "valid_to")
        if first and last and last < first:
            raise SpecError(f"valid_to: found {self.valid_to}, expected no day before valid_from ({self.valid_from})")
        counts = [one.machines for one in self.breaks]
        if counts != sorted(set(counts)):
            raise SpecError(f"breaks: found {counts} machines, expected each more than the one before")

    def standing(self, day: datetime.date) -> Standing:
        """Both days belong to it."""
        first, last = _day(self.valid_from, "valid_from"), _day(self.valid_to, "valid_to")
        if first and day < first:
            return "not_yet"
        return "expired" if last and day > last else "valid"

    def before_discount(self, machines: int) -> Decimal:
        """The price of one of so many."""
        reached = [one.price for one in self.breaks if one.machines <= machines]
        return reached[-1] if reached else self.price

    def after_discount(self, machines: int) -> Decimal:
        """before × (1 - discount), exact."""
        return self.before_discount(machines) * (1 - self.discount)

    @property
    def name(self) -> str:
        """``Quote Q-17 of Acme, valid to 2027-03-31``, or ``List price``."""
        what = f"Quote {self.quote}" if self.quote else "List price"
        until = f", valid to {self.valid_to}" if self.valid_to else ""
        return f"{what}{f' of {self.vendor}' if self.vendor else ''}{until}"


@dataclass(frozen=True)
class Exchange:
    """What one unit of a currency is in USD, on a day, with where it is from."""

    currency: str
    usd: Decimal = bounded(above=0)
    date: str = ""
    source: str = ""


@dataclass(frozen=True)
class Taken:
    """An offer as it is used: in USD, for the number asked for."""

    offer: Offer
    list_usd: Decimal
    """Before discount, to a millionth, as the next."""
    net_usd: Decimal
    exchange: Exchange | None
    """None: the offer is in USD."""


@dataclass(frozen=True)
class Priced:
    """A machine's cost by term, and the offers behind it."""

    cost: MachineCost
    taken: dict[OfferTerm, Taken]
    not_used: tuple[tuple[Offer, Standing], ...]
    """Those of the machine that have expired or do not hold yet."""


def priced(
    offers: Iterable[Offer], rates: Sequence[Exchange], machine: str, machines: int, day: datetime.date, ports: int = 0
) -> Priced:
    """Each term's best standing offer of the machine, for so many of them; SpecError where a currency has no rate."""
    own = [offer for offer in offers if offer.machine == machine]
    taken: dict[OfferTerm, Taken] = {}
    for term in TERMS:
        standing = [offer for offer in own if offer.term == term and offer.standing(day) == "valid"]
        if standing:
            taken[term] = min(
                (_taken(offer, rates, machines) for offer in standing),
                key=lambda one: (not one.offer.quote, one.net_usd),
            )
    on_demand, reserved_1y, reserved_3y, capex = (taken[term].net_usd if term in taken else None for term in TERMS)
    bought = taken.get("purchase")
    cost = MachineCost(
        machine,
        on_demand,
        reserved_1y,
        reserved_3y,
        capex,
        support_usd_per_year=_usd(bought.offer.support_per_year, bought.exchange) if bought else Decimal(0),
        ports=ports,
        row=next((one.offer.row for one in taken.values()), ""),
    )
    not_used = [(offer, offer.standing(day)) for offer in own]
    return Priced(cost, taken, tuple(one for one in not_used if one[1] != "valid"))


def _taken(offer: Offer, rates: Sequence[Exchange], machines: int) -> Taken:
    exchange = None if offer.currency == USD else _rate(offer, rates)
    before, after = offer.before_discount(machines), offer.after_discount(machines)
    return Taken(offer, _usd(before, exchange), _usd(after, exchange), exchange)


def _usd(amount: Decimal, exchange: Exchange | None) -> Decimal:
    return millionths(amount * exchange.usd if exchange else amount)


def _rate(offer: Offer, rates: Sequence[Exchange]) -> Exchange:
    for one in rates:
        if one.currency == offer.currency:
            return one
    known = [USD, *(one.currency for one in rates)]
    raise SpecError(
        f"offers: {offer.name} for '{offer.machine}' is in {offer.currency}, which has no rate:"
        f" expected one of {', '.join(known)}{nearest(offer.currency, known)}"
    )


def _day(text: str, where: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text) if text else None
    except ValueError:
        raise SpecError(f"{where}: found {text!r}, expected a day such as 2027-01-31") from None
