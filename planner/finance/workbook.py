"""Costs as one workbook: summary, designs, cost lines, cash flow, assumptions. Numbers and dates are numbers and dates.

Text is never taken for a formula or a link. The same study, assumptions and view give the same bytes: the file's own
date is the study's.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from planner.finance.costs import Costs
from planner.finance.exports import TABLES, keyed, line_cells
from planner.finance.fields import GROUPS, MACHINE, machine_field, texts_of
from planner.studies.results import answer, study_result
from simcore.economics.cash_flow import cash_flow, reconciled
from simcore.economics.lines import View, total
from simcore.rows import COLUMNS

SAFE = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
WIDTH, WIDEST = 10, 60


def workbook(costs: Costs, view: View) -> bytes:
    """The file."""
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, SAFE)
    study = costs.study
    book.set_properties(
        {"title": study.revision.title, "created": study.created_at.astimezone(UTC).replace(tzinfo=None)}
    )
    sheets = _Sheets(book)
    sheets.write("Summary", ("what", "value", "unit"), _summary(costs, view))
    sheets.write("Designs", COLUMNS, _designs(costs))
    sheets.write("Cost lines", (*keyed(costs), *TABLES["lines"].columns), _lines(costs, view))
    sheets.write("Cash flow", TABLES["cash-flow"].columns, _cash(costs))
    sheets.write("Assumptions", ("assumption", "value", "unit", "where it stands"), _assumptions(costs))
    book.close()
    return out.getvalue()


class _Sheets:
    """Writes tables: a frozen, bold header, then rows."""

    def __init__(self, book: xlsxwriter.Workbook) -> None:
        self.book = book
        self.head: Format = book.add_format({"bold": True, "bottom": 1})
        self.day: Format = book.add_format({"num_format": "yyyy-mm-dd"})

    def write(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        sheet: Worksheet = self.book.add_worksheet(name)
        sheet.freeze_panes(1, 0)
        widths = [max(WIDTH, len(column)) for column in columns]
        for place, column in enumerate(columns):
            sheet.write_string(0, place, column, self.head)
        for number, row in enumerate(rows, 1):
            for place, value in enumerate(row):
                self._cell(sheet, number, place, value)
                widths[place] = min(max(widths[place], len(str(value))), WIDEST)
        for place, width in enumerate(widths):
            sheet.set_column(place, place, width + 1)
        sheet.autofilter(0, 0, 0, len(columns) - 1)

    def _cell(self, sheet: Worksheet, row: int, place: int, value: Any) -> None:
        if value is None or value == "":
            return
        if isinstance(value, datetime):
            sheet.write_datetime(row, place, value, self.day)
        elif isinstance(value, bool):
            sheet.write_boolean(row, place, value)
        elif isinstance(value, int | float | Decimal) and isfinite(value):
            sheet.write_number(row, place, value)
        else:
            sheet.write_string(row, place, str(value))


def _summary(costs: Costs, view: View) -> Iterable[Sequence[Any]]:
    found, flow, lines = reconciled(costs.sheet), cash_flow(costs.sheet), costs.lines(view)
    for name, value in keyed(costs).items():
        yield name, value, ""
    for line in answer(costs.study):
        yield f"answer {line.key}", line.text, ""
    yield "design", costs.physics.label, ""
    yield "rate sized for", costs.physics.rate_req_per_s, "requests/s"
    yield "capacity", costs.physics.capacity_req_per_s, "requests/s"
    yield "machines", costs.physics.machines, ""
    yield "accelerators", costs.physics.accelerators, ""
    yield "view", view, ""
    yield "months", len(costs.sheet.timeline.needs), ""
    yield "total", total(lines), "USD"
    yield "net present value of the cash", flow.npv_usd, "USD"
    yield "paid", found.paid_usd, "USD"
    yield "booked", found.booked_usd, "USD"
    yield "left for months to come", found.left_usd, "USD"
    if costs.sheet.timeline.uncovered:
        yield "no design tried holds the traffic from", str(costs.sheet.timeline.uncovered), ""
    yield "not counted, as no price was given", ", ".join(costs.assumptions.not_given()), ""


def _designs(costs: Costs) -> Iterable[Sequence[Any]]:
    for row in study_result(costs.study).rows:
        yield [getattr(row, name) for name in COLUMNS]


def _lines(costs: Costs, view: View) -> Iterable[Sequence[Any]]:
    keys = list(keyed(costs).values())
    for line in costs.lines(view):
        start, end, *rest = line_cells(line)
        yield [*keys, _day(start), _day(end), *rest]


def _cash(costs: Costs) -> Iterable[Sequence[Any]]:
    for one in cash_flow(costs.sheet).months:
        yield _day(one.month.start), _day(one.month.end), one.paid_usd, one.so_far_usd


def _assumptions(costs: Costs) -> Iterable[Sequence[Any]]:
    texts = texts_of(costs.assumptions)
    for group in GROUPS:
        for field in group.fields:
            text = texts[field.path]
            value = text if field.is_text else _number(text)
            yield f"{group.title}: {field.label}", value, field.unit, field.path
    for place, machine in enumerate(costs.assumptions.machines):
        for field in MACHINE:
            name = machine_field(place, field)
            yield f"{machine.machine}: {field.label}", _number(texts[name]), field.unit, machine.row or name


def _number(text: str) -> Any:
    """What was entered in a field of numbers; empty where nothing was."""
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    return number if number.is_finite() else text


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=None)
