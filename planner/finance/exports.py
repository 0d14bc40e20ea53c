"""Costs as files: tables as CSV, all of them as JSON and as a workbook; the same bytes for the same inputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from planner.finance import quotes
from planner.finance.costs import Costs
from planner.finance.focus import FOCUS
from planner.finance.tables import (
    CASH_FLOW,
    COST_CENTRES,
    LINES,
    UNIT_COSTS,
    Table,
    keyed,
    line_interval,
    need_of,
    told,
)
from planner.finance.words import CATEGORY_NAMES
from planner.schemas import address
from planner.spreadsheet import CsvForm
from simcore.economics.cash_flow import cash_flow, reconciled
from simcore.economics.interval import headroom, summed
from simcore.economics.lines import View, total
from simcore.spec import encode

Json = dict[str, Any]
CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
TABLES: dict[str, Table] = {
    "lines": LINES,
    "cash-flow": CASH_FLOW,
    "unit-costs": UNIT_COSTS,
    "cost-centres": COST_CENTRES,
    "focus": FOCUS,
}
"""By the name that file and REST have."""


def costs_json(costs: Costs, view: View) -> str:
    return json.dumps(all_told(costs, view), indent=1, ensure_ascii=False) + "\n"


def all_told(costs: Costs, view: View) -> Json:
    """All of it, with the figures and assumptions that it follows from; its schema is ``costs-1.json``."""
    found = reconciled(costs.sheet)
    flow, lines = cash_flow(costs.sheet), costs.lines(view)
    whole = summed(line_interval(costs, line) for line in lines)
    first = need_of(costs, costs.sheet.timeline.needs[0].month)
    return {
        "schema": address("costs-1"),
        **keyed(costs),
        "view": view,
        "physics": [encode(step) for step in costs.steps],
        "assumptions": _assumptions(costs),
        "quotes": quotes.as_json(costs.study, costs.sheet.assumptions),
        "not_given": list(costs.assumptions.not_given()),
        "lines": [
            {**row, **encode(line), "category_name": CATEGORY_NAMES[line.category]}
            for row, line in zip(LINES.told(costs, view), lines, strict=True)
        ],
        "total_usd": str(total(lines)),
        "low_usd": told(whole.low_usd),
        "base_usd": told(whole.base_usd),
        "high_usd": told(whole.high_usd),
        "slo_attainment": told(first.physics.slo_attainment),
        "headroom": told(headroom(first.physics, first.rate_req_per_s)),
        "cash_flow": [
            {**row, "month": str(one.month)} for row, one in zip(CASH_FLOW.told(costs, view), flow.months, strict=True)
        ],
        "unit_costs": UNIT_COSTS.told(costs, view),
        "npv_usd": str(flow.npv_usd),
        "reconciled": {
            "paid_usd": str(found.paid_usd),
            "booked_usd": str(found.booked_usd),
            "left_usd": str(found.left_usd),
        },
        "uncovered_from": str(costs.sheet.timeline.uncovered) if costs.sheet.timeline.uncovered else None,
    }


def _assumptions(costs: Costs) -> Json:
    """As they were given; what the quotes come to is told beside them."""
    said: Json = encode(costs.assumptions)
    for machine in said["machines"]:
        del machine["taken"]
    return said


def costs_xlsx(costs: Costs, view: View) -> bytes:
    """The workbook (``workbook.py``)."""
    from planner.finance.workbook import workbook  # loads xlsxwriter: not before somebody asks for it

    return workbook(costs, view)


def _as_csv(table: Table) -> Callable[[Costs, View, CsvForm], str]:
    return lambda costs, view, form: table.csv(costs, view, form)


EXPORTS: dict[str, Callable[[Costs, View, CsvForm], str | bytes]] = {
    **{f"{name}.csv": _as_csv(table) for name, table in TABLES.items()},
    "costs.json": lambda costs, view, _: costs_json(costs, view),
    "costs.xlsx": lambda costs, view, _: costs_xlsx(costs, view),
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
