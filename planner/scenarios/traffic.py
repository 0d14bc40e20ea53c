"""How the requests come to the rate that is asked for, and how bursty that makes them: a line of the preview."""

import math
from collections.abc import Iterable

from planner.scenarios.bare import Bare
from simcore.traces.rescaled import expected_dispersion
from simcore.traces.statistics import index_of_dispersion
from simcore.words import number

WINDOWS_S = (1, 60)


def traffic(bare: Bare) -> Iterable[str]:
    """The way, and the index of dispersion by window before and after; nothing for requests without a rate."""
    trace, rate, how = bare.requests.trace, bare.spec.rate_req_per_s, bare.spec.arrivals
    own = trace.rate_per_s
    if not math.isfinite(own) or len(trace) < 2:
        return
    before = [index_of_dispersion(trace, window) for window in WINDOWS_S]
    after = [expected_dispersion(trace, rate, how, window) for window in WINDOWS_S]
    yield (
        f"Traffic: {_way(how, own, rate)}. The variance of requests is {_of_windows(after)} times their mean; as the"
        f" workload is, at {number(own)} requests/s, {_of_windows(before)}; Poisson's is 1."
    )


def _way(how: str, own: float, rate: float) -> str:
    if how == "poisson":
        return "the workload's lengths at Poisson times"
    copies = max(1, round(rate / own))
    if how == "superpose" and copies > 1:
        return f"{copies:,} shifted copies of the workload"
    said = "compressed" if rate > own else "stretched"
    return f"the workload's times {said} {number(max(rate / own, own / rate))} times"


def _of_windows(found: Iterable[float | None]) -> str:
    """Of 1 s and 60 s; a run too short for two windows is said to be."""
    said = [
        f"{'too short to tell' if value is None else number(value)} in {window} s"
        for window, value in zip(WINDOWS_S, found, strict=True)
    ]
    return " and ".join(said)
