"""Costs as tables, the same in files, workbook and REST: stable columns, no totals in them.

Every row says what it rests on (``KEYS``) and how sure it is (``MEASURES``): its amount were the design's capacity at
an end of its interval (``simcore.economics.interval``), the share of requests within the SLO, and the headroom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.finance import centres
from planner.finance.costs import DEFINITION, Costs
from planner.finance.quotes import day_of
from planner.spreadsheet import PLAIN, CsvForm
from simcore.economics.cash_flow import cash_flow
from simcore.economics.interval import Interval, headroom, of_amount, of_line, summed
from simcore.economics.lines import CostLine, View
from simcore.economics.months import Month, month
from simcore.economics.timeline import Need
from simcore.economics.unit_cost import UnitCost, unit_costs

Json = dict[str, Any]
Cells = Sequence[Any]
KEYS = (
    "scenario_id",
    "revision",
    "study_id",
    "design_id",
    "assumption_set",
    "engine_version",
    "definition_version",
    "currency",
    "status",
)
"""What says of every row what it rests on."""
MEASURES = ("low_usd", "base_usd", "high_usd", "slo_attainment", "headroom")
"""What says of every row how sure it is."""
CURRENCY = "USD"
TIMES = ("period_start", "period_end")


@dataclass(frozen=True)
class Row:
    """One row: its own cells, its amount's interval, and the month whose design and traffic it is of."""

    cells: Cells
    interval: Interval
    need: Need

    @property
    def measures(self) -> list[Decimal | None]:
        """``MEASURES``."""
        found, physics = self.interval, self.need.physics
        ahead = headroom(physics, self.need.rate_req_per_s)
        return [found.low_usd, found.base_usd, found.high_usd, physics.slo_attainment, ahead]


@dataclass(frozen=True)
class Table:
    """The columns between ``KEYS`` and ``MEASURES``, and the rows."""

    columns: tuple[str, ...]
    rows: Callable[[Costs, View], Iterable[Row]]

    @property
    def header(self) -> tuple[str, ...]:
        return (*KEYS, *self.columns, *MEASURES)

    def cells(self, costs: Costs, view: View) -> Iterator[list[Any]]:
        """A row's, in the order of the header."""
        keys = list(keyed(costs).values())
        return ([*keys, *row.cells, *row.measures] for row in self.rows(costs, view))

    def csv(self, costs: Costs, view: View, form: CsvForm = PLAIN) -> str:
        return form.written(self.header, self.cells(costs, view))

    def told(self, costs: Costs, view: View) -> list[Json]:
        """The same rows as JSON: decimal text, null where the file has nothing, and text as it is."""
        return [dict(zip(self.header, map(told, row), strict=True)) for row in self.cells(costs, view)]


def told(value: Any) -> Any:
    """A cell as JSON."""
    return f"{value:f}" if isinstance(value, Decimal) else value


def keyed(costs: Costs) -> dict[str, str]:
    """``KEYS`` with their values."""
    study = costs.study
    values = (
        str(study.revision.scenario_id),
        str(study.revision.number),
        str(study.pk),
        costs.physics.design_id,
        costs.assumptions_hash,
        study.engine_version,
        DEFINITION,
        CURRENCY,
        "partial" if study.is_partial else "forecast",
    )
    return dict(zip(KEYS, values, strict=True))


def need_of(costs: Costs, period: Month) -> Need:
    """The month's; of payments before the first month the first's."""
    needs = costs.sheet.timeline.needs
    return next((need for need in needs if need.month == period), needs[0])


def line_cells(costs: Costs, line: CostLine) -> list[Any]:
    """A row of the cost lines, without keys and measures."""
    of = month(line.period)
    return [
        of.start, of.end, of.hours, line.view, line.pool, line.machine, line.category,
        line.quantity, line.unit, line.unit_price_usd, line.amount_usd, line.formula, " ".join(line.rows),
        *_quote_cells(costs, line),
    ]  # fmt: skip


def line_interval(costs: Costs, line: CostLine) -> Interval:
    return of_line(line, need_of(costs, month(line.period)).physics)


def by_month(costs: Costs, lines: Sequence[CostLine]) -> Iterator[tuple[Need, int, list[CostLine], list[UnitCost]]]:
    """Each month with its hours, its lines and its cost a token at every load."""
    for place, need in enumerate(costs.sheet.timeline.needs):
        priced = costs.sheet.month(place)
        own = [line for line in lines if line.period == priced.period]
        found = unit_costs(priced.physics, own, priced.hours, priced.mean_req_per_s, costs.assumptions.allocation)
        yield need, priced.hours, own, found


def _quote_cells(costs: Costs, line: CostLine) -> list[Any]:
    """Of the quote that the line's price is from: its name, how it stood on the study's day and until when it holds,
    what its currency was taken at, on which day."""
    for machine in costs.sheet.assumptions.machines:
        for took in machine.taken:
            if took.chosen.row in line.rows:
                offer, rate = took.offer, took.chosen.exchange
                standing = offer.standing(day_of(costs.study))
                said = [offer.name, standing, offer.valid_to or None, offer.currency]
                return [*said, rate.usd if rate else Decimal(1), rate.date if rate else None]
    return [None] * 6


def _lines(costs: Costs, view: View) -> Iterator[Row]:
    for line in costs.lines(view):
        yield Row(line_cells(costs, line), line_interval(costs, line), need_of(costs, month(line.period)))


def _flow(costs: Costs, view: View) -> Iterator[Row]:
    """Of payments before the first month all is in proportion to the machines."""
    paid: dict[str, list[Interval]] = {}
    for line in costs.sheet.lines("cash"):
        paid.setdefault(line.period, []).append(line_interval(costs, line))
    for one in cash_flow(costs.sheet).months:
        need, parts = need_of(costs, one.month), paid.get(str(one.month))
        found = summed(parts) if parts else of_amount(one.paid_usd, need.physics)
        yield Row([one.month.start, one.month.end, one.paid_usd, one.so_far_usd], found, need)


def _units(costs: Costs, view: View) -> Iterator[Row]:
    for need, _, lines, found in by_month(costs, costs.lines(view)):
        whole = summed(line_interval(costs, line) for line in lines)
        for one in found:
            head = [need.month.start, need.month.end, view, one.load, one.allocation, one.req_per_s]
            for token in one.tokens:
                prices = (token.usd_per_million, token.with_idle_usd_per_million)
                cells = [*head, token.kind, token.tokens, token.usd, *prices, one.per_accelerator_usd]
                yield Row(cells, whole.part(token.usd), need)
            cells = [*head, "idle", None, one.idle_usd, None, None, one.per_accelerator_usd]
            yield Row(cells, whole.part(one.idle_usd), need)


def _centres(costs: Costs, view: View) -> Iterator[Row]:
    """A month's amounts are parts of its lines' sum."""
    whole = {
        need.month.start: (need, summed(line_interval(costs, line) for line in lines))
        for need, _, lines, _ in by_month(costs, costs.lines(view))
    }
    amount = centres.COLUMNS.index("amount_usd")
    for cells in centres.Centres(costs, view).rows():
        need, interval = whole[cells[0]]
        yield Row(cells, interval.part(cells[amount]), need)


LINES = Table(
    (
        *("period_start", "period_end", "hours", "view", "pool", "machine", "category"),
        *("quantity", "unit", "unit_price_usd", "amount_usd", "formula", "rows"),
        *("quote", "quote_standing", "quote_valid_to", "quote_currency", "exchange_usd", "exchange_date"),
    ),
    _lines,
)
"""The cost lines of the view."""
CASH_FLOW = Table(("period_start", "period_end", "paid_usd", "paid_so_far_usd"), _flow)
"""What is paid month by month, from the first delivery on, whatever the view."""
UNIT_COSTS = Table(
    (
        *("period_start", "period_end", "view", "load", "allocation", "req_per_s", "token_kind"),
        *("tokens", "amount_usd", "usd_per_million", "with_idle_usd_per_million", "usd_per_accelerator"),
    ),
    _units,
)
"""$/1M tokens of each month at each load; ``idle`` is a row of its own."""
COST_CENTRES = Table(centres.COLUMNS, _centres)
"""Each cost centre's part of each month: a row a kind of token, one for idle, one for headroom."""
