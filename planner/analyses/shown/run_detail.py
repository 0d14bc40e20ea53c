"""A run in detail: distributions with the SLO marked, and its busiest minute with stalls shaded."""

from __future__ import annotations

from typing import Any

from planner.analyses.shown.cdf_charts import cdf_chart, percentiles_table
from planner.analyses.shown.parts import Cell, Row, Shown, Table
from planner.analyses.shown.timeline_chart import timeline_chart, timeline_table
from planner.numerals import exact, short
from simcore.words import limit_value

Json = dict[str, Any]


def shown(told: Json) -> Shown:
    charts = [*(cdf_chart(cdf) for cdf in told["cdfs"]), timeline_chart(told)]
    return Shown.of(told, charts, [percentiles_table(told), timeline_table(told), *_stall_tables(told)])


def _stall_tables(told: Json) -> list[Table]:
    stalls = told["stalls"]
    if not stalls["count"]:
        return []
    rows = tuple(
        Row(
            (
                Cell(short(stall["start_s"], 6), exact(stall["start_s"])),
                Cell(limit_value("tbt_s", stall["end_s"] - stall["start_s"]), exact(stall["end_s"] - stall["start_s"])),
                Cell(str(stall["replica"])),
                Cell(short(stall["waiting"])),
            )
        )
        for stall in stalls["longest"]
    )
    title = (
        f"The longest of {short(stalls['count'])} generation stalls"
        if stalls["count"] > len(rows)
        else "Generation stalls"
    )
    return [Table(title, ("Began, s into the run", "Lasted", "Replica", "Requests waiting"), rows)]
