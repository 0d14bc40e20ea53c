"""Where splitting pays as a map: cost co-located over cost split, with the line where both are equal."""

from __future__ import annotations

from typing import Any

from planner.analyses.shown.heat_map import HeatMap, Level, Mark, Place
from planner.analyses.shown.parts import Cell, Row, Shown, Table
from planner.numerals import exact, short

Json = dict[str, Any]
EVEN = 0.02
SHADES = ((0.5, 4), (0.25, 3), (0.1, 2), (0.0, 1))
"""From which saving on, as a share, a cell has which shade."""
LEAST, MOST = 0.01, 100.0
"""What stands for one side alone holding the SLO, where a line is to pass."""
KEY = (
    ("level bold", "both cost the same"),
    ("cool", "splitting costs less"),
    ("warm", "co-located costs less"),
    ("you", "the question as it is asked"),
    ("hatched", "neither holds the SLO"),
)


def shown(told: Json) -> Shown:
    return Shown.of(told, maps=[_map(told)], tables=[_table(told)])


def _map(told: Json) -> HeatMap:
    cells = told["cells"]
    up, across = told["you"]
    return HeatMap(
        id="where-splitting-pays",
        title="Cost a request, co-located ÷ split",
        summary="Above 1 splitting costs less. Up: the SLO’s limits times a factor, tighter towards the bottom; across:"
        " output tokens over input tokens, both means.",
        names=("output ÷ input tokens", "SLO limits times"),
        across=tuple(short(ratio) for ratio in told["output_over_input"]),
        up=tuple(f"× {short(multiplier)}" for multiplier in told["multipliers"]),
        places=[[_place(cell) for cell in row] for row in cells],
        levels=(Level([[_value(cell) for cell in row] for row in cells], 1.0, "", "level bold"),),
        marks=(Mark(across, up, "you", "the question as it is asked"),),
        key=KEY,
    )


def _place(cell: Json) -> Place:
    value = _value(cell)
    if value is None:
        return Place(None, "", "Neither side holds the SLO at any rate.", "hatched")
    return Place(value, _text(cell), _words(cell), _shade(value))


def _value(cell: Json) -> float | None:
    """The ratio; its end where only one side holds the SLO."""
    if cell["ratio"] is not None:
        return float(cell["ratio"])
    if cell["split"]["label"]:
        return MOST
    return LEAST if cell["together"]["label"] else None


def _text(cell: Json) -> str:
    if cell["ratio"] is not None:
        return f"{cell['ratio']:.2f}"
    return "split" if cell["split"]["label"] else "co-loc."


def _shade(ratio: float) -> str:
    if abs(ratio - 1) < EVEN:
        return "plain"
    saving = 1 - 1 / ratio if ratio > 1 else 1 - ratio
    place = next(place for least, place in SHADES if saving >= least)
    return f"{'cool' if ratio > 1 else 'warm'}-{place}"


def _words(cell: Json) -> str:
    sides = ((cell["together"], "Co-located"), (cell["split"], "Split"))
    said = [
        f"{name}: {side['label']}, ${short(side['usd_per_million'])} a million requests"
        if side["label"]
        else f"{name}: none holds the SLO"
        for side, name in sides
    ]
    return ". ".join(said)


def _table(told: Json) -> Table:
    columns = (
        "SLO limits times",
        "Outputs times",
        "Output ÷ input",
        "Cost co-located ÷ split",
        "Best co-located",
        "$ a million requests",
        "Best split",
        "$ a million requests",
    )
    rows = [_row(told, up, across) for up in range(len(told["multipliers"])) for across in range(len(told["outputs"]))]
    return Table("The designs compared", columns, tuple(rows))


def _row(told: Json, up: int, across: int) -> Row:
    cell = told["cells"][up][across]
    yours = [up, across] == told["you"]
    ratio = told["output_over_input"][across]
    cells = [
        Cell(short(told["multipliers"][up]) + (" (you)" if yours else "")),
        Cell(short(told["outputs"][across])),
        Cell(short(ratio), exact(ratio)),
        Cell("–") if cell["ratio"] is None else Cell(short(cell["ratio"]), exact(cell["ratio"])),
        *_side(cell["together"]),
        *_side(cell["split"]),
    ]
    return Row(tuple(cells), "answer" if yours else "")


def _side(side: Json) -> tuple[Cell, Cell]:
    if not side["label"]:
        return Cell("none holds the SLO"), Cell("–")
    return Cell(side["label"]), Cell(short(side["usd_per_million"]), exact(side["usd_per_million"]))
