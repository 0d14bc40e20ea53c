"""A week: the rate and what is on, hour by hour; a table of days."""

from __future__ import annotations

from typing import Any

from planner.analyses.shown.lines import Axis, Line, lines_figure
from planner.analyses.shown.parts import Cell, Chart, Row, Shown, Table
from planner.numerals import exact, short, usd
from simcore.words import percent

Json = dict[str, Any]
HOURS = 24


def shown(told: Json) -> Shown:
    return Shown.of(told, [_used(told), _on(told)], [_days(told), _sizes(told)])


def _used(told: Json) -> Chart:
    hours = told["hours"]
    line = Line("in use", [100 * hour["used"] for hour in hours], steps=True)
    axes = (Axis(f"hours from {told['first_hour']}", ticks=range(0, 169, 24)), Axis("% of its capacity in use"))
    figure = lines_figure([hour["hour"] for hour in hours], [line], axes, markers=False)
    words = f"Of the capacity of {told['design']}, by hour: {percent(told['week']['used'])} in the mean."
    return Chart("week-used", "In use", figure, words)


def _on(told: Json) -> Chart:
    hours, week = told["hours"], told["week"]
    lines = [
        Line("machines on", [hour["machines_on"] for hour in hours], steps=True),
        Line("all machines", [told["sizes"][-1]["machines"]] * len(hours)),
    ]
    axes = (Axis(f"hours from {told['first_hour']}", ticks=range(0, 169, 24)), Axis("machines"))
    figure = lines_figure([hour["hour"] for hour in hours], lines, axes, markers=False)
    words = f"Machines on as the hours need: {week['least_on']:,} to {week['most_on']:,}."
    return Chart("week-on", "Machines on", figure, words)


def _days(told: Json) -> Table:
    days = [told["hours"][at : at + HOURS] for at in range(0, len(told["hours"]), HOURS)]
    columns = ("Day", "Busiest, req/s", "Quietest, req/s", "In use", "Idle, $", "Machine hours on")
    return Table("By day", columns, tuple(_day(hours) for hours in days))


def _day(hours: list[Json]) -> Row:
    rates, idle = [hour["rate_req_per_s"] for hour in hours], sum(hour["idle_usd"] for hour in hours)
    cells = (
        Cell(hours[0]["name"].split()[0], is_text=True),
        Cell(short(max(rates)), exact(max(rates))),
        Cell(short(min(rates)), exact(min(rates))),
        Cell(percent(sum(hour["used"] for hour in hours) / len(hours))),
        Cell(usd(idle), exact(idle)),
        Cell(f"{sum(hour['machines_on'] for hour in hours):,}"),
    )
    return Row(cells)


def _sizes(told: Json) -> Table:
    rows = tuple(
        Row((Cell(f"{size['machines']:,}"), Cell(short(size["capacity_req_per_s"]), exact(size["capacity_req_per_s"])),
             Cell(usd(float(size["usd_per_hour"])), size["usd_per_hour"])))
        for size in told["sizes"]
    )  # fmt: skip
    return Table("Its sizes", ("Machines", "Holds, req/s", "$ an hour"), rows)
