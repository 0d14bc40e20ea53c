"""Price books: what a machine costs an hour, with currency, kind, date and source. Money is Decimal."""

from __future__ import annotations

from functools import cache

from simcore.catalogue.figures import read_csv
from simcore.spec import Price, PriceBook, SpecError, decode, nearest


def price_book(book_id: str) -> PriceBook:
    """The shipped price book with this id (``list`` is the default one); SpecError names the nearest."""
    books = price_books()
    if book_id not in books:
        raise SpecError(f"prices: found '{book_id}', expected one of {', '.join(books)}{nearest(book_id, books)}")
    return books[book_id]


def resolve_prices(named: str | PriceBook) -> PriceBook:
    """A shipped price book from its id, or itself."""
    return price_book(named) if isinstance(named, str) else named


def price_book_ids() -> tuple[str, ...]:
    """Ids of the shipped price books."""
    return tuple(price_books())


@cache
def price_books() -> dict[str, PriceBook]:
    """All shipped price books by id."""
    prices: dict[str, list[Price]] = {}
    for row in read_csv("prices.csv"):
        book = row.pop("book")
        prices.setdefault(book, []).append(decode(Price, row, f"prices.csv: {book}"))
    return {
        row["id"]: PriceBook(row["id"], row["name"], row["date"], tuple(prices[row["id"]]))
        for row in read_csv("price_books.csv")
    }
