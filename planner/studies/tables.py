"""The table under each frontier chart: exactly the columns of designs.csv, short on screen, exact in the title."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from planner.numerals import exact, short
from simcore.rows import COLUMNS, DesignRow

WORDS = {
    "design_id": "Hash of the cluster and its rules: the same in every study",
    "capacity_req_per_s": "The highest rate held within the SLO, found to 1 %",
    "met": "Holds the required rate within all limits of the question",
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


@dataclass(frozen=True)
class Cell:
    column: str
    text: str
    title: str
    """The exact value, where the text is shorter."""
    numeric: bool


@dataclass(frozen=True)
class TableRow:
    design_id: str
    css: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    sorted_by: str


def designs_table(rows: Iterable[DesignRow], sorted_by: str, hollow: frozenset[str], answer_id: str | None) -> Table:
    """All rows, those without a value in ``sorted_by`` last."""
    ordered = sorted(rows, key=lambda row: _key(row, sorted_by))
    return Table(
        tuple(Column(name, WORDS.get(name, ""), name in NUMERIC) for name in COLUMNS),
        tuple(TableRow(row.design_id, _css(row, hollow, answer_id), _cells(row)) for row in ordered),
        sorted_by,
    )


def _cells(row: DesignRow) -> tuple[Cell, ...]:
    return tuple(_cell(name, getattr(row, name)) for name in COLUMNS)


def _cell(name: str, value: Any) -> Cell:
    full = exact(value)
    if name in NUMERIC and value is not None:
        text = short(value)
        return Cell(name, text, full, True)
    return Cell(name, full, "", name in NUMERIC)


def _css(row: DesignRow, hollow: frozenset[str], answer_id: str | None) -> str:
    classes = {
        "answer": row.design_id == answer_id,
        "cannot": row.design_id in hollow,
        "dominated": row.cost_dominated_by is not None,
    }
    return " ".join(name for name, holds in classes.items() if holds)


def _key(row: DesignRow, column: str) -> Sequence[Any]:
    value = getattr(row, column)
    return (value is None, 0 if value is None else value, -(row.capacity_req_per_s or 0), row.design_id)
