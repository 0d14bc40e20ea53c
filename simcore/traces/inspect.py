"""What the command `inspect` says of a trace, as it is and at another rate."""

from os import PathLike
from typing import Any

from simcore.traces.prefix_cache import shares, with_prefix_cache
from simcore.traces.read import read_trace
from simcore.traces.resample import How, at_rate
from simcore.traces.statistics import arrivals, statistics
from simcore.traces.write import write_trace

NO_CACHE, WITHOUT_END = "none", "unlimited"


def inspect(
    path: str | PathLike[str],
    rate_req_per_s: float | None = None,
    how: How = "trace",
    seed: int = 0,
    prefix_cache: int | str = NO_CACHE,
    out: str | PathLike[str] | None = None,
) -> dict[str, Any]:
    """Reads a trace: its report (format, rows, repairs, refusals), statistics and content hash; with a rate, also the
    arrivals that result from bringing it there; with a prefix cache (tokens, or "unlimited") the prompt tokens that it
    holds. out: where the trace is written, in Phaseplan's own format.

    Plain JSON values. Raises TraceError where the whole file is unusable, or has no rate to change.
    """
    trace, report = read_trace(path, with_blocks=True)
    known = {} if report.blocks is None else {"prefix_cache_shares": shares(trace.prompt_tokens, report.blocks)}
    if prefix_cache != NO_CACHE:
        size = None if prefix_cache == WITHOUT_END else int(prefix_cache)
        trace = with_prefix_cache(trace, report.blocks, size, report)
    if out is not None:
        write_trace(trace, out)
    brought = {} if rate_req_per_s is None else {"at_rate": arrivals(at_rate(trace, rate_req_per_s, how, seed), how)}
    return {
        "name": trace.name,
        **report.to_json(),
        **known,
        "statistics": statistics(trace),
        **brought,
        "content_hash": trace.content_hash(),
    }
