"""Every comparison of a folder of measured data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from simcore.spec import SpecError
from simcore.validation import drawn, kernel_db, linear_layers, open_loops, serving_points, step_times
from simcore.validation.accounting import rows_counted, unread
from simcore.validation.comparison import Findings
from simcore.validation.files import missing_file


def recompute(folder: Path) -> Findings:
    """All sets of the folder; a file that is not there is said. SpecError where there is none at all."""
    if not folder.is_dir():
        raise SpecError(f"--data: found no folder {folder}, expected one with {', '.join(SETS)}")
    findings = Findings()
    for name, compare in SETS.items():
        path = folder / name
        findings.extend(compare(path) if path.exists() else missing_file(name.removesuffix(".csv"), name))
    if not findings.compared and all((folder / name).exists() is False for name in SETS):
        raise SpecError(f"--data: found none of {', '.join(SETS)} in {folder}, expected at least one")
    findings.left_out += unread(folder, tuple(SETS))
    findings.counts = rows_counted(folder, findings)
    return findings


def _serving(path: Path) -> Findings:
    rows = serving_points.rows_of(path)
    open_loop = [row for row in rows if open_loops.is_open_loop(row)]
    others = [row for row in rows if not open_loops.is_open_loop(row)]
    found = serving_points.compare(others)
    found.extend(open_loops.compare(open_loop))
    found.extend(drawn.compare_notes(rows))
    return found


SETS: dict[str, Callable[[Path], Findings]] = {
    step_times.FILE: step_times.compare,
    kernel_db.FOLDER: kernel_db.compare,
    serving_points.FILE: _serving,
    drawn.FILE: drawn.compare,
    linear_layers.FILE: linear_layers.compare,
    linear_layers.CURVES_FILE: linear_layers.compare_curves,
}
