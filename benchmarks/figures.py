"""Writes what ``make bench`` printed into docs/performance.md, between its two markers.

make bench > bench.jsonl; make bench-large >> bench.jsonl
.venv/bin/python -m benchmarks.figures bench.jsonl
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
BEGIN, END = "<!-- figures: benchmarks/figures.py -->\n", "<!-- end of figures -->\n"

Line = dict[str, Any]


def main() -> None:
    """Replace the page's figures by those of the files named, later lines of one thing in place of earlier ones."""
    lines = [json.loads(text) for name in sys.argv[1:] for text in Path(name).read_text().splitlines()]
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{figures(lines)}{END}{after}")


def figures(lines: Sequence[Line]) -> str:
    """The whole section."""
    parts = [
        machine(lines),
        engine(lines),
        oracle(lines),
        memory(lines),
        large(lines),
        study(lines),
        prices(lines),
        scaling(lines),
        start(lines),
    ]
    return "\n".join(part for part in parts if part)


def machine(lines: Sequence[Line]) -> str:
    """What it was measured on."""
    slow = [line["calibration_s"] * 1000 for line in of(lines, "machine") + of(lines, "engine")]
    calibration = f"the calibration loop took {min(slow):.0f} to {max(slow):.0f} ms"
    return "".join(
        f"{line['cpu']}, {line['cores']} cores; Python {line['python']}, numba {line['numba']}, NumPy {line['numpy']};"
        f" engine {line['engine_version']}; {calibration}.\n"
        for line in of(lines, "machine")[-1:]
    )


def engine(lines: Sequence[Line]) -> str:
    """Speed of every case."""
    columns: dict[str, Callable[[Line], str]] = {
        "case": lambda line: line["case"],
        "requests": lambda line: f"{line['requests']:,}",
        "events a request": lambda line: f"{line['events_per_request']:.2f}",
        "ns an event": lambda line: f"{line['ns_per_event']:.0f}",
        "engine alone": lambda line: f"{line['engine_ns_per_event']:.0f}",
        "requests a CPU-second": lambda line: f"{line['requests_per_cpu_s']:,.0f}",
        "ns an event over plain": lambda line: ratio(line.get("ns_per_event_over_plain")),
    }
    return table("Engine", columns, of(lines, "engine"))


def oracle(lines: Sequence[Line]) -> str:
    """Speed-up over it."""
    columns: dict[str, Callable[[Line], str]] = {
        "case": lambda line: line["case"],
        "oracle, requests a CPU-second": lambda line: f"{line['oracle_requests_per_cpu_s']:,.0f}",
        "speed-up": lambda line: f"{line['speed_up']:,.0f}",
    }
    return table("Against the oracle", columns, of(lines, "oracle"))


def memory(lines: Sequence[Line]) -> str:
    """Bytes a request."""
    columns: dict[str, Callable[[Line], str]] = {
        "case": lambda line: line["case"],
        "of": lambda line: line["of"],
        "requests": lambda line: f"{line['requests']:,}",
        "peak, MB": lambda line: f"{line['peak_bytes'] / 1e6:.0f}",
        "bytes a request beyond the trace": lambda line: f"{line['bytes_per_request_beyond_trace']:.0f}",
    }
    return table("Memory", columns, of(lines, "memory"))


def large(lines: Sequence[Line]) -> str:
    """A thousand machines."""
    columns: dict[str, Callable[[Line], str]] = {
        "case": lambda line: line["case"],
        "requests": lambda line: f"{line['requests']:,}",
        "CPU-s": lambda line: f"{line['cpu_s']:.1f}",
        "requests a CPU-second": lambda line: f"{line['requests_per_cpu_s']:,.0f}",
        "peak, MB": lambda line: f"{line['peak_bytes'] / 1e6:.0f}",
    }
    return table("A thousand machines", columns, of(lines, "large"))


def study(lines: Sequence[Line]) -> str:
    """The example."""
    columns: dict[str, Callable[[Line], str]] = {
        "study": lambda line: line["case"],
        "by": lambda line: f"{line['by']}, {line['jobs']} process{'es' * (line['jobs'] > 1)}",
        "evaluations known": lambda line: {"filled": "all"}.get(line["store"], "none"),
        "CPU-s": lambda line: f"{line['cpu_s']:.2f}",
        "wall, s": lambda line: f"{line['wall_s']:.2f}",
        "designs": lambda line: f"{line['designs']}" if "designs" in line else "",
        "evaluated": lambda line: f"{line['evaluated']}" if "evaluated" in line else "",
        "simulations": lambda line: f"{line['simulations']:,}" if "simulations" in line else "",
        "events a capacity": lambda line: f"{line['events_per_capacity']:,.0f}" if "events" in line else "",
    }
    return table("The example study", columns, of(lines, "study"))


def prices(lines: Sequence[Line]) -> str:
    """A question asked again with other prices."""
    columns: dict[str, Callable[[Line], str]] = {
        "designs": lambda line: f"{line['designs']}",
        "request and page, CPU-s": lambda line: f"{line['cpu_s']:.3f}",
        "wall, s": lambda line: f"{line['wall_s']:.3f}",
        "page, kB": lambda line: f"{line['page_kb']:.0f}",
        "all rows, CPU-s and kB": lambda line: f"{line['whole_table_cpu_s']:.3f}, {line['whole_table_kb']:.0f}",
        "first page of a new process, CPU-s": lambda line: f"{line['first_page_cpu_s']:.3f}",
        "once warmed up": lambda line: f"{line['warmed_first_page_cpu_s']:.3f}",
    }
    return table("Only prices change", columns, of(lines, "price change"))


def scaling(lines: Sequence[Line]) -> str:
    """One study by several workers."""
    columns: dict[str, Callable[[Line], str]] = {
        "workers × processes": lambda line: f"{line['workers']} × {line['processes']}",
        "wall, s": lambda line: f"{line['wall_s']:.1f}",
        "CPU-s": lambda line: f"{line['cpu_s']:.1f}",
        "cores got": lambda line: f"{line['cores_got']:.2f}",
        "efficiency": lambda line: f"{line['efficiency']:.2f}",
    }
    return table(
        "Workers on Redis and PostgreSQL", columns, [line for line in of(lines, "scaling") if "wall_s" in line]
    )


def start(lines: Sequence[Line]) -> str:
    """Starts, and the engine's compiling."""
    columns: dict[str, Callable[[Line], str]] = {
        "program": lambda line: line.get("case") or f"engine ready, cache {line['cache']}",
        "CPU-s": lambda line: f"{line['cpu_s']:.2f}",
    }
    return table("Start-up", columns, of(lines, "start") + of(lines, "engine ready"))


def of(lines: Sequence[Line], benchmark: str) -> list[Line]:
    """A benchmark's lines, the last of each thing, in the order in which things first came."""
    names = ("case", "of", "cache", "by", "store", "jobs", "workers", "processes")
    return list(
        {tuple(line.get(name) for name in names): line for line in lines if line["benchmark"] == benchmark}.values()
    )


def table(title: str, columns: dict[str, Callable[[Line], str]], lines: Sequence[Line]) -> str:
    """Nothing where there are no lines."""
    if not lines:
        return ""
    rows = [" | ".join(make(line) for make in columns.values()) for line in lines]
    heads = [" | ".join(columns), " | ".join("---" for _ in columns)]
    return f"### {title}\n" + "".join(f"| {row} |\n" for row in (*heads, *rows))


def ratio(value: float | None) -> str:
    """Two digits, or nothing."""
    return "" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main()
