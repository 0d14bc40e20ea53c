"""What the command `inspect` says of a trace, as it is and at another rate."""

from os import PathLike
from typing import Any

from simcore.traces.read import read_trace
from simcore.traces.resample import How, at_rate
from simcore.traces.statistics import arrivals, statistics


def inspect(
    path: str | PathLike[str], rate_req_per_s: float | None = None, how: How = "trace", seed: int = 0
) -> dict[str, Any]:
    """Reads a trace: its report (format, rows, repairs, refusals), statistics and content hash; with a rate, also the
    arrivals that result from bringing it there.

    Plain JSON values. Raises TraceError where the whole file is unusable, or has no rate to change.
    """
    trace, report = read_trace(path)
    brought = {} if rate_req_per_s is None else {"at_rate": arrivals(at_rate(trace, rate_req_per_s, how, seed), how)}
    return {
        "name": trace.name,
        **report.to_json(),
        "statistics": statistics(trace),
        **brought,
        "content_hash": trace.content_hash(),
    }
