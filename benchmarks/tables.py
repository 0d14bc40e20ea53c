"""The tables that ``make bench``'s lines become: whose lines, and what stands in each column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Line = dict[str, Any]
Column = str | Callable[[Line], str]
"""A format of the line's figures, of which nothing comes where it lacks one; or what makes the cell."""

SAME = ("case", "of", "cache", "by", "store", "jobs", "workers", "processes")
"""Lines that agree in these are about one thing."""


def megabytes(line: Line) -> str:
    return f"{line['peak_bytes'] / 1e6:.0f}"


def processes(line: Line) -> str:
    return f"{line['by']}, {line['jobs']} process{'es' * (line['jobs'] > 1)}"


def known(line: Line) -> str:
    return "all" if line["store"] == "filled" else "none"


def program(line: Line) -> str:
    return line.get("case") or f"engine ready, cache {line['cache']}"


@dataclass(frozen=True)
class Table:
    title: str
    benchmarks: tuple[str, ...]
    columns: Mapping[str, Column]

    def text(self, lines: Sequence[Line]) -> str:
        """In Markdown, heading and all; nothing where there are no lines."""
        mine = [line for benchmark in self.benchmarks for line in of(lines, benchmark)]
        if not mine:
            return ""
        heads = [list(self.columns), ["---"] * len(self.columns)]
        rows = [[cell(line, column) for column in self.columns.values()] for line in mine]
        return f"### {self.title}\n" + "".join(f"| {' | '.join(row)} |\n" for row in (*heads, *rows))


def cell(line: Line, column: Column) -> str:
    if callable(column):
        return column(line)
    try:
        return column.format_map({name: figure for name, figure in line.items() if figure is not None})
    except KeyError:
        return ""


def of(lines: Sequence[Line], benchmark: str) -> list[Line]:
    """A benchmark's lines that have figures, the last of each thing, in the order in which things first came."""
    mine = [line for line in lines if line["benchmark"] == benchmark and "skipped" not in line]
    return list({tuple(line.get(name) for name in SAME): line for line in mine}.values())


TABLES = (
    Table(
        "Engine",
        ("engine",),
        {
            "case": "{case}",
            "requests": "{requests:,}",
            "events a request": "{events_per_request:.2f}",
            "ns an event": "{ns_per_event:.0f}",
            "engine alone": "{engine_ns_per_event:.0f}",
            "requests a CPU-second": "{requests_per_cpu_s:,.0f}",
            "ns an event over plain": "{ns_per_event_over_plain:.2f}",
        },
    ),
    Table(
        "Against the oracle",
        ("oracle",),
        {
            "case": "{case}",
            "oracle, requests a CPU-second": "{oracle_requests_per_cpu_s:,.0f}",
            "speed-up": "{speed_up:,.0f}",
        },
    ),
    Table(
        "Memory",
        ("memory",),
        {
            "case": "{case}",
            "of": "{of}",
            "requests": "{requests:,}",
            "peak, MB": megabytes,
            "bytes a request beyond the trace": "{bytes_per_request_beyond_trace:.0f}",
        },
    ),
    Table(
        "A thousand machines",
        ("large",),
        {
            "case": "{case}",
            "requests": "{requests:,}",
            "CPU-s": "{cpu_s:.1f}",
            "requests a CPU-second": "{requests_per_cpu_s:,.0f}",
            "peak, MB": megabytes,
        },
    ),
    Table(
        "The example study",
        ("study",),
        {
            "study": "{case}",
            "by": processes,
            "evaluations known": known,
            "CPU-s": "{cpu_s:.2f}",
            "wall, s": "{wall_s:.2f}",
            "designs": "{designs}",
            "evaluated": "{evaluated}",
            "simulations": "{simulations:,}",
            "events a capacity": "{events_per_capacity:,.0f}",
        },
    ),
    Table(
        "Only prices change",
        ("price change",),
        {
            "designs": "{designs}",
            "request and page, CPU-s": "{cpu_s:.3f}",
            "wall, s": "{wall_s:.3f}",
            "page, kB": "{page_kb:.0f}",
            "all rows, CPU-s and kB": "{whole_table_cpu_s:.3f}, {whole_table_kb:.0f}",
            "first page of a new process, CPU-s": "{first_page_cpu_s:.3f}",
            "once warmed up": "{warmed_first_page_cpu_s:.3f}",
        },
    ),
    Table(
        "Workers on Redis and PostgreSQL",
        ("scaling",),
        {
            "workers × processes": "{workers} × {processes}",
            "wall, s": "{wall_s:.1f}",
            "CPU-s": "{cpu_s:.1f}",
            "cores got": "{cores_got:.2f}",
            "efficiency": "{efficiency:.2f}",
        },
    ),
    Table(
        "Reading traces",
        ("traces",),
        {
            "file": "{case}",
            "requests": "{requests:,}",
            "file, MB": lambda line: f"{line['file_bytes'] / 1e6:.1f}",
            "CPU-s": "{cpu_s:.2f}",
            "memory beyond what Python takes, MB": lambda line: (
                f"{(line['peak_bytes'] - line['peak_bytes_before']) / 1e6:.0f}"
            ),
        },
    ),
    Table("Start-up", ("start", "engine ready"), {"program": program, "CPU-s": "{cpu_s:.2f}"}),
)
