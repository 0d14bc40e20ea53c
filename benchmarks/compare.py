"""Two outputs of ``make bench`` side by side: CPU time in units of each line's own calibration loop.

    python -m benchmarks.compare BEFORE.jsonl AFTER.jsonl [--worse-than 1.15]

Prints after / before of every line that both have; exit 1 where one is over ``--worse-than``. The calibration loop
takes out a faster machine or a busier one; what is left is a tenth of noise, more on a machine that is shared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

KEY = ("benchmark", "case", "of", "cache", "by", "store", "jobs", "workers", "processes", "requests")
"""What says which line it is."""
NOT_KEYED = ("study",)
"""Their requests are what was bought, not what was asked for."""
TIMES = ("cpu_s", "engine_cpu_s", "wall_s")

Key = tuple[str, ...]


def main() -> int:
    """Print the table; 1 where a line got worse than allowed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--worse-than", type=float, default=float("inf"), metavar="RATIO")
    options = parser.parse_args()
    found = ratios(*(read(path) for path in (options.before, options.after)))
    for key, name, ratio in found:
        mark = "  WORSE" if ratio > options.worse_than else ""
        print(f"{ratio:7.3f}  {name:13} {' '.join(key)}{mark}")
    return int(any(ratio > options.worse_than for _, _, ratio in found))


def read(path: Path) -> dict[Key, dict[str, Any]]:
    """The lines of one output by what they measure; of one measured twice the last."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {key_of(line): line for line in lines}


def key_of(line: dict[str, Any]) -> Key:
    """What the line measures, whatever it found."""
    names = [name for name in KEY if name in line and not (name == "requests" and line["benchmark"] in NOT_KEYED)]
    return tuple(str(line[name]) for name in names)


def ratios(before: dict[Key, dict[str, Any]], after: dict[Key, dict[str, Any]]) -> list[tuple[Key, str, float]]:
    """After over before of each time that both measured."""
    return [
        (key, name, _steady(after[key], name) / _steady(line, name))
        for key, line in before.items()
        if key in after
        for name in _times_of(line, after[key])
    ]


def _times_of(*lines: dict[str, Any]) -> Iterable[str]:
    return [name for name in TIMES if all(line.get(name, 0) > 0 for line in lines)]


def _steady(line: dict[str, Any], name: str) -> float:
    return float(line[name]) / float(line["calibration_s"])


if __name__ == "__main__":
    sys.exit(main())
