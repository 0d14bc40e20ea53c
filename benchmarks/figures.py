"""Writes what ``make bench`` printed into docs/performance.md, between its two markers.

make bench > bench.jsonl; make bench-large >> bench.jsonl
.venv/bin/python -m benchmarks.figures bench.jsonl
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.tables import TABLES, Line, of

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
BEGIN, END = "<!-- figures: benchmarks/figures.py -->\n", "<!-- end of figures -->\n"


def main() -> None:
    """Replace the page's figures by those of the files named, later lines of one thing in place of earlier ones."""
    lines = [json.loads(text) for name in sys.argv[1:] for text in Path(name).read_text().splitlines()]
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{figures(lines)}{END}{after}")


def figures(lines: Sequence[Line]) -> str:
    """The whole section."""
    parts = [machine(lines), *(table.text(lines) for table in TABLES)]
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


if __name__ == "__main__":
    main()
