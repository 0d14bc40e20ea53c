"""Price books as one user sees them, and changes to a team's own. A team's book of a shipped id stands in for that."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from planner.accounts import audit
from planner.accounts.models import Team, User
from planner.accounts.owned import Visitor
from planner.catalogue.models import ExchangeRate, Price, PriceBook, Quote
from planner.catalogue.rows import OVERRIDDEN, OWN, SHIPPED, version_of
from planner.catalogue.services import book_of_team, price_books_for, shipped_books
from simcore.economics.taken import in_usd
from simcore.spec import Exchange, Offer, SpecError, encode, rate_of
from simcore.spec import Price as SpecPrice
from simcore.spec import PriceBook as SpecPriceBook
from simcore.spec.prices import LEAST_USD_PER_HOUR, MOST_USD_PER_HOUR

SAID = ("usd_per_hour", "currency", "local_per_hour", "kind", "source", "date", "status")
OF_OFFERS = tuple(field.name for field in fields(Offer) if field.name != "breaks")
OF_RATES = tuple(field.name for field in fields(Exchange))


@dataclass(frozen=True)
class Book:
    """A book, and the shipped one of its id."""

    book: SpecPriceBook
    shipped: SpecPriceBook | None
    owned: bool
    """A team of the user's has it as its own."""

    @property
    def origin(self) -> str:
        if self.shipped is None:
            return OWN
        return OVERRIDDEN if self.owned else SHIPPED

    @property
    def version(self) -> str:
        of_prices = version_of(self.book.prices, ("machine", *SAID))
        of_rest = version_of(self.book.offers, (*OF_OFFERS, "breaks")) + version_of(self.book.rates, OF_RATES)
        of_book = version_of([self.book], ("id", "name", "date")) + of_rest
        return hashlib.sha256(of_book.encode()).hexdigest()[:16] + of_prices[:16]

    def price(self, machine: str) -> SpecPrice | None:
        return by_machine(self.book).get(machine)

    def was(self, machine: str) -> SpecPrice | None:
        """The shipped price, where the team's is another."""
        shipped = by_machine(self.shipped).get(machine) if self.shipped else None
        return shipped if shipped != self.price(machine) else None

    def is_own(self, machine: str) -> bool:
        """Whether the shipped book does not say this price."""
        return self.owned and (self.shipped is None or by_machine(self.shipped).get(machine) != self.price(machine))


def by_machine(book: SpecPriceBook) -> dict[str, SpecPrice]:
    return {price.machine: price for price in book.prices}


def books(user: Visitor) -> dict[str, Book]:
    """All books by id."""
    shipped = shipped_books()
    owned = set(PriceBook.objects.visible_to(user).values_list("book_id", flat=True))
    return {
        book_id: Book(book, shipped.get(book_id), book_id in owned) for book_id, book in price_books_for(user).items()
    }


def book_or_none(user: Visitor, book_id: str) -> Book | None:
    return books(user).get(book_id)


@transaction.atomic
def write_book(team: Team, user: User, book: SpecPriceBook) -> None:
    """Makes the team's book say this; one that says what is shipped is taken back instead."""
    before = book_of_team(team, book.id)
    _write(team, user, book)
    if before is None or not same_book(before, book):
        _record(team, user, "added" if before is None else "changed", before, book)


def _write(team: Team, user: User, book: SpecPriceBook) -> None:
    _mine(team, user, book.id).delete()
    if same_book(book, shipped_books().get(book.id)):
        return
    row = PriceBook.objects.create(team=team, created_by=user, book_id=book.id, name=book.name, date=book.date)
    Price.objects.bulk_create(
        Price(book=row, machine=price.machine, **{name: getattr(price, name) for name in SAID}) for price in book.prices
    )
    Quote.objects.bulk_create(
        Quote(book=row, breaks=encode(offer.breaks), **{name: getattr(offer, name) for name in OF_OFFERS})
        for offer in book.offers
    )
    ExchangeRate.objects.bulk_create(
        ExchangeRate(book=row, **{name: getattr(rate, name) for name in OF_RATES}) for rate in book.rates
    )


def same_book(book: SpecPriceBook, other: SpecPriceBook | None) -> bool:
    """Whether both say the same, in whatever order."""
    return (
        other is not None
        and replace(book, prices=()) == replace(other, prices=())
        and by_machine(book) == by_machine(other)
    )


@transaction.atomic
def delete_book(team: Team, user: User, book_id: str) -> int:
    """Takes the team's own book away; a shipped one of its id is as it is shipped again."""
    before, shipped = book_of_team(team, book_id), shipped_books().get(book_id)
    gone = _mine(team, user, book_id).delete()[0]
    if gone:
        _record(team, user, "deleted" if shipped is None else "took back to what is shipped", before, shipped)
    return gone


def _mine(team: Team, user: User, book_id: str) -> QuerySet[PriceBook]:
    return PriceBook.objects.editable_by(user).filter(team=team, book_id=book_id)


def _record(team: Team, user: User, action: str, before: SpecPriceBook | None, after: SpecPriceBook | None) -> None:
    """By its id: a change writes the rows of a book anew."""
    book = after or before
    assert book is not None  # noqa: S101 - one of the two
    told = audit.changed(_told(before), _told(after))
    audit.record(team, user, action, audit.Named(PriceBook._meta.label_lower, book.id, book.name), told)


def _told(book: SpecPriceBook | None) -> dict[str, Any]:
    """Price by price, quote by quote, rate by rate."""
    if book is None:
        return {}
    found: dict[str, Any] = {"name": book.name, "date": book.date}
    for price in book.prices:
        found |= {f"{price.machine}.{name}": getattr(price, name) for name in SAID}
    for offer in book.offers:
        said = {name: getattr(offer, name) for name in OF_OFFERS} | {"breaks": encode(offer.breaks)}
        found |= {f"quote {offer.key}.{name}": value for name, value in said.items()}
    for rate in book.rates:
        found |= {f"rate {rate.currency}.{name}": getattr(rate, name) for name in OF_RATES}
    return found


def restore_price(team: Team, user: User, book: Book, machine: str) -> None:
    """Back to the shipped price of one machine."""
    shipped = by_machine(book.shipped).get(machine) if book.shipped else None
    if shipped is not None:
        write_book(team, user, with_prices(book.book, [shipped]))


def with_prices(book: SpecPriceBook, prices: Iterable[SpecPrice]) -> SpecPriceBook:
    """The book with these prices in place of its own of the same machines."""
    return replace(book, prices=tuple({**by_machine(book), **{price.machine: price for price in prices}}.values()))


def with_offer(book: SpecPriceBook, offer: Offer, instead_of: str = "") -> SpecPriceBook:
    """The book with a quote in place of that of the same key, or of ``instead_of``."""
    kept = [one for one in book.offers if one.key not in (offer.key, instead_of)]
    return replace(book, offers=tuple(sorted([*kept, offer], key=_order)))


def without_offer(book: SpecPriceBook, key: str) -> SpecPriceBook:
    return replace(book, offers=tuple(one for one in book.offers if one.key != key))


def with_rates(book: SpecPriceBook, rates: Iterable[Exchange]) -> SpecPriceBook:
    """The book with these rates in place of its own of the same currencies; its prices are converted anew."""
    now = {one.currency: one for one in (*book.rates, *rates)}
    every = tuple(sorted(now.values(), key=lambda one: one.currency))
    return replace(book, rates=every, prices=tuple(converted(price, every) for price in book.prices))


def without_rate(book: SpecPriceBook, currency: str) -> SpecPriceBook:
    return replace(book, rates=tuple(one for one in book.rates if one.currency != currency))


def converted(price: SpecPrice, rates: Iterable[Exchange]) -> SpecPrice:
    """In USD by the rate of its currency; SpecError where there is none, or it comes to what no price may be."""
    if price.local_per_hour is None:
        return price
    usd = in_usd(price.local_per_hour, rate_of(price.currency, rates))
    if not LEAST_USD_PER_HOUR <= usd <= MOST_USD_PER_HOUR:
        raise SpecError(
            f"{price.machine}: found {price.local_per_hour:f} {price.currency}, {usd:f} USD an hour,"
            f" expected from {LEAST_USD_PER_HOUR} to {MOST_USD_PER_HOUR:,} USD"
        )
    return replace(price, usd_per_hour=usd)


def uses_of(book: SpecPriceBook, currency: str) -> int:
    """How many of its prices and quotes are in a currency."""
    currencies = [*(one.currency for one in book.prices), *(one.currency for one in book.offers)]
    return currencies.count(currency)


def _order(offer: Offer) -> tuple[str, ...]:
    return (offer.machine, offer.term, offer.vendor, offer.quote)
