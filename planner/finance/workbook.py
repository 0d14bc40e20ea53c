"""Costs as one workbook: summary, designs, cost lines, cash flow, unit costs, assumptions. Numbers and dates are such.

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
from planner.finance.fields import GROUPS, MACHINE, machine_field, texts_of
from planner.finance.quotes import day_of
from planner.finance.tables import CASH_FLOW, KEYS, LINES, MEASURES, TIMES, UNIT_COSTS, Table, keyed, line_interval
from planner.studies.results import answer, study_result
from planner.studies.stored import prices_of
from simcore.economics.cash_flow import cash_flow, reconciled
from simcore.economics.hourly import usd_per_month
from simcore.economics.interval import Interval, headroom, summed
from simcore.economics.lines import View, total
from simcore.economics.offers import quotes_said
from simcore.economics.rounding import cents, nine_digits, quantised
from simcore.rows import COLUMNS, DesignRow

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
    keys = list(keyed(costs).values())
    sheets.write("Summary", ("what", "value", "unit", *KEYS, *MEASURES), _beside(_summary(costs, view), keys, costs))
    sheets.write("Designs", (*COLUMNS, "usd_per_month", *KEYS[:3], *KEYS[4:], *MEASURES), _designs(costs))
    sheets.write("Cost lines", LINES.header, _dated(LINES, costs, view))
    sheets.write("Cash flow", CASH_FLOW.header, _dated(CASH_FLOW, costs, view))
    sheets.write("Unit costs", UNIT_COSTS.header, _dated(UNIT_COSTS, costs, view))
    sourced = ("assumption", "value", "unit", "where it stands", "source", "date", *KEYS, *MEASURES)
    sheets.write("Assumptions", sourced, _beside(_assumptions(costs), keys, costs))
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


Said = tuple[Sequence[Any], Interval | None]
"""A row's own cells, and the interval of its amount; None: it is none, or is taken as it is."""


def _beside(rows: Iterable[Said], keys: Sequence[str], costs: Costs) -> Iterable[Sequence[Any]]:
    """With what each rests on, and how sure it is; attainment and headroom are the first month's."""
    need = costs.sheet.timeline.needs[0]
    of_run = (need.physics.slo_attainment, headroom(need.physics, need.rate_req_per_s))
    for cells, found in rows:
        amounts = (found.low_usd, found.base_usd, found.high_usd) if found else (None, None, None)
        yield [*cells, *keys, *amounts, *of_run]


def _summary(costs: Costs, view: View) -> Iterable[Said]:
    found, flow, lines = reconciled(costs.sheet), cash_flow(costs.sheet), costs.lines(view)
    for line in answer(costs.study):
        yield (f"answer {line.key}", line.text, ""), None
    yield ("design", costs.physics.label, ""), None
    yield ("rate sized for", costs.physics.rate_req_per_s, "requests/s"), None
    yield ("capacity", costs.physics.capacity_req_per_s, "requests/s"), None
    yield ("capacity, low end of 90 %", costs.physics.capacity_low, "requests/s"), None
    yield ("capacity, high end of 90 %", costs.physics.capacity_high, "requests/s"), None
    yield ("machines", costs.physics.machines, ""), None
    yield ("accelerators", costs.physics.accelerators, ""), None
    yield ("view", view, ""), None
    yield ("months", len(costs.sheet.timeline.needs), ""), None
    yield ("total", total(lines), "USD"), summed(line_interval(costs, line) for line in lines)
    yield ("net present value of the cash", flow.npv_usd, "USD"), None
    yield ("paid", found.paid_usd, "USD"), None
    yield ("booked", found.booked_usd, "USD"), None
    yield ("left for months to come", found.left_usd, "USD"), None
    if costs.sheet.timeline.uncovered:
        yield ("no design tried holds the traffic from", str(costs.sheet.timeline.uncovered), ""), None
    yield ("not counted, as no price was given", ", ".join(costs.assumptions.not_given()), ""), None


def _designs(costs: Costs) -> Iterable[Sequence[Any]]:
    """Each with what it costs a month of 730 h, and that were its capacity at an end of its interval; the costs' own
    design with the share of requests within the SLO that its costing found, others without."""
    keys = list(keyed(costs).values())
    rate = quantised(study_result(costs.study).spec.rate_req_per_s)
    for row in study_result(costs.study).rows:
        own = next((step for step in costs.steps if step.design_id == row.design_id), None)
        yield [
            *(getattr(row, name) for name in COLUMNS), cents(usd_per_month(row.usd_per_hour)), *keys[:3], *keys[4:],
            *_month_of(row), own.slo_attainment if own else None,
            nine_digits(quantised(row.capacity_req_per_s) / rate - 1) if row.capacity_req_per_s else None,
        ]  # fmt: skip


def _month_of(row: DesignRow) -> Sequence[Decimal | None]:
    month = usd_per_month(row.usd_per_hour)
    capacity, low, high = (quantised(end) if end else None for end in
                           (row.capacity_req_per_s, row.capacity_low, row.capacity_high))  # fmt: skip
    ends = [cents(month * capacity / end) if capacity and end else None for end in (high, low)]
    return [ends[0], cents(month), ends[1]]


def _dated(table: Table, costs: Costs, view: View) -> Iterable[Sequence[Any]]:
    """With its days as days."""
    days = [place for place, name in enumerate(table.header) if name in TIMES]
    for cells in table.cells(costs, view):
        yield [_day(cell) if place in days else cell for place, cell in enumerate(cells)]


def _assumptions(costs: Costs) -> Iterable[Said]:
    """Each with where it is from; quotes with their rates."""
    texts = texts_of(costs.assumptions)
    chosen = costs.chosen
    entered = f"entered by {chosen.created_by}" if chosen and chosen.created_by else "the study’s own"
    day = (chosen.created_at if chosen else costs.study.created_at).date().isoformat()
    of = (entered, _day(day))
    for group in GROUPS:
        for field in group.fields:
            text = texts[field.path]
            value = text if field.is_text else _number(text)
            yield (f"{group.title}: {field.label}", value, field.unit, field.path, *of), None
    prices = {price.machine: price for price in prices_of(costs.study).prices}
    for place, machine in enumerate(costs.assumptions.machines):
        for field in MACHINE:
            name = machine_field(place, field)
            of_book = field.path == "on_demand_usd_per_hour" and machine.row and machine.machine in prices
            source = (prices[machine.machine].source, prices[machine.machine].date) if of_book else of
            stands = machine.row if of_book else name
            yield (f"{machine.machine}: {field.label}", _number(texts[name]), field.unit, stands, *source), None
    for one in quotes_said(costs.sheet.assumptions, day_of(costs.study)):
        offer, rate, head = one.taken.offer, one.taken.chosen.exchange, f"{one.machine}: {one.taken.offer.name}"
        said = (offer.source, offer.date)
        yield (f"{head}, before discount", one.taken.list_usd, f"$ ({offer.term})", one.row, *said), None
        yield (f"{head}, after discount", one.taken.net_usd, f"$ ({offer.term})", one.row, *said), None
        yield (f"{head}, machines that pick the break", one.taken.machines, "", one.row, *said), None
        yield (f"{head}, on the study’s day", one.standing, "", one.row, *said), None
        yield (f"{head}, valid to", offer.valid_to, "", one.row, *said), None
        if rate:
            yield (f"{head}, 1 {rate.currency}", rate.usd, "USD", one.row, rate.source, rate.date), None


def _number(text: str) -> Any:
    """What was entered in a field of numbers; empty where nothing was."""
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    return number if number.is_finite() else text


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=None)
