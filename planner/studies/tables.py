"""The table under each frontier chart: exactly the columns of designs.csv, short on screen, exact in the title.

A fine grid has hundreds of designs, and their rows take longer than all the rest of a page: a table begins with the
designs that matter most, and has all of them once they are asked for.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from html import escape
from typing import Any

from django.utils.safestring import SafeString

from planner.numerals import exact, short
from simcore.answer.result import StudyResult
from simcore.rows import COLUMNS, DesignRow

SHORT_ROWS = 40
"""Where there are no more designs than this, the short table has all of them."""

WORDS = {
    "design_id": "Hash of the cluster and its rules: the same in every study",
    "capacity_req_per_s": "The highest rate held within the SLO, found to 1 %",
    "met": "Holds the required rate within all limits of the question",
    "capacity_low": "9 times in 10 the capacity is above: chance in the simulation and error of iteration times joined",
    "capacity_high": "The interval's upper end; of a screened design the most that it can hold",
    "noise_low": "The interval by the simulation's chance alone, lower end",
    "noise_high": "The interval by the simulation's chance alone, upper end",
    "tied_with_answer": "What is known of simulation and times does not tell it from the answer",
    "capacity_all_machines_req_per_s": "Where machines may be lost: what all hold; the capacity is of the worst loss",
    "worst_loss": "With which machines lost it holds least",
    "status": "Screened: its capacity was not searched; an evaluated design beats it at any prices",
    "binding_limit": "What fails first above the capacity",
    "usd_per_hour": "All machines, by the question's prices",
    "provisioned_w": "Watts to set aside; the nameplate where a machine has no such figure",
    "mean_w": "Drawn at capacity, host and idle included",
    "p99_w": "Drawn at capacity, 99th percentile of 1 s averages",
    "req_per_usd": "Perf/$: 3600 × capacity ÷ usd_per_hour",
    "req_per_s_per_kw": "Perf/W: capacity ÷ provisioned kW",
    "req_per_usd_low": "Perf/$ at the capacity's lower end",
    "req_per_s_per_kw_low": "Perf/W at the capacity's lower end; provisioned watts are a rating",
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


class Extent(StrEnum):
    """How much of a table is on the page."""

    NONE = "none"
    SHORT = "short"
    """What matters most, and the design that is looked at."""
    ALL = "all"


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
    designs: int
    """All that the study has, on the table or not."""

    @property
    def is_whole(self) -> bool:
        return len(self.rows) == self.designs


@dataclass(frozen=True)
class Marks:
    """What a row shows beside its figures."""

    address: Callable[[str], str]
    """Of a design's own page."""
    hollow: frozenset[str] = frozenset()
    answer_id: str | None = None


def designs_table(result: StudyResult, marks: Marks, sorted_by: str, kept: Collection[str]) -> Table:
    """The designs of ``kept`` by one column, those without a value in it last."""
    rows = [row for row in result.rows if row.design_id in kept]
    rows.sort(key=lambda row: _key(row, sorted_by))
    return Table(HEAD, tuple(_row(row, marks) for row in rows), sorted_by, len(result.rows))


def kept_designs(result: StudyResult, extent: Extent, chosen: str = "") -> frozenset[str]:
    """The ids of those on a table of this extent; ``chosen`` is among them whatever it is, if it is a design."""
    if extent == Extent.NONE:
        return frozenset()
    everything = extent == Extent.ALL or len(result.rows) <= SHORT_ROWS
    rows: Iterable[DesignRow] = result.rows if everything else _foremost(result)
    return frozenset([*(row.design_id for row in rows), *([chosen] if chosen else [])])


def _foremost(result: StudyResult) -> Iterable[DesignRow]:
    """Both frontiers, the best of each family that holds the rate, or where none does the closest; the answer is the
    best of its family."""
    yield from (row for row in result.rows if row.on_cost_frontier or row.on_power_frontier)
    yield from result.best_by_family
    yield from result.closest


def _row(row: DesignRow, marks: Marks) -> TableRow:
    return TableRow(row.design_id, _css(row, marks), _html(row, marks.address(row.design_id)))


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


def _css(row: DesignRow, marks: Marks) -> str:
    classes = {
        "answer": row.design_id == marks.answer_id,
        "cannot": row.design_id in marks.hollow,
        "dominated": row.cost_dominated_by is not None,
        "screened": row.status == "screened",
    }
    return " ".join(name for name, holds in classes.items() if holds)


def _key(row: DesignRow, column: str) -> tuple[Any, ...]:
    value = getattr(row, column)
    return (value is None, 0 if value is None else value, -(row.capacity_req_per_s or 0), row.design_id)
