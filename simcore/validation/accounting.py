"""That no measured row is lost: each of every file is compared or left out with a reason, and files that no reader
knows are said.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from simcore.validation.comparison import Findings, NotCompared, RowCount
from simcore.validation.files import row_names


def rows_counted(folder: Path, found: Findings) -> list[RowCount]:
    """Of each file of the folder, by the names that its rows have in what was found."""
    compared = {name for one in found.compared for name in (one.row, *one.repeats)}
    left_out = {one.row for one in found.left_out}
    return [_counted(file, row_names(folder / file, file), compared, left_out) for file in _files(folder)]


def _counted(file: str, names: Sequence[str], compared: set[str], left_out: set[str]) -> RowCount:
    whole = file in left_out
    taken = compared.intersection(names)
    others = set(names) if whole else left_out.intersection(names)
    return RowCount(file, len(names), len(taken), len(others - taken))


def unread(folder: Path, known: tuple[str, ...]) -> list[NotCompared]:
    """Files that no set of validation reads."""
    names = [file for file in _files(folder) if file.split("/")[0] not in known]
    return [NotCompared(Path(file).stem, file, "no set of validation reads this file") for file in names]


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.csv"))


def columns_left_out() -> list[dict[str, str]]:
    """Columns that no figure is predicted for, and why (data/columns.csv)."""
    text = files("simcore.validation").joinpath("data/columns.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
