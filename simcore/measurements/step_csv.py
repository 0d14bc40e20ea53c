"""The CSV of step times that ``latency.source: measured`` takes: a run a row, as a prefill and as a decode step.

A decode's context is the prompt and half of what was generated, since ``token_time`` is a mean over the run's steps.
"""

from __future__ import annotations

from simcore.latency.step_times import COLUMNS, StepRow, step_row
from simcore.measurements.points import Flag, Flags, Setting, StepPoint
from simcore.measurements.tables import Rows
from simcore.spec import SpecError

FORMAT = "step times (CSV)"
MS = 1e-3
OPTIONAL = ("e2e_time",)


def is_ours(header: list[str]) -> bool:
    """Whether a first row is (or is meant to be) such a file's header."""
    names = {cell.strip() for cell in header}
    return {"prompt_time", "token_time"} <= names or set(COLUMNS) <= names


def read(file: str, rows: Rows, flags: Flags) -> list[StepPoint]:
    """Two points a row, fewer where a time is missing. SpecError where a column is."""
    header = [cell.strip() for cell in rows[0][1]]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise SpecError(
            f"{file}: line 1: missing column {', '.join(missing)}, expected {', '.join(COLUMNS)} (times in ms)"
        )
    found: list[StepPoint] = []
    for line, cells in rows[1:]:
        where = f"line {line}"
        named = {name: cells[i] for i, name in enumerate(header) if i < len(cells)}
        if len(named) < len(header):
            flags.add(Flag(file, where, "", f"{len(cells)} cells", f"expected {len(header)}", "row left out"))
            continue
        try:
            row = step_row("", {name: named[name] for name in (*COLUMNS, *OPTIONAL) if name in named})
        except SpecError as error:
            column, _, reason = str(error).removeprefix(": ").partition(": ")
            flags.add(Flag(file, where, column, "", reason, "row left out"))
            continue
        if row.ran_out_of_kv:
            reason = "the run took far longer than its steps: it ran out of KV"
            flags.add(Flag(file, where, "e2e_time", named["e2e_time"], reason, "row left out"))
            continue
        found += _points(file, where, row)
    return found


def _points(file: str, where: str, row: StepRow) -> list[StepPoint]:
    model, accelerator, tensor_parallel = row.key
    setting = Setting(model=model, accelerator=accelerator, tensor_parallel=tensor_parallel)
    prompt, points = row.prompt_tokens / row.batch_size, []
    if row.prompt_ms is not None:
        points.append(StepPoint(file, where, "prefill", row.batch_size, prompt, float(row.prompt_ms) * MS, setting))
    if row.token_ms is not None:
        context = prompt + row.output_tokens / 2
        points.append(StepPoint(file, where, "decode", row.batch_size, context, float(row.token_ms) * MS, setting))
    return points
