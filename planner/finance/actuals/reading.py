"""A file of actuals, told by its column names: a FOCUS data set or a table of months."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.finance.actuals import focus, plain
from planner.finance.actuals.charges import Charge, Row, folded, listed_columns
from planner.finance.actuals.table import FileError, Table

MOST_FAULTS = 20
FOCUS, PLAIN = "focus", "months"
FORMAT_NAMES = {FOCUS: "FOCUS cost and usage", PLAIN: "a table of months"}


@dataclass(frozen=True)
class Read:
    """All of a file."""

    format: str
    charges: list[Charge]
    content_hash: str
    cost_column: str
    """As the file spells it."""
    unread: tuple[str, ...]
    """Columns that nothing is taken from."""


def read(upload: Any, cost_column: str = focus.COSTS[0], hours_of: str = "machines") -> Read:
    """``cost_column``: of a FOCUS file. FileError with a line a fault, all of the file's or none of it."""
    table = Table(upload)
    names = [folded(name) for name in table.header]
    if all(name in names for name in focus.REQUIRED):
        columns = {name: at for at, name in enumerate(names)}
        known = {folded(name) for name in focus.READ}
        _once(table.header, names, known)
        chosen = folded(cost_column)
        if chosen not in columns:
            there = [name for name in focus.COSTS if folded(name) in columns]
            raise FileError(f"line 1: found no column {cost_column}, which was chosen; found {_or_none(there)}")
        charges = _charges(table, columns, lambda row: focus.charge(row, cost_column, hours_of))
        unread = tuple(name for name, plainly in zip(table.header, names, strict=True) if plainly not in known)
        return Read(FOCUS, charges, table.content_hash, table.header[columns[chosen]], unread)
    return _months(table, names)


def _months(table: Table, names: Sequence[str]) -> Read:
    of = {alias: column for column, aliases in plain.COLUMNS.items() for alias in aliases}
    read_as = [of.get(name, "") for name in names]
    twice = next((column for column in read_as if column and read_as.count(column) > 1), "")
    if twice:
        both = [name for name, column in zip(table.header, read_as, strict=True) if column == twice]
        raise FileError(f"line 1: found {' and '.join(both)}, which say the same; expected one of them")
    columns = {column: at for at, column in enumerate(read_as) if column}
    has_period = "month" in columns or ("start" in columns and "end" in columns)
    if "cost" not in columns or not has_period:
        raise FileError(
            "line 1: found no known columns, expected a FOCUS data set (ChargePeriodStart, ChargePeriodEnd and a cost) "
            "or a table with month (or period_start and period_end) and cost; "
            f"found {listed_columns(table.header)}"
        )
    cost = table.header[columns["cost"]]
    said = "USD" if folded(cost).endswith("usd") else ""
    if said and "currency" in columns:
        raise FileError(f"line 1: found {cost} and a currency, expected cost and currency, or {cost} alone")
    charges = _charges(table, columns, plain.charge)
    unread = tuple(name for name, column in zip(table.header, read_as, strict=True) if not column)
    return Read(PLAIN, charges, table.content_hash, cost, unread)


def _charges(table: Table, columns: Mapping[str, int], made: Callable[[Row], Charge | None]) -> list[Charge]:
    spelt = {column: table.header[at] for column, at in columns.items()}
    problems: list[str] = []
    charges = []
    for line, cells in table.rows():
        found = made(Row(line, {column: cells[at] for column, at in columns.items()}, spelt, problems))
        if found is not None:
            charges.append(found)
        if len(problems) >= MOST_FAULTS:
            problems = [*problems[:MOST_FAULTS], f"line {line} and later: not read, after {MOST_FAULTS} faults"]
            break
    if problems:
        raise FileError(*problems)
    return charges


def _once(header: Sequence[str], names: Sequence[str], known: set[str]) -> None:
    twice = next((at for at, name in enumerate(names) if name in known and names.index(name) < at), None)
    if twice is not None:
        raise FileError(f"line 1: found column {header[twice]} twice, expected it once")


def _or_none(names: Sequence[str]) -> str:
    return ", ".join(names) or "no cost column, expected one of " + ", ".join(focus.COSTS)
