"""Machines a rack by each figure of power."""

from __future__ import annotations

from typing import Any

from planner.analyses.shown.lines import Axis, Line, lines_figure
from planner.analyses.shown.parts import Cell, Chart, Row, Shown, Table
from planner.numerals import exact, short

Json = dict[str, Any]
NAMES = {"nameplate": "nameplate", "provisioned": "provisioned", "drawn": "drawn, P99 of 1 s"}
COLUMNS = ("Machine", "Counted by", "W a machine", "A rack holds", "The breaker alone", "Binds", "Racks")
CAP_COLUMNS = ("Machine", "Cap an accelerator, W", "Most that a machine draws, W", "A rack holds", "Binds")


def shown(told: Json) -> Shown:
    return Shown.of(told, [_chart(told, pool) for pool in told["pools"]], [_table(told), _caps(told)])


def _chart(told: Json, pool: Json) -> Chart:
    """What racks of each size draw, under what the feed carries."""
    drawn = pool["rack_draws"]
    sizes = [rack["machines"] for rack in drawn]
    kw = {figure: [size * pool[f"{figure}_w"] / 1000 for size in sizes] for figure in ("nameplate", "provisioned")}
    lines = [
        Line("nameplate", kw["nameplate"]),
        *([Line("provisioned", kw["provisioned"])] if kw["provisioned"] != kw["nameplate"] else []),
        Line("drawn, worst second", [rack["most_w"] / 1000 for rack in drawn]),
        Line("drawn, P99 of 1 s", [rack["p99_w"] / 1000 for rack in drawn]),
    ]
    levels = {"for hours": told["usable_w"] / 1000, "the breaker’s rating": told["rating_w"] / 1000}
    axes = (Axis("machines in a rack", ticks=sizes), Axis("kW"))
    said = "; ".join(f"{line.name}: {', '.join(short(y) for y in line.y)}" for line in lines)
    words = f"kW of racks of {sizes[0]} to {sizes[-1]}, the feed carries {short(told['usable_w'] / 1000)}. {said}."
    figure = lines_figure(sizes, lines, axes, levels=levels)
    return Chart(f"racks-{pool['role']}", f"A rack of {_name(pool)}", figure, words)


def _table(told: Json) -> Table:
    rows = [_row(pool, figure) for pool in told["pools"] for figure in NAMES]
    return Table(f"{told['design']}: machines and racks, by figure of power", COLUMNS, tuple(rows))


def _row(pool: Json, figure: str) -> Row:
    fit = pool["figures"][figure]
    watts = pool["p99_w" if figure == "drawn" else f"{figure}_w"]
    return Row((
        Cell(f"{_name(pool)}, {pool['machines']}"),
        Cell(NAMES[figure], is_text=True),
        Cell(short(watts), exact(watts)),
        Cell(str(fit["per_rack"])),
        Cell(str(fit["by_breaker"])),
        Cell({"space": "rack space", "breaker": "breaker"}[fit["binds"]], is_text=True),
        Cell("–" if fit["racks"] is None else str(fit["racks"])),
    ))  # fmt: skip


def _caps(told: Json) -> Table:
    """One table a machine, however many pools it is in."""
    by_machine = {pool["machine"]: pool["caps"] for pool in told["pools"]}
    rows = [_cap_row(machine, cap) for machine, caps in by_machine.items() for cap in caps]
    note = "By the most that host, fans and capped accelerators draw together, whatever the work."
    return Table("Machines a rack with accelerators capped", CAP_COLUMNS, tuple(rows), note)


def _cap_row(machine: str, cap: Json) -> Row:
    return Row((
        Cell(machine),
        Cell(short(cap["cap_w"]), exact(cap["cap_w"])),
        Cell(short(cap["machine_w"]), exact(cap["machine_w"])),
        Cell(str(cap["per_rack"])),
        Cell({"space": "rack space", "breaker": "breaker"}[cap["binds"]], is_text=True),
    ))  # fmt: skip


def _name(pool: Json) -> str:
    return f"{pool['machine']} {pool['role']}"
