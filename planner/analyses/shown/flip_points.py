"""Flip points: when the answer changes, then when the first four kinds of design change places."""

from __future__ import annotations

from typing import Any

from planner.analyses.shown.parts import Cell, Row, Shown, Table
from planner.numerals import exact

Json = dict[str, Any]


def shown(told: Json) -> Shown:
    return Shown.of(told, tables=[table for table in (_answer(told), _order(told)) if table.rows])


def _answer(told: Json) -> Table:
    rows = [
        Row((_when(flip), Cell(flip["then"]), Cell(f"{flip['untried']:,}" if flip["untried"] else "none")))
        for flip in told["answer"]
    ]
    columns = ("Another kind comes first if", "Best of those tried beyond it", "Never tried, may come first sooner")
    return Table("When the answer changes, nearest first", columns, tuple(rows))


def _order(told: Json) -> Table:
    names = ", ".join(family["words"] for family in told["families"])
    rows = [Row((_when(swap), Cell(swap["told"]))) for swap in told["swaps"]]
    return Table(
        "When the first kinds change places",
        ("If", "Then"),
        tuple(rows),
        f"Today’s order: {names}. Of each the nearest change on either side.",
    )


def _when(place: Json) -> Cell:
    words = place["words"]
    return Cell(words[0].upper() + words[1:], exact(place["value"]))
