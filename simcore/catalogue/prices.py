"""Price books: what a machine costs an hour, with currency, kind, date and source. Money is Decimal."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from simcore.catalogue.figures import read_csv
from simcore.spec import SpecError, nearest


@dataclass(frozen=True)
class Price:
    """The price of one machine in one book."""

    machine: str
    usd_per_hour: Decimal
    currency: str
    kind: str
    """How it is bought: ``on_demand``."""
    date: str
    source: str
    status: str


@dataclass(frozen=True)
class PriceBook:
    """Prices under one name; at most one a machine."""

    id: str
    prices: tuple[Price, ...]

    def price(self, machine_id: str) -> Price:
        """The row of one machine; SpecError names the machines that the book has."""
        for price in self.prices:
            if price.machine == machine_id:
                return price
        known = [price.machine for price in self.prices]
        raise SpecError(f"prices: book '{self.id}' has no price of '{machine_id}', it has {', '.join(known)}")

    def usd_per_hour(self, machine_id: str) -> Decimal:
        """USD an hour of one machine; SpecError names the machines that the book has."""
        return self.price(machine_id).usd_per_hour


def price_book(book_id: str) -> PriceBook:
    """The shipped price book with this id (``list`` is the default one); SpecError names the nearest."""
    books = price_books()
    if book_id not in books:
        raise SpecError(f"prices: found '{book_id}', expected one of {', '.join(books)}{nearest(book_id, books)}")
    return books[book_id]


def price_book_ids() -> tuple[str, ...]:
    """Ids of the shipped price books."""
    return tuple(price_books())


@cache
def price_books() -> dict[str, PriceBook]:
    """All shipped price books by id."""
    rows: dict[str, list[Price]] = {}
    for row in read_csv("prices.csv"):
        price = {**row, "usd_per_hour": Decimal(row["usd_per_hour"])}
        rows.setdefault(row["book"], []).append(Price(**{k: v for k, v in price.items() if k != "book"}))  # type: ignore[arg-type]
    return {book: PriceBook(book, tuple(prices)) for book, prices in rows.items()}
