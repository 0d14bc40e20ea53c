"""The neighbourhood as a map: capacity in colour, what meets the question outlined, equal cost as lines."""

from __future__ import annotations

from typing import Any

from planner.analyses.shown.heat_map import HeatMap, Level, Mark, Place, shade
from planner.analyses.shown.parts import Cell, Row, Shown, Table
from planner.numerals import exact, short, usd

Json = dict[str, Any]
MOST_LEVELS = 5
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
HATCHES = {"cannot": "crossed", "screened": "hatched", "untried": "hatched", "failed": "hatched"}
TEXTS = {"untried": "?", "failed": "!"}
KEY = (
    ("shades", "requests/s held: the more, the darker"),
    ("outline", "meets the question"),
    ("level", "the same cost a month"),
    ("crossed", "not simulated: proven to miss the rate"),
    ("hatched", "not simulated: comes after another by proof, or (?) may hold the rate"),
)
STATES = {
    "holds": "holds",
    "over": "beyond a limit",
    "misses": "misses",
    "cannot": "misses, by proof",
    "screened": "comes after, by proof",
    "untried": "may hold",
    "failed": "failed",
}


def shown(told: Json) -> Shown:
    return Shown.of(told, maps=[_map(told)], tables=[_table(told)])


def _map(told: Json) -> HeatMap:
    cells = told["cells"]
    known = [cell["capacity_req_per_s"] for row in cells for cell in row if cell["capacity_req_per_s"] is not None]
    ends = (min(known, default=0.0), max(known, default=1.0))
    return HeatMap(
        id="neighbourhood",
        title=f"Requests/s held around {told['design']}",
        summary=_summary(told),
        names=(told["names"][0], told["names"][1]),
        across=tuple(f"{count:,}" for count in told["across"]),
        up=tuple(told["up"]),
        places=[[_place(cell, ends) for cell in row] for row in cells],
        levels=_levels(cells),
        marks=tuple(_marks(told)),
        key=tuple(_key(told)),
    )


def _summary(told: Json) -> str:
    known = sum(cell["capacity_req_per_s"] is not None for row in told["cells"] for cell in row)
    feasible = sum(cell["feasible"] is True for row in told["cells"] for cell in row)
    return (
        f"{len(told['across'])} by {len(told['up'])} designs; the capacity of {known} is known, {feasible} are known to"
        " meet the question. A design that the study has tried opens by its cell."
    )


def _place(cell: Json, ends: tuple[float, float]) -> Place:
    held, state = cell["capacity_req_per_s"], cell["state"]
    words = f"{' + '.join(map(str, cell['counts']))}, {usd(cell['usd_per_month'])} a month: {cell['words']}"
    css = HATCHES.get(state, "plain") if held is None else shade(held, *ends)
    text = TEXTS.get(state, "") if held is None else short(held)
    return Place(held, text, words, css, cell["design_id"], cell["feasible"] is True)


def _levels(cells: list[list[Json]]) -> tuple[Level, ...]:
    """Round sums between the cheapest and the dearest cell."""
    costs = [[cell["usd_per_month"] for cell in row] for row in cells]
    low, high = min(map(min, costs)), max(map(max, costs))
    if high <= low or len(costs) < 2:
        return ()
    return tuple(Level(costs, level, usd(level)) for level in _round_between(low, high))


def _round_between(low: float, high: float) -> list[float]:
    step = 1.0
    while (high - low) / step > MOST_LEVELS:
        step *= 10
    step = next((part * step / 10 for part in STEPS if (high - low) / (part * step / 10) <= MOST_LEVELS), step)
    first = int(low // step) + 1
    return [step * place for place in range(first, int(high // step) + 1)]


def _marks(told: Json) -> list[Mark]:
    up, across = told["place"]
    name = "the answer" if told["is_answer"] else "the closest miss"
    marks = [Mark(across, up, "answer", f"{name}: {told['design']}")]
    if told["least_power"] is not None:
        marks += [
            Mark(x, y, "power", "the least provisioned power")
            for y, row in enumerate(told["cells"])
            for x, cell in enumerate(row)
            if cell["counts"] == told["least_power"]
            and cell["line"] == told["least_power_line"]
            and [y, x] != told["place"]
        ]
    return marks


def _key(told: Json) -> list[tuple[str, str]]:
    own = ("answer", "the answer" if told["is_answer"] else "the closest miss")
    power = [("power", "the least provisioned power")] if len(_marks(told)) > 1 else []
    return [KEY[0], own, *power, *KEY[1:]]


def _table(told: Json) -> Table:
    split = len(told["cells"][0][0]["counts"]) == 2
    counts = ("Prefill + decode machines",) if split else ("Machines",)
    columns = (
        *counts,
        *(() if split else ("Run as",)),
        "$ a month",
        "kW provisioned",
        "Requests/s held",
        "Known",
        "Why",
    )
    rows = [_row(cell, told["up"], split) for row in told["cells"] for cell in row]
    return Table("The designs of the map", columns, tuple(rows))


def _row(cell: Json, up: list[str], split: bool) -> Row:
    named = Cell(" + ".join(map(str, cell["counts"])))
    line = [] if split else [Cell(up[cell["line"]])]
    watts, held = cell["provisioned_w"] / 1000, cell["capacity_req_per_s"]
    figures = [
        Cell(usd(cell["usd_per_month"]), exact(cell["usd_per_month"])),
        Cell(short(watts), exact(watts)),
        Cell("–") if held is None else Cell(short(held), exact(held)),
    ]
    return Row((named, *line, *figures, Cell(STATES[cell["state"]]), Cell(cell["words"])))
