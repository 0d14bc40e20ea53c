"""What the command `inspect` says of a trace."""

from os import PathLike
from typing import Any

from simcore.traces.read import read_trace
from simcore.traces.statistics import statistics


def inspect(path: str | PathLike[str]) -> dict[str, Any]:
    """Reads a trace: its report (format, rows, repairs, refusals), statistics and content hash.

    Plain JSON values. Raises TraceError where the whole file is unusable.
    """
    trace, report = read_trace(path)
    return {
        "name": trace.name,
        **report.to_json(),
        "statistics": statistics(trace),
        "content_hash": trace.content_hash(),
    }
