"""Quotes that a price book holds beside its list prices, and what the currencies that they are in are worth."""

from __future__ import annotations

import datetime
import hashlib
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from simcore.spec.decode import SpecError, bounded

OfferTerm = Literal["on_demand", "reserved_1y", "reserved_3y", "owned"]
Standing = Literal["valid", "not_yet", "expired"]
OFFER_TERMS: tuple[OfferTerm, ...] = ("on_demand", "reserved_1y", "reserved_3y", "owned")
USD = "USD"


@dataclass(frozen=True)
class Break:
    """A price from so many machines on."""

    machines: int = bounded(least=1)
    price: Decimal = bounded(least=0)


@dataclass(frozen=True)
class Offer:
    """One machine's price under one term as a vendor quotes it, in its own currency."""

    machine: str
    """A catalogue id."""
    term: OfferTerm
    price: Decimal = bounded(above=0)
    """Before discount: an hour of one machine; of ``owned``, one machine."""
    vendor: str = ""
    quote: str = ""
    """The quote's number."""
    currency: str = USD
    discount: Decimal = bounded(Decimal(0), least=0, most=1)
    """The share taken off price and breaks."""
    breaks: tuple[Break, ...] = ()
    """Instead of ``price`` from so many machines on: the largest that the number reaches."""
    support_per_year: Decimal = bounded(Decimal(0), least=0)
    """Of one bought machine; not discounted."""
    valid_from: str = ""
    """The first day, as 2027-01-31; empty: always."""
    valid_to: str = ""
    """The last day; empty: open."""
    source: str = "user"
    date: str = ""

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
    def key(self) -> str:
        """12 hex digits: the same for the same machine, term, vendor and number, whatever else it says."""
        text = "\n".join((self.machine, self.term, self.vendor, self.quote))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """``Quote Q-17 of Acme``."""
        return f"Quote {self.quote}{f' of {self.vendor}' if self.vendor else ''}"


@dataclass(frozen=True)
class Exchange:
    """What one unit of a currency is in USD, on a day, with where it is from."""

    currency: str
    usd: Decimal = bounded(above=0)
    date: str = ""
    source: str = ""


def _day(text: str, where: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text) if text else None
    except ValueError:
        raise SpecError(f"{where}: found {text!r}, expected a day such as 2027-01-31") from None
