"""Figures as CSV: one row a figure, as the shipped files have it, or one row an item with a column a figure."""

import csv
import io
from collections.abc import Iterable, Mapping

from planner.catalogue.books import Book
from planner.catalogue.columns import Column, columns
from planner.catalogue.csv_file import CsvFile
from planner.catalogue.editing import Draft, same_value
from planner.catalogue.models import USER, Figure
from planner.catalogue.quote_fields import QUOTE_COLUMNS, RATE_COLUMNS, quote_texts, rate_texts
from planner.catalogue.rows import Row
from planner.spreadsheet import guarded
from simcore.catalogue import TABLES
from simcore.spec import SpecError, nearest

TIDY = ("id", "field", "value", "unit", "source", "date", "status")
PRICES = ("book", "machine", "usd_per_hour", "currency", "kind", "date", "source", "status", "local_per_hour")
PROVENANCE = ("source", "date", "status")
"""Columns that a file of one row an item may have for all figures of the row."""


def tidy_csv(rows: Iterable[Row]) -> str:
    """One row a figure."""
    lines = (
        [row.row_id, *(getattr(figure, name) for name in TIDY[1:])] for row in rows for figure in row.figures.values()
    )
    return _csv(TIDY, lines)


def wide_csv(table: str, rows: Iterable[Row]) -> str:
    """One row an item, one column a figure: values alone."""
    names = list(columns(table))
    return _csv(["id", *names], ([row.row_id, *(row.texts.get(name, "") for name in names)] for row in rows))


def prices_csv(books: Iterable[Book]) -> str:
    """One row a price."""
    lines = (
        [book.book.id, *("" if (said := getattr(price, name)) is None else str(said) for name in PRICES[1:])]
        for book in books
        for price in book.book.prices
    )
    return _csv(PRICES, lines)


def quotes_csv(books: Iterable[Book]) -> str:
    """One row a quote."""
    rows = ({"book": book.book.id, **quote_texts(offer)} for book in books for offer in book.book.offers)
    return _csv(QUOTE_COLUMNS, ([row[name] for name in QUOTE_COLUMNS] for row in rows))


def rates_csv(books: Iterable[Book]) -> str:
    """One row a currency of a book."""
    rows = ({"book": book.book.id, **rate_texts(rate)} for book in books for rate in book.book.rates)
    return _csv(RATE_COLUMNS, ([row[name] for name in RATE_COLUMNS] for row in rows))


def _csv(header: Iterable[str], lines: Iterable[list[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([guarded(cell) for cell in line] for line in lines)
    return out.getvalue()


Figures = list[tuple[int, str, Draft]]
"""Line of the file, id of the row, figure."""


def figures_in(table: str, file: CsvFile, rows: Mapping[str, Row], today: str) -> Figures:
    """The figures that a file of either form gives; SpecError where its columns are not those of the table. One row an
    item says one source for all that it changes: a figure that is as ``rows`` have it keeps its own."""
    return _tidy(file) if {"field", "value"} & set(file.header) else _wide(table, file, rows, today)


def _tidy(file: CsvFile) -> Figures:
    _check_columns(file, TIDY, missing=[name for name in TIDY if name not in file.header])
    return [
        (line, cells.get("id", ""), Draft(**{name: cells.get(name, "") for name in TIDY[1:]}))
        for line, cells in file.rows
    ]


def _wide(table: str, file: CsvFile, rows: Mapping[str, Row], today: str) -> Figures:
    known = columns(table)
    other = next((name for name in TABLES if name != table and set(file.header) <= {"id", *columns(name)}), None)
    if other and not set(file.header) <= {"id", *known}:
        raise SpecError(f"line 1: found the columns of {other}, expected those of {table}: import it there")
    _check_columns(file, ("id", *known, *PROVENANCE), missing=[] if "id" in file.header else ["id"])
    found = []
    for line, cells in file.rows:
        row_id, row = cells.get("id", ""), rows.get(cells.get("id", ""))
        for name in known:
            if text := cells.get(name, ""):
                figure = row.figures.get(name) if row else None
                found.append((line, row_id, _draft(known[name], text, cells, figure, today)))
    return found


def _draft(column: Column, text: str, cells: Mapping[str, str], figure: Figure | None, today: str) -> Draft:
    if figure and same_value(text, figure.value):
        return Draft(column.field, *(getattr(figure, name) for name in TIDY[2:]))
    source, date, status = (cells.get(name, "") for name in PROVENANCE)
    return Draft(column.field, text, column.unit, source, date or today, status or USER)


def _check_columns(file: CsvFile, known: Iterable[str], missing: list[str]) -> None:
    known = list(known)
    for name in file.header:
        if name and name not in known:
            raise SpecError(
                f"line 1: found the column ‘{name[:60]}’, expected some of {', '.join(known)}{nearest(name, known)}"
            )
    if missing:
        raise SpecError(f"line 1: found no column ‘{missing[0]}’, expected {', '.join(known)}")
    if not file.rows:
        raise SpecError("found the names of the columns alone, expected rows below them")


def check_columns(file: CsvFile, known: Iterable[str], needed: Iterable[str]) -> None:
    """SpecError where a column is none of those known, or one that is needed is not there."""
    _check_columns(file, known, missing=[name for name in needed if name not in file.header])
