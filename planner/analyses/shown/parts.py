"""The parts that a section is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from planner.analyses.shown.heat_map import HeatMap

Json = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """A plain Plotly figure beside its words."""

    id: str
    title: str
    figure: Json
    summary: str
    tall: bool = False
    """Of several lanes: it takes the whole width."""


@dataclass(frozen=True)
class Cell:
    """What a table shows in one place; ``exact``: the value in full."""

    text: str
    exact: str = ""
    is_text: bool = False
    """Words: set from the left."""


@dataclass(frozen=True)
class Row:
    """A row of a table; the one that is the visitor's own is marked in words and by ``css``."""

    cells: tuple[Cell, ...]
    css: str = ""


@dataclass(frozen=True)
class Table:
    """A table; the first column names the row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""

    @property
    def heads(self) -> list[tuple[str, bool]]:
        """Each column with whether it has words."""
        first = self.rows[0].cells if self.rows else ()
        return [(name, i == 0 or (i < len(first) and first[i].is_text)) for i, name in enumerate(self.columns)]


@dataclass(frozen=True)
class Source:
    """What a section rests on."""

    text: str
    source: str


@dataclass(frozen=True)
class Shown:
    """Words first, then the picture, then the table."""

    sentences: tuple[str, ...]
    assumptions: tuple[Source, ...]
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    maps: tuple[HeatMap, ...] = ()

    @classmethod
    def of(
        cls, told: Json, charts: Sequence[Chart] = (), tables: Sequence[Table] = (), maps: Sequence[HeatMap] = ()
    ) -> Shown:
        """With the sentences and the assumptions that every kind has."""
        rests_on = tuple(Source(one["text"], one.get("source", "")) for one in told["assumptions"])
        return cls(tuple(told["sentences"]), rests_on, tuple(charts), tuple(tables), tuple(maps))
