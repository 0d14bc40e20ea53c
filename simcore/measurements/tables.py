"""CSV as people hold it: commas, semicolons or tabs, any line end, quotes around numbers with thousands separators."""

from __future__ import annotations

import csv
import sys

from simcore.measurements.points import Flag, Flags

DELIMITERS = ",;\t"
LONGEST_CELL = 16 << 20
"""guidellm puts whole JSON objects into cells."""
Rows = list[tuple[int, list[str]]]


def rows(file: str, text: str, flags: Flags) -> tuple[Rows, str]:
    """The rows that hold anything, each with the line it ends on, and the delimiter.

    Where quoting breaks, what came before is kept and the rest flagged.
    """
    delimiter = _delimiter(text)
    found: Rows = []
    before = csv.field_size_limit(min(LONGEST_CELL, sys.maxsize))
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                found.append((reader.line_num, cells))
    except csv.Error as error:
        flags.add(
            Flag(file, f"line {reader.line_num}", "", "", f"broken quoting from here on: {error}", "row left out")
        )
    finally:
        csv.field_size_limit(before)
    return found, delimiter


def _delimiter(text: str) -> str:
    """What stands most often in the first line, outside quotes."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    outside = "".join(line.split('"')[::2])
    return max(DELIMITERS, key=outside.count)
