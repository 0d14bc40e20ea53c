"""What is held after a loss."""

from __future__ import annotations

from typing import Any

from planner.analyses.shown.lines import Axis, Line, lines_figure
from planner.analyses.shown.parts import Cell, Chart, Row, Shown, Table
from planner.numerals import exact, short

Json = dict[str, Any]
COLUMNS = ("Lost", "Left", "Then holds, requests/s", "9 times in 10", "The rate", "As they fail", "As before after, s")


def shown(told: Json) -> Shown:
    return Shown.of(told, _charts(told), [_table(told)])


def _charts(told: Json) -> list[Chart]:
    """One a pool: the capacity by machines lost."""
    pools = dict.fromkeys(row["pool"] for row in told["losses"] if row["left"])
    return [_chart(told, pool) for pool in pools]


def _chart(told: Json, pool: str) -> Chart:
    rows = [row for row in told["losses"] if row["pool"] == pool and row["left"]]
    whole = told["capacity_req_per_s"]
    lost = [0, *(row["lost"] for row in rows)]
    held = [whole, *(row["capacity_req_per_s"] for row in rows)]
    low, high = ([whole, *(row[name] for row in rows)] for name in ("capacity_low", "capacity_high"))
    line = Line("capacity", held, low, high)
    levels = {"the rate": told["rate_req_per_s"]}
    axes = (Axis("machines lost", ticks=lost), Axis("requests/s held"))
    said = ", ".join(f"{n} lost: {short(y)}" for n, y in zip(lost, held, strict=True))
    title = f"{rows[0]['machine']}, {pool} pool"
    return Chart(
        f"failures-{pool}", title, lines_figure(lost, [line], axes, levels=levels), f"Requests/s held. {said}."
    )


def _table(told: Json) -> Table:
    rows = tuple(_row(row) for row in told["losses"])
    return Table(f"{told['design']} at {short(told['rate_req_per_s'])} requests/s, by what is lost", COLUMNS, rows)


def _row(row: Json) -> Row:
    rack = "a rack of " if row["rack"] else ""
    name = Cell(f"{rack}{row['lost']} {row['machine']} ({row['pool']})")
    if not row["left"]:
        return Row((name, Cell("0"), Cell("–"), Cell("–"), Cell("pool gone", is_text=True), Cell("–"), Cell("–")))
    held, failing = row["capacity_req_per_s"], row["failing"]
    recovered = failing["recovered_s"]
    return Row((
        name,
        Cell(str(row["left"])),
        Cell(short(held), exact(held)),
        Cell(f"{short(row['capacity_low'])} to {short(row['capacity_high'])}"),
        Cell("held" if row["holds"] else "not held", is_text=True),
        Cell(_verdict(failing, row["missed"]), is_text=True),
        Cell("not in the run" if recovered is None else short(recovered)),
    ))  # fmt: skip


def _verdict(failing: Json, missed: list[str]) -> str:
    if not failing["stable"]:
        return "the queue grows"
    return "SLO kept" if failing["met"] else f"misses {', '.join(missed)}"
