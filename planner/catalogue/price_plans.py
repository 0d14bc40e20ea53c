"""What an imported file of prices would change."""

from dataclasses import dataclass, field, replace
from decimal import Decimal

from django.utils import timezone

from planner.accounts.models import Team, User
from planner.catalogue.book_form import KINDS, PRICE_WORDS, book_id_problem, price_of
from planner.catalogue.books import Book, books, by_machine, with_prices, write_book
from planner.catalogue.csv_figures import check_price_columns
from planner.catalogue.csv_file import CsvFile
from planner.catalogue.models import USER
from planner.catalogue.plans import Line, Plan, Refusal, provenance_problem
from planner.catalogue.services import names_of
from simcore.spec import Price, PriceBook, nearest

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
    check_price_columns(file)
    plan = PricePlan(books=books(user))
    machines = [key for key, _ in names_of(user, "machines")]
    today, seen = timezone.now().date().isoformat(), dict[tuple[str, str], int]()
    for line, cells in file.rows:
        key = (cells.get("book", ""), cells.get("machine", ""))
        problem = f"machine: found a second price, the first is on line {seen[key]}" if key in seen else ""
        if problem := problem or _problem(cells, machines, today):
            plan.refused.append(Refusal(line, key[1], problem))
        else:
            seen[key] = line
            _plan_price(plan, line, key[0], _price(cells, today))
    return plan


def _problem(cells: dict[str, str], machines: list[str], today: str) -> str:
    """What is wrong with a row of the file; empty where nothing is."""
    if problem := book_id_problem(cells.get("book", "")):
        return f"book: {problem}"
    machine, usd = cells.get("machine", ""), cells.get("usd_per_hour", "")
    if machine not in machines:
        return f"machine: found ‘{machine[:60]}’, expected one of the catalogue's machines{nearest(machine, machines)}"
    if price_of(usd) is None:
        return f"usd_per_hour: found ‘{usd[:60]}’, expected {PRICE_WORDS}"
    if (currency := cells.get("currency") or "USD") != "USD":
        return f"currency: found ‘{currency[:60]}’, expected USD"
    if (kind := cells.get("kind") or KIND_IDS[0]) not in KIND_IDS:
        return f"kind: found ‘{kind[:60]}’, expected one of {', '.join(KIND_IDS)}"
    return provenance_problem(cells.get("source", ""), cells.get("date") or today, cells.get("status") or USER)


def _price(cells: dict[str, str], today: str) -> Price:
    usd = price_of(cells["usd_per_hour"]) or Decimal(0)
    date, status, kind = (cells.get(name) or "" for name in ("date", "status", "kind"))
    return Price(
        cells["machine"],
        usd,
        cells["source"],
        date or today,
        status or USER,
        kind or KIND_IDS[0],  # type: ignore[arg-type]
    )


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
    return f"{price.usd_per_hour} {price.currency} an hour, {price.kind.replace('_', ' ')}, {price.date}"
