"""The table under each frontier chart: exactly the columns of designs.csv, short on screen, exact in the title."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from html import escape
from typing import Any

from django.utils.safestring import SafeString

from planner.numerals import exact, short
from simcore.rows import COLUMNS, DesignRow

WORDS = {
    "design_id": "Hash of the cluster and its rules: the same in every study",
    "capacity_req_per_s": "The highest rate held within the SLO, found to 1 %",
    "met": "Holds the required rate within all limits of the question",
    "capacity_high": "The interval's upper end; of a screened design the most that it can hold",
    "status": "Screened: its capacity was not searched; an evaluated design beats it at any prices",
    "binding_limit": "What fails first above the capacity",
    "usd_per_hour": "All machines, by the question's prices",
    "provisioned_w": "Watts to set aside; the nameplate where a machine has no such figure",
    "mean_w": "Drawn at capacity, host and idle included",
    "p99_w": "Drawn at capacity, 99th percentile of 1 s averages",
    "req_per_usd": "Perf/$: 3600 × capacity ÷ usd_per_hour",
    "req_per_s_per_kw": "Perf/W: capacity ÷ provisioned kW",
    "cost_dominated_by": "A design that holds no less for no more money",
    "power_dominated_by": "A design that holds no less with no more provisioned power",
}
NUMERIC = frozenset(
    field.name for field in fields(DesignRow) if any(kind in str(field.type) for kind in ("int", "float", "Decimal"))
)


@dataclass(frozen=True)
class Column:
    name: str
    words: str
    numeric: bool


HEAD = tuple(Column(name, WORDS.get(name, ""), name in NUMERIC) for name in COLUMNS)


@dataclass(frozen=True)
class TableRow:
    design_id: str
    css: str
    html: SafeString
    """Its cells. Made here and not in the template, which takes a second for a few hundred designs."""


@dataclass(frozen=True)
class Table:
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    sorted_by: str


def table_rows(
    rows: Iterable[DesignRow], address: Callable[[str], str], hollow: frozenset[str], answer_id: str | None
) -> dict[str, TableRow]:
    """Design id → its row, for the tables of both charts. ``address`` of a design's own page."""
    return {
        row.design_id: TableRow(row.design_id, _css(row, hollow, answer_id), _html(row, address(row.design_id)))
        for row in rows
    }


def designs_table(rows: Iterable[DesignRow], made: Mapping[str, TableRow], sorted_by: str) -> Table:
    """All rows by one column, those without a value in it last."""
    ordered = sorted(rows, key=lambda row: _key(row, sorted_by))
    return Table(HEAD, tuple(made[row.design_id] for row in ordered), sorted_by)


def _html(row: DesignRow, address: str) -> SafeString:
    link = f'<td><a href="{escape(address)}">{escape(row.design_id)}</a></td>'
    return SafeString(link + "".join(_cell(name, getattr(row, name)) for name in COLUMNS[1:]))


def _cell(name: str, value: Any) -> str:
    """Short on screen; the exact value in the title, where it differs."""
    full = exact(value)
    if name not in NUMERIC:
        return f"<td>{escape(full)}</td>"
    text = full if value is None else short(value)
    title = "" if text == full else f' title="{escape(full)}"'
    return f'<td class="number"{title}>{escape(text)}</td>'


def _css(row: DesignRow, hollow: frozenset[str], answer_id: str | None) -> str:
    classes = {
        "answer": row.design_id == answer_id,
        "cannot": row.design_id in hollow,
        "dominated": row.cost_dominated_by is not None,
        "screened": row.status == "screened",
    }
    return " ".join(name for name, holds in classes.items() if holds)


def _key(row: DesignRow, column: str) -> tuple[Any, ...]:
    value = getattr(row, column)
    return (value is None, 0 if value is None else value, -(row.capacity_req_per_s or 0), row.design_id)
