"""Price books as one user sees them, and changes to a team's own. A team's book of a shipped id stands in for that."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from planner.accounts.models import Team, User
from planner.accounts.owned import Visitor
from planner.catalogue.models import Price, PriceBook
from planner.catalogue.rows import OVERRIDDEN, OWN, SHIPPED, version_of
from planner.catalogue.services import price_books_for, shipped_books
from simcore.spec import Price as SpecPrice
from simcore.spec import PriceBook as SpecPriceBook

SAID = ("usd_per_hour", "currency", "kind", "source", "date", "status")


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
        return version_of([self.book], ("id", "name", "date"))[:16] + of_prices[:16]

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


def write_book(team: Team, user: User, book: SpecPriceBook) -> None:
    """Makes the team's book say this; one that says what is shipped is taken back instead."""
    delete_book(team, user, book.id)
    if same_book(book, shipped_books().get(book.id)):
        return
    row = PriceBook.objects.create(team=team, created_by=user, book_id=book.id, name=book.name, date=book.date)
    Price.objects.bulk_create(
        Price(book=row, machine=price.machine, **{name: getattr(price, name) for name in SAID}) for price in book.prices
    )


def same_book(book: SpecPriceBook, other: SpecPriceBook | None) -> bool:
    """Whether both say the same, in whatever order."""
    return (
        other is not None
        and replace(book, prices=()) == replace(other, prices=())
        and by_machine(book) == by_machine(other)
    )


def delete_book(team: Team, user: User, book_id: str) -> int:
    """Takes the team's own book away; a shipped one of its id is as it is shipped again."""
    return PriceBook.objects.editable_by(user).filter(team=team, book_id=book_id).delete()[0]


def restore_price(team: Team, user: User, book: Book, machine: str) -> None:
    """Back to the shipped price of one machine."""
    shipped = by_machine(book.shipped).get(machine) if book.shipped else None
    if shipped is not None:
        write_book(team, user, with_prices(book.book, [shipped]))


def with_prices(book: SpecPriceBook, prices: Iterable[SpecPrice]) -> SpecPriceBook:
    """The book with these prices in place of its own of the same machines."""
    return replace(book, prices=tuple({**by_machine(book), **{price.machine: price for price in prices}}.values()))
