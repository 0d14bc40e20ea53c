"""``profile_export_genai_perf.csv`` and ``profile_export_aiperf.csv``: tables one below the other.

``Metric,avg,min,max,...`` (the two tools order percentiles differently: columns are read by name), then
``Metric,Value``, then telemetry, which is not read. Names carry their unit, numbers may have thousands separators. The
load is in neither: it follows from Little's law, or is given with ``--concurrency`` or ``--rate``.
"""

from __future__ import annotations

import re

from simcore.measurements import metric_table
from simcore.measurements.points import Flags, Json, ServingPoint, Setting
from simcore.measurements.record import Record

NAME = re.compile(r"(?P<name>[^(]+?)\s*(\((?P<unit>[^)]*)\))?\s*")


def is_ours(header: list[str]) -> bool:
    """Whether a first row begins such a file."""
    return bool(header) and header[0].strip().lower() == "metric" and len(header) > 1


def read(file: str, rows: list[tuple[int, list[str]]], decimal_comma: bool, flags: Flags) -> ServingPoint:
    """The run as a point."""
    metrics: Json = {}
    header: list[str] = []
    for _, cells in rows:
        if cells and cells[0].strip().lower() == "metric":
            header = [cell.strip().lower() for cell in cells]
        elif header and cells and "metric" not in [c.strip().lower() for c in cells] and header[0] == "metric":
            _add(metrics, header, cells)
        else:
            header = []  # telemetry, or a line between tables
    record = Record(file, "table", metrics, flags, decimal_comma)
    ours = "benchmark_duration" in metrics or "std" in [cell.strip().lower() for cell in rows[0][1]]
    return metric_table.point(record, (None, None, None), Setting(), "AIPerf (CSV)" if ours else "genai-perf (CSV)")


def _add(metrics: Json, header: list[str], cells: list[str]) -> None:
    match = NAME.fullmatch(cells[0].strip())
    if match is None:
        return
    name = match["name"].strip().lower().replace(" ", "_")
    named = dict(zip(header[1:], cells[1:], strict=False))
    statistics = {"avg" if column == "value" else column: text for column, text in named.items()}
    metrics.setdefault(name, {"unit": match["unit"] or "", **statistics})
