"""What an imported file of quotes, or of exchange rates, would change."""

from collections.abc import Callable
from dataclasses import dataclass, field

from django.utils import timezone

from planner.accounts.models import Team, User
from planner.catalogue.book_form import book_id_problem
from planner.catalogue.books import Book, books, with_offer, with_rates, write_book
from planner.catalogue.csv_figures import check_columns
from planner.catalogue.csv_file import CsvFile
from planner.catalogue.plans import Line, Plan, Refusal
from planner.catalogue.quote_fields import (
    QUOTE_COLUMNS,
    RATE_COLUMNS,
    quote_of,
    quote_texts,
    rate_from,
    rate_texts,
)
from planner.catalogue.services import names_of
from simcore.spec import Exchange, Offer, PriceBook, SpecError, nearest


@dataclass
class BesidePlan(Plan):
    """Of what stands in books beside their prices."""

    changed_books: dict[str, PriceBook] = field(default_factory=dict)

    def apply(self, team: Team, user: User) -> None:
        for book in self.changed_books.values():
            write_book(team, user, book)


def plan_quotes(user: User, file: CsvFile) -> BesidePlan:
    """The plan of a file of quotes; SpecError where its columns are not those."""
    check_columns(file, QUOTE_COLUMNS, ("book", "machine", "term", "vendor", "quote", "price"))
    machines = [key for key, _ in names_of(user, "machines")]
    today = timezone.now().date().isoformat()

    def take(book: PriceBook, cells: dict[str, str]) -> tuple[str, PriceBook, str, str]:
        offer = quote_of(cells, book, machines, today)
        was = next((one for one in book.offers if one.key == offer.key), None)
        name = f"{offer.machine}, {offer.name}"
        return name, with_offer(book, offer), _quote_words(was) if was else "", _quote_words(offer)

    return _plan(user, file, take)


def plan_rates(user: User, file: CsvFile) -> BesidePlan:
    """The plan of a file of exchange rates; SpecError where its columns are not those."""
    check_columns(file, RATE_COLUMNS, ("book", "currency", "usd"))
    today = timezone.now().date().isoformat()

    def take(book: PriceBook, cells: dict[str, str]) -> tuple[str, PriceBook, str, str]:
        rate = rate_from(cells, today)
        was = next((one for one in book.rates if one.currency == rate.currency), None)
        return rate.currency, with_rates(book, [rate]), _rate_words(was) if was else "", _rate_words(rate)

    return _plan(user, file, take)


Take = Callable[[PriceBook, dict[str, str]], tuple[str, PriceBook, str, str]]
"""What a row is of, the book with it, what the book says of it, and what it would say."""


def _plan(user: User, file: CsvFile, take: Take) -> BesidePlan:
    plan, known = BesidePlan(), books(user)
    seen: dict[tuple[str, str], int] = {}
    for line, cells in file.rows:
        book_id = cells.get("book", "")
        try:
            book = plan.changed_books.get(book_id) or _book(known, book_id)
            name, now, was, words = take(book, cells)
        except SpecError as error:
            plan.refused.append(Refusal(line, book_id, str(error)))
            continue
        if (book_id, name) in seen:
            second = f"found a second row of {name}, the first is on line {seen[book_id, name]}"
            plan.refused.append(Refusal(line, book_id, second))
            continue
        seen[book_id, name] = line
        if was == words:
            plan.unchanged += 1
            continue
        plan.changed_books[book_id] = now
        to = plan.changed if was else plan.added
        to.append(Line(line, book_id, name, was, words, cells.get("source", "")))
    return plan


def _book(known: dict[str, Book], book_id: str) -> PriceBook:
    if book_id not in known:
        problem = book_id_problem(book_id) if book_id else "found nothing"
        problem = problem or f"found ‘{book_id}’, expected one of {', '.join(known)}{nearest(book_id, known)}"
        raise SpecError(f"book: {problem}")
    return known[book_id].book


def _quote_words(offer: Offer) -> str:
    return ", ".join(f"{name} {text}" for name, text in quote_texts(offer).items() if text and name not in _OF_NAME)


def _rate_words(rate: Exchange) -> str:
    texts = rate_texts(rate)
    return f"{texts['usd']} USD, {texts['date']}, {texts['source']}"


_OF_NAME = ("machine", "vendor", "quote")
