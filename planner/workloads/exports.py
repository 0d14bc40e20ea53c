"""A workload's requests as a file that any Phaseplan reads back the same."""

from collections.abc import Iterator

from simcore.traces import Trace
from simcore.traces.write import csv_rows


def csv_lines(trace: Trace, batch: int = 1000) -> Iterator[str]:
    """The lines of the trace in Phaseplan's own format, some at a time."""
    lines: list[str] = []
    for line in csv_rows(trace):
        lines.append(line)
        if len(lines) == batch:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)
