"""Writing a trace in Phaseplan's own format, so that reading it gives the same trace."""

import csv
from collections.abc import Iterator
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TextIO

from simcore.traces.format import CACHED, CLASS, LIMIT, SESSION
from simcore.traces.trace import PS_PER_S, Trace

PS_DIGITS = 12


class _LastLine:
    """A stream that holds what was written to it last: csv.writer writes a row at a time."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def write_trace(trace: Trace, target: str | PathLike[str] | TextIO) -> None:
    """Writes CSV to a path or an open text stream, exact to the picosecond.

    Optional columns are written only where the trace has something in them.
    """
    if isinstance(target, (str, PathLike)):
        with Path(target).open("w", encoding="utf-8", newline="") as stream:
            write_trace(trace, stream)
        return
    target.writelines(csv_rows(trace))


def csv_rows(trace: Trace) -> Iterator[str]:
    """The lines of a trace's CSV, the header first, each with its line end."""
    columns = _columns(trace)
    line = _LastLine()
    writer = csv.writer(line, lineterminator="\n")
    for row in chain([tuple(columns)], zip(*columns.values(), strict=True)):
        writer.writerow(row)
        yield line.text


def seconds_text(picoseconds: int) -> str:
    """Picoseconds as seconds with as many decimals as are needed, without rounding."""
    seconds, fraction = divmod(picoseconds, PS_PER_S)
    return f"{seconds}.{fraction:0{PS_DIGITS}d}".rstrip("0").rstrip(".")


def _columns(trace: Trace) -> dict[str, Iterator[object]]:
    columns: dict[str, Iterator[object]] = {
        "arrival_s": (seconds_text(arrival) for arrival in trace.arrival_ps.tolist()),
        "prompt_tokens": iter(trace.prompt_tokens.tolist()),
        "output_tokens": iter(trace.output_tokens.tolist()),
    }
    if trace.cached_prompt_tokens.any():
        columns[CACHED] = iter(trace.cached_prompt_tokens.tolist())
    if trace.max_output_tokens.any():
        columns[LIMIT] = iter(trace.max_output_tokens.tolist())
    if trace.classes is not None:
        columns[CLASS] = iter(trace.classes)
    if trace.sessions is not None:
        columns[SESSION] = iter(trace.sessions)
    return columns
