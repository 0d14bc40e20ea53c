"""The rows of a measured file: each with its line, so that it can be named."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simcore.spec import SpecError
from simcore.validation.comparison import Findings, NotCompared

MOST = 1_000_000


@dataclass(frozen=True)
class Row:
    """One line of a CSV."""

    name: str
    """File and line."""
    cells: dict[str, str]

    def text(self, column: str) -> str:
        """A cell without blanks around it; empty where the line is short."""
        return (self.cells.get(column) or "").strip()

    def number(self, column: str) -> float | None:
        """A finite number, or None where the cell is not one."""
        try:
            value = float(self.text(column))
        except ValueError:
            return None
        return value if math.isfinite(value) else None

    def count(self, column: str) -> int | None:
        """A whole number from 1 to a million, or None: no batch, prompt or cluster is larger."""
        value = self.number(column)
        return int(value) if value is not None and 1 <= value <= MOST and value == int(value) else None


def read_rows(path: Path, name: str, columns: Sequence[str]) -> list[Row]:
    """The rows of a CSV; SpecError where it is no CSV in UTF-8 or lacks columns."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [column for column in columns if column not in (reader.fieldnames or ())]
            if missing:
                raise SpecError(f"{path}: line 1: found no column {', '.join(missing)}, expected {', '.join(columns)}")
            return [Row(f"{name}:{reader.line_num}", row) for row in reader]
    except (UnicodeDecodeError, csv.Error):
        raise SpecError(f"{path}: found something else, expected a CSV in UTF-8") from None


def row_names(path: Path, name: str) -> list[str]:
    """What ``read_rows`` calls the rows of a CSV; none where it is not one."""
    try:
        return [row.name for row in read_rows(path, name, ())]
    except SpecError:
        return []


def missing_file(set_name: str, name: str) -> Findings:
    """A file that the folder lacks, said."""
    return Findings(left_out=[NotCompared(set_name, name, "the file is not in the folder")])
