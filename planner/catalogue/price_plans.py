"""What an imported file of prices would change."""

from dataclasses import dataclass, field, replace
from decimal import Decimal

from django.utils import timezone

from planner.accounts.models import Team, User
from planner.catalogue.book_form import KINDS, PRICE_WORDS, book_id_problem, price_of, price_text
from planner.catalogue.books import Book, books, by_machine, converted, with_prices, write_book
from planner.catalogue.columns import plain_number
from planner.catalogue.csv_figures import PRICES, check_columns
from planner.catalogue.csv_file import CsvFile
from planner.catalogue.models import USER
from planner.catalogue.plans import Line, Plan, Refusal, provenance_problem
from planner.catalogue.services import names_of
from simcore.spec import USD, Price, PriceBook, SpecError, nearest

KIND_IDS = tuple(kind for kind, _ in KINDS)


@dataclass
class PricePlan(Plan):
    """Of price books."""

    prices: dict[str, list[Price]] = field(default_factory=dict)
    books: dict[str, Book] = field(default_factory=dict, repr=False)

    def apply(self, team: Team, user: User) -> None:
        for book_id, prices in self.prices.items():
            known = self.books.get(book_id)
            day = max(price.date for price in prices)
            book = known.book if known else PriceBook(book_id, book_id, day, ())
            write_book(team, user, with_prices(replace(book, date=max(book.date, day)), prices))


def plan_prices(user: User, file: CsvFile) -> PricePlan:
    """The plan of a file of prices; SpecError where its columns are not those."""
    check_columns(file, PRICES, ("book", "machine"))
    plan = PricePlan(books=books(user))
    machines = [key for key, _ in names_of(user, "machines")]
    today, seen = timezone.now().date().isoformat(), dict[tuple[str, str], int]()
    for line, cells in file.rows:
        key = (cells.get("book", ""), cells.get("machine", ""))
        problem = f"machine: found a second price, the first is on line {seen[key]}" if key in seen else ""
        problem = problem or _problem(cells, machines, today)
        try:
            price = None if problem else _price(cells, today, plan.books.get(key[0]))
        except SpecError as error:
            problem = str(error)
        if problem or price is None:
            plan.refused.append(Refusal(line, key[1], problem))
        else:
            seen[key] = line
            _plan_price(plan, line, key[0], price)
    return plan


def _problem(cells: dict[str, str], machines: list[str], today: str) -> str:
    """What is wrong with a row of the file; empty where nothing is."""
    if problem := book_id_problem(cells.get("book", "")):
        return f"book: {problem}"
    machine, currency = cells.get("machine", ""), _currency(cells)
    amount = "usd_per_hour" if currency == USD else "local_per_hour"
    if machine not in machines:
        return f"machine: found ‘{machine[:60]}’, expected one of the catalogue's machines{nearest(machine, machines)}"
    text = cells.get(amount, "")
    if price_of(text) is None:
        of = PRICE_WORDS if currency == USD else f"{currency} an hour of the whole machine above 0"
        return f"{amount}: found ‘{text[:60]}’, expected {of}"
    if currency == USD and cells.get("local_per_hour"):
        return f"local_per_hour: found ‘{cells['local_per_hour'][:60]}’, expected nothing where the currency is USD"
    if (kind := cells.get("kind") or KIND_IDS[0]) not in KIND_IDS:
        return f"kind: found ‘{kind[:60]}’, expected one of {', '.join(KIND_IDS)}"
    return provenance_problem(cells.get("source", ""), cells.get("date") or today, cells.get("status") or USER)


def _currency(cells: dict[str, str]) -> str:
    return cells.get("currency", "").upper() or USD


def _price(cells: dict[str, str], today: str, book: Book | None) -> Price:
    """Converted by the book's rate where it is not in USD; a dollar price beside it must be that."""
    date, status, kind = (cells.get(name) or "" for name in ("date", "status", "kind"))
    currency = _currency(cells)
    amount = price_of(cells["usd_per_hour" if currency == USD else "local_per_hour"]) or Decimal(0)
    price = Price(
        cells["machine"],
        amount,
        cells["source"],
        date or today,
        status or USER,
        kind or KIND_IDS[0],  # type: ignore[arg-type]
        currency,
        None if currency == USD else amount,
    )
    price = converted(price, book.book.rates if book else ())
    given = cells.get("usd_per_hour", "")
    if given and currency != USD and plain_number(given) != float(price.usd_per_hour):
        raise SpecError(
            f"usd_per_hour: found {given}, expected {price.usd_per_hour:f} by the book's rate of {currency}, or nothing"
        )
    return price


def _plan_price(plan: PricePlan, line: int, book_id: str, price: Price) -> None:
    known = plan.books.get(book_id)
    was = by_machine(known.book).get(price.machine) if known else None
    if was == price:
        plan.unchanged += 1
        return
    if known is None and book_id not in plan.new_rows:
        plan.new_rows.append(book_id)
    plan.prices.setdefault(book_id, []).append(price)
    to = plan.changed if was else plan.added
    to.append(Line(line, book_id, price.machine, _words(was) if was else "", _words(price), price.source))


def _words(price: Price) -> str:
    return f"{price_text(price)} an hour, {price.kind.replace('_', ' ')}, {price.date}"
