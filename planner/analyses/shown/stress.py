"""Purchases under other futures: what each holds, what is lost, what is regretted."""

from __future__ import annotations

from typing import Any

from planner.analyses.shown.parts import Cell, Row, Shown, Table
from planner.numerals import exact, short, usd
from simcore.words import percent

Json = dict[str, Any]


def shown(told: Json) -> Shown:
    return Shown.of(told, tables=[_purchases(told), *(_futures(told, i) for i in range(len(told["purchases"])))])


def _purchases(told: Json) -> Table:
    rows = tuple(
        Row((Cell(one["purchase"], is_text=True), _usd(one["usd_per_month"]), *_worst(one)))
        for one in told["purchases"]
    )
    columns = ("Machines", "$ a month", "Worst regret, $ a month", "In which future")
    return Table("The purchases compared", columns, rows)


def _worst(purchase: Json) -> tuple[Cell, Cell]:
    worst = purchase["worst_regret_usd_per_month"]
    if worst is None:
        return Cell("holds nothing"), Cell(purchase["worst_future"], is_text=True)
    return _usd(worst), Cell(purchase["worst_future"] if worst else "–", is_text=True)


def _futures(told: Json, place: int) -> Table:
    name = told["purchases"][place]["purchase"]
    rows = tuple(_row(future["future"], future["of"][place]) for future in told["futures"])
    columns = ("Future", "Holds, req/s", "Capacity lost", "Regret, $ a month", "Run as")
    return Table(f"{name}, in each future", columns, rows)


def _row(future: str, of: Json) -> Row:
    held, lost, regret = of["capacity_req_per_s"], of["lost"], of["regret_usd_per_month"]
    return Row(
        (
            Cell(future, is_text=True),
            Cell(short(held), exact(held)) if held else Cell("none"),
            Cell("–" if lost is None else _share(lost)),
            Cell("–") if regret is None else _usd(regret),
            Cell(of["run_as"] or "–", is_text=True),
        ),
        "answer" if future == "today" else "",
    )


def _share(lost: float) -> str:
    """A gain has a plus."""
    return f"+{percent(lost)}" if lost < 0 else percent(lost)


def _usd(amount: float) -> Cell:
    return Cell(usd(amount), exact(amount))
