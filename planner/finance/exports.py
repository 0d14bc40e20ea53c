"""Costs as files: one table each, no totals in it, stable columns, the same bytes for the same inputs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.finance import centres
from planner.finance.costs import DEFINITION, Costs
from planner.finance.words import CATEGORY_NAMES
from planner.spreadsheet import guarded
from simcore.economics.cash_flow import cash_flow, reconciled
from simcore.economics.lines import CostLine, View, total
from simcore.economics.months import Month, month
from simcore.economics.unit_cost import UnitCost, unit_costs
from simcore.spec import encode

Json = dict[str, Any]
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
CURRENCY = "USD"
CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
SERVICE_CATEGORY = "AI and Machine Learning"


@dataclass(frozen=True)
class Table:
    """One table of the costs, as file and by REST: the columns after ``KEYS``, and a row's cells in their order."""

    columns: tuple[str, ...]
    rows: Callable[[Costs, View], Iterable[Sequence[Any]]]

    def csv(self, costs: Costs, view: View) -> str:
        return _csv(costs, self.columns, self.rows(costs, view))

    def told(self, costs: Costs, view: View) -> list[Json]:
        """The same rows as JSON: decimal text, null where the file has nothing, and text as it is."""
        keys = keyed(costs)
        return [keys | dict(zip(self.columns, map(_told, row), strict=True)) for row in self.rows(costs, view)]


def _lines(costs: Costs, view: View) -> Iterable[list[Any]]:
    return (line_cells(line) for line in costs.lines(view))


def _flow(costs: Costs, view: View) -> Iterable[list[Any]]:
    return ([one.month.start, one.month.end, one.paid_usd, one.so_far_usd] for one in cash_flow(costs.sheet).months)


def focus_csv(costs: Costs, view: View) -> str:
    """A forecast in the columns of FOCUS 1.2: a row a month and kind of token, and one for idle.

    It is no bill: BilledCost and InvoiceId are left out, and ``x_IsForecast`` says so in every row.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*FOCUS, *(f"x_{name.title().replace('_', '')}" for name in KEYS)])
    for row in _focus(costs, view):
        writer.writerow([*row, *_keys(costs)])
    return out.getvalue()


FOCUS = (
    *("BillingCurrency", "BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd"),
    *("ChargeCategory", "ChargeDescription", "ServiceCategory", "ServiceName", "SkuId", "PricingQuantity"),
    *("PricingUnit", "ListCost", "ContractedCost", "EffectiveCost", "ConsumedQuantity", "ConsumedUnit", "Tags"),
    *("x_IsForecast", "x_CostPerMillionTokens", "x_CostAllocationMethod", "x_View"),
)


def costs_json(costs: Costs, view: View) -> str:
    return json.dumps(all_told(costs, view), indent=1, ensure_ascii=False) + "\n"


def all_told(costs: Costs, view: View) -> Json:
    """All of it, with the figures and assumptions that it follows from."""
    found = reconciled(costs.sheet)
    flow = cash_flow(costs.sheet)
    return {
        **keyed(costs),
        "view": view,
        "physics": [encode(step) for step in costs.steps],
        "assumptions": encode(costs.assumptions),
        "not_given": list(costs.assumptions.not_given()),
        "lines": [_line_json(line) for line in costs.lines(view)],
        "total_usd": str(total(costs.lines(view))),
        "cash_flow": [
            {"month": str(one.month), "paid_usd": str(one.paid_usd), "paid_so_far_usd": str(one.so_far_usd)}
            for one in flow.months
        ],
        "npv_usd": str(flow.npv_usd),
        "reconciled": {
            "paid_usd": str(found.paid_usd),
            "booked_usd": str(found.booked_usd),
            "left_usd": str(found.left_usd),
        },
        "uncovered_from": str(costs.sheet.timeline.uncovered) if costs.sheet.timeline.uncovered else None,
    }


def costs_xlsx(costs: Costs, view: View) -> bytes:
    """The workbook (``workbook.py``)."""
    from planner.finance.workbook import workbook  # loads xlsxwriter: not before somebody asks for it

    return workbook(costs, view)


TABLES = {
    # the cost lines of the view
    "lines": Table(
        (
            *("period_start", "period_end", "hours", "view", "pool", "machine", "category"),
            *("quantity", "unit", "unit_price_usd", "amount_usd", "formula", "rows"),
        ),
        _lines,
    ),
    # what is paid month by month, from the first delivery on, whatever the view
    "cash-flow": Table(("period_start", "period_end", "paid_usd", "paid_so_far_usd"), _flow),
    # $/1M tokens of each month at each load; ``idle`` is a row of its own
    "unit-costs": Table(
        (
            *("period_start", "period_end", "view", "load", "allocation", "req_per_s", "token_kind"),
            *("tokens", "amount_usd", "usd_per_million", "with_idle_usd_per_million", "usd_per_accelerator"),
        ),
        lambda costs, view: _units(costs, view),
    ),
    # each cost centre's part of each month: a row a kind of token, one for idle, one for headroom
    "cost-centres": Table(centres.COLUMNS, lambda costs, view: centres.Centres(costs, view).rows()),
}
EXPORTS: dict[str, Callable[[Costs, View], str | bytes]] = {
    **{f"{name}.csv": table.csv for name, table in TABLES.items()},
    "focus.csv": focus_csv,
    "costs.json": costs_json,
    "costs.xlsx": costs_xlsx,
}
OFFERED = [
    ("lines", "csv", "Cost lines"),
    ("cash-flow", "csv", "Cash flow"),
    ("unit-costs", "csv", "Unit costs"),
    ("cost-centres", "csv", "Cost centres"),
    ("focus", "csv", "FOCUS-shaped forecast"),
    ("costs", "xlsx", "Workbook"),
    ("costs", "json", "All as JSON"),
]


def _csv(costs: Costs, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*KEYS, *columns])
    for row in rows:
        writer.writerow([*_keys(costs), *map(_cell, row)])
    return out.getvalue()


def _cell(value: Any) -> str:
    """Numbers keep their sign; text that a spreadsheet would take for a formula is guarded."""
    if value is None:
        return ""
    return f"{value:f}" if isinstance(value, Decimal) else guarded(str(value))


def _told(value: Any) -> Any:
    return f"{value:f}" if isinstance(value, Decimal) else value


def keyed(costs: Costs) -> dict[str, str]:
    """``KEYS`` with their values."""
    return dict(zip(KEYS, _keys(costs), strict=True))


def _keys(costs: Costs) -> list[str]:
    study = costs.study
    return [
        str(study.revision.scenario_id),
        str(study.revision.number),
        str(study.pk),
        costs.physics.design_id,
        costs.assumptions_hash,
        study.engine_version,
        DEFINITION,
        CURRENCY,
        "partial" if study.is_partial else "forecast",
    ]


def line_cells(line: CostLine) -> list[Any]:
    """A row of the cost lines, without ``KEYS``."""
    of = month(line.period)
    return [
        of.start, of.end, of.hours, line.view, line.pool, line.machine, line.category,
        line.quantity, line.unit, line.unit_price_usd, line.amount_usd, line.formula, " ".join(line.rows),
    ]  # fmt: skip


def _line_json(line: CostLine) -> Json:
    return {**encode(line), "category_name": CATEGORY_NAMES[line.category]}


def _units(costs: Costs, view: View) -> Iterable[list[Any]]:
    for of, _, found in _by_month(costs, view):
        for one in found:
            head = [of.start, of.end, view, one.load, one.allocation, one.req_per_s]
            for token in one.tokens:
                prices = (token.usd_per_million, token.with_idle_usd_per_million)
                yield [*head, token.kind, token.tokens, token.usd, *prices, one.per_accelerator_usd]
            yield [*head, "idle", None, one.idle_usd, None, None, one.per_accelerator_usd]


def _by_month(costs: Costs, view: View) -> Iterable[tuple[Month, int, list[UnitCost]]]:
    """Each month with its hours and its cost a token at every load."""
    for place, need in enumerate(costs.sheet.timeline.needs):
        priced = costs.sheet.month(place)
        lines = [line for line in costs.lines(view) if line.period == priced.period]
        allocation = costs.assumptions.allocation
        found = unit_costs(priced.physics, lines, priced.hours, priced.mean_req_per_s, allocation)
        yield need.month, priced.hours, found


def _focus(costs: Costs, view: View) -> Iterable[list[str]]:
    title = guarded(costs.study.revision.title)
    for of, hours, found in _by_month(costs, view):
        one = next(one for one in found if one.load == "duty_cycle")
        head = [CURRENCY, *(of.start, of.end) * 2, "Usage"]
        for token in one.tokens:
            millions = _cell(token.tokens / 1_000_000)
            name = token.kind.replace("_", " ")
            yield [
                *head, f"{name.capitalize()} tokens", SERVICE_CATEGORY, title, f"{token.kind}-tokens", millions,
                "1000000 Tokens", *[_cell(token.usd)] * 3, _cell(token.tokens), "Tokens", "{}", "true",
                _cell(token.usd_per_million), one.allocation, view,
            ]  # fmt: skip
        yield [
            *head, "Idle capacity", SERVICE_CATEGORY, title, "idle", _cell(Decimal(hours * one.accelerators)), "Hours",
            *[_cell(one.idle_usd)] * 3, "", "", "{}", "true", "", one.allocation, view,
        ]  # fmt: skip
