"""The catalogue's lists: every table with its main columns, filtered by words and origin, sorted by a column."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.utils import timezone

from planner.accounts.owned import Visitor
from planner.catalogue.books import Book, books
from planner.catalogue.columns import columns, plain_number
from planner.catalogue.display import ShownFigure, shown
from planner.catalogue.rows import ORIGINS, OVERRIDDEN, OWN, SHIPPED, Row, rows

TITLES = {"accelerators": "Accelerators", "machines": "Machines", "fabrics": "Fabrics", "models": "Models"}
COLUMNS = {
    "accelerators": {
        "bf16_flops_per_s": "bf16 dense",
        "memory_bytes": "Memory (driver)",
        "memory_bandwidth_bytes_per_s": "Bandwidth",
        "link_bandwidth_bytes_per_s": "Link, one way",
        "tdp_w": "TDP",
        "idle_w": "Idle",
    },
    "machines": {
        "accelerator": "Accelerator",
        "accelerators": "Of them",
        "nic_bytes_per_s": "NIC of each, one way",
        "host_w": "Host",
        "fans_w": "Fans",
        "nameplate_w": "Nameplate",
        "power_cap_w": "Cap of each",
    },
    "fabrics": {
        "kind": "Kind",
        "bytes_per_s": "Line rate of a port, one way",
        "efficiency": "Of it achieved",
        "setup_s": "Set-up",
        "usd_per_port": "A port",
    },
    "models": {
        "parameters": "Parameters",
        "layers": "Layers",
        "hidden_size": "Hidden size",
        "heads": "Heads",
        "kv_heads": "KV heads",
        "max_model_tokens": "Longest sequence",
    },
}
"""The lists' columns and their headings."""
MOST_SHOWN = 500
"""Rows of a list; more are found by their words."""
SHORT_ORIGINS = {SHIPPED: "shipped", OVERRIDDEN: "overridden", OWN: "ours"}
UNVERIFIED = "unverified"
SHOW = {
    "": "all",
    SHIPPED: "as shipped",
    OVERRIDDEN: "overridden: shipped, with figures of ours",
    OWN: "ours",
    UNVERIFIED: "with figures that are not verified",
}


@dataclass(frozen=True)
class Asked:
    """What a list is asked for: the address says it."""

    words: str = ""
    show: str = ""
    sort: str = ""
    """A column, or ``-`` and a column for the most first."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Asked":
        show = query.get("show", "")
        return cls(query.get("q", "").strip()[:100], show if show in SHOW else "", query.get("sort", ""))

    def query(self, **changes: str) -> str:
        """The address's query with something else asked for."""
        said = {"q": self.words, "show": self.show, "sort": self.sort} | changes
        return urlencode({name: value for name, value in said.items() if value})

    def wants(self, row: Row) -> bool:
        """Whether the row has all the words, in its id or any of its figures, and the origin asked for."""
        if self.show == UNVERIFIED and not _doubtful(row):
            return False
        if self.show in ORIGINS and row.origin != self.show:
            return False
        return self.has_words([row.row_id, *row.texts.values()])

    def has_words(self, said: Iterable[str]) -> bool:
        text = " ".join(said).lower()
        return all(word in text for word in self.words.lower().split())


@dataclass(frozen=True)
class Heading:
    """A column's heading, and where it sorts."""

    field: str
    words: str
    is_number: bool
    sorted: str
    """``ascending``, ``descending`` or empty."""
    query: str


@dataclass(frozen=True)
class Line:
    """One row of a list: the figures of the table's columns (None: not given)."""

    row: Row
    cells: list[ShownFigure | None]
    doubtful: int
    """Figures that are not verified."""

    @property
    def origin(self) -> str:
        return SHORT_ORIGINS[self.row.origin]


@dataclass(frozen=True)
class Table:
    """One table."""

    table: str
    title: str
    headings: list[Heading]
    lines: list[Line]
    """The first of those asked for."""
    found: int
    """All that are asked for."""
    total: int
    """Rows before the filter."""


@dataclass(frozen=True)
class BookLine:
    """One price book of the list."""

    book: Book

    @property
    def origin(self) -> str:
        return SHORT_ORIGINS[self.book.origin]

    @property
    def kinds(self) -> str:
        return ", ".join(dict.fromkeys(price.kind.replace("_", " ") for price in self.book.book.prices))

    @property
    def expired(self) -> int:
        """Of its quotes, today."""
        today = timezone.now().date()
        return sum(offer.standing(today) == "expired" for offer in self.book.book.offers)


@dataclass(frozen=True)
class Overview:
    """The catalogue's first page."""

    tables: list[Table]
    books: list[BookLine]
    books_total: int
    asked: Asked


def overview(user: Visitor, asked: Asked) -> Overview:
    """All tables and price books."""
    every = books(user)
    return Overview([table_of(user, name, asked) for name in TITLES], book_lines(every, asked), len(every), asked)


def book_lines(every: Mapping[str, Book], asked: Asked) -> list[BookLine]:
    """The books that are asked for."""
    return [BookLine(book) for book in every.values() if _wants_book(asked, book)]


def _wants_book(asked: Asked, book: Book) -> bool:
    prices = book.book.prices
    if asked.show == UNVERIFIED and all(price.status == "verified" for price in prices):
        return False
    if asked.show in ORIGINS and book.origin != asked.show:
        return False
    return asked.has_words([book.book.id, book.book.name, book.book.date, *(price.machine for price in prices)])


def wanted(user: Visitor, table: str, asked: Asked) -> list[Row]:
    """The rows of a table that are asked for, in the order asked for."""
    found = [row for row in rows(user, table).values() if asked.wants(row)]
    column = asked.sort.removeprefix("-")
    if column not in (*COLUMNS[table], "id", "name"):
        return found
    given = [row for row in found if _cell(row, column)]
    given.sort(key=lambda row: _key(_cell(row, column)), reverse=asked.sort.startswith("-"))
    return [*given, *(row for row in found if not _cell(row, column))]


def _cell(row: Row, column: str) -> str:
    return row.row_id if column == "id" else row.texts.get(column, "")


def _key(text: str) -> tuple[float, str]:
    number = plain_number(text)
    return (number, "") if number is not None else (float("inf"), text.lower())


def table_of(user: Visitor, table: str, asked: Asked) -> Table:
    """One table as a list."""
    shown_columns = COLUMNS[table]
    found = wanted(user, table, asked)
    lines = [_line(row, shown_columns) for row in found[:MOST_SHOWN]]
    named = {"id": "Id", "name": "Name", **shown_columns}
    headings = [_heading(table, asked, name, words) for name, words in named.items()]
    total = len(found) if asked == Asked() else len(rows(user, table))
    return Table(table, TITLES[table], headings, lines, len(found), total)


def _line(row: Row, names: Iterable[str]) -> Line:
    figures = row.figures
    cells = [shown(figures[name]) if name in figures else None for name in names]
    return Line(row, cells, _doubtful(row))


def _doubtful(row: Row) -> int:
    return sum(figure.status != "verified" for figure in row.figures.values())


def _heading(table: str, asked: Asked, name: str, words: str) -> Heading:
    order = {name: "ascending", f"-{name}": "descending"}.get(asked.sort, "")
    is_number = name != "id" and columns(table)[name].kind in ("number", "count")
    return Heading(name, words, is_number, order, asked.query(sort=f"-{name}" if asked.sort == name else name))
