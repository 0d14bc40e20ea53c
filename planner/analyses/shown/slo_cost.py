"""The cost of the rate over the tightness of the SLO."""

from __future__ import annotations

from typing import Any

from planner.analyses.shown.lines import Axis, Line, lines_figure
from planner.analyses.shown.parts import Cell, Chart, Row, Shown, Table
from planner.numerals import exact, short, usd

Json = dict[str, Any]
KINDS = {"cheapest": "Cheapest of all", "co_located": "Co-located", "split": "Split"}
TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10)
COLUMNS = ("Limits times", "Cheapest design", "$ a month", "Machines", "Co-located, $ a month", "Split, $ a month")


def shown(told: Json) -> Shown:
    return Shown.of(told, [_chart(told)], [_table(told)])


def _chart(told: Json) -> Chart:
    rows = told["multiples"]
    lines = [Line(KINDS[kind], [_month(row[kind]) for row in rows]) for kind in ("co_located", "split")]
    lines = [line for line in lines if any(line.y)]
    x = [row["multiplier"] for row in rows]
    ticks = [tick for tick in TICKS if min(x) <= tick <= max(x)]
    axes = (Axis("limits times", log=True, ticks=ticks), Axis("$ a month (730 h)"))
    said = ", ".join(f"{row['multiplier']:g} times: {usd(_month(row['cheapest']))}" for row in rows)
    words = f"The cheapest design that holds {short(told['rate_req_per_s'])} requests/s, $ a month, by limits: {said}."
    return Chart("slo-cost", "Cost by tightness of the SLO", lines_figure(x, lines, axes, you=1.0), words)


def _table(told: Json) -> Table:
    rate = short(told["rate_req_per_s"])
    rows = tuple(_row(row) for row in told["multiples"])
    return Table(f"The cheapest design for {rate} requests/s, by tightness of the SLO", COLUMNS, rows)


def _row(row: Json) -> Row:
    first = row["cheapest"]
    you = row["multiplier"] == 1.0
    name = f"{row['multiplier']:g}" + (" (you)" if you else "")
    cells = [
        Cell(name),
        Cell(first["design"] if first else "none of those run", is_text=True),
        _usd(first),
        Cell(short(first["machines"]) if first else "–"),
        _usd(row["co_located"]),
        _usd(row["split"]),
    ]
    return Row(tuple(cells), "answer" if you else "")


def _usd(design: Json | None) -> Cell:
    return Cell("–") if design is None else Cell(usd(_month(design)), exact(design["usd_per_month"]))


def _month(design: Json | None) -> float | None:
    return None if design is None else float(design["usd_per_month"])
