"""The tidy tables: one row a figure, with where it comes from."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from simcore.spec import SpecError, nearest

TABLES = ("accelerators", "machines", "fabrics", "models")
STATUSES = ("verified", "memory", "estimate", "assumption")
"""verified: carried from the named source; memory: recalled, not looked up; estimate: derived or a simulator's
constant; assumption: posited by a paper or by us.
"""


@dataclass(frozen=True)
class Figure:
    """One figure of one row of a table; ``value`` is text as written in the CSV, in SI units."""

    id: str
    field: str
    value: str
    unit: str
    source: str
    date: str
    status: str


def read_csv(name: str) -> list[dict[str, str]]:
    """The rows of a shipped CSV of this package."""
    text = files("simcore.catalogue").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def figures(table: str) -> tuple[Figure, ...]:
    """All figures of one of the ``TABLES``, in the order of its file; SpecError on another table."""
    if table not in TABLES:
        raise SpecError(f"table: found '{table}', expected one of {', '.join(TABLES)}{nearest(table, TABLES)}")
    return tuple(Figure(**row) for row in read_csv(f"{table}.csv"))


def fields_by_id(table: str) -> dict[str, dict[str, str]]:
    """Row id -> field -> text, in the order of the file."""
    rows: dict[str, dict[str, str]] = {}
    for figure in figures(table):
        rows.setdefault(figure.id, {})[figure.field] = figure.value
    return rows
