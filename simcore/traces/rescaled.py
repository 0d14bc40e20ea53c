"""A trace at another rate by each of the three ways, beside the trace as it is: how bursty each comes out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

from simcore.traces.errors import TraceError
from simcore.traces.resample import How, at_rate
from simcore.traces.statistics import burstiness, index_of_dispersion
from simcore.traces.trace import Trace

WINDOWS_S = (1, 2, 5, 10, 20, 60, 120, 300)
MOST_REQUESTS = 1_000_000
"""Of the superposed copies: from longer traces the first part is taken, and that is said."""


@dataclass(frozen=True)
class Burstiness:
    """Of one sequence of arrivals. dispersion: by window in seconds, None where there are fewer than two."""

    requests: int
    rate_req_per_s: float
    dispersion: dict[int, float | None]
    gap_cv: float | None
    problem: str = ""
    """Why there are no such arrivals; then all else says nothing."""

    @classmethod
    def of(cls, trace: Trace) -> Burstiness:
        """Of a trace."""
        found = {window: index_of_dispersion(trace, window) for window in WINDOWS_S}
        return cls(len(trace), trace.rate_per_s, found, burstiness(trace)["gap_cv"])


def rescaled(trace: Trace, rate_req_per_s: float, seed: int = 0) -> dict[How, Burstiness]:
    """What each way makes of the trace."""
    found: dict[How, Burstiness] = {}
    for how in get_args(How):
        try:
            found[how] = Burstiness.of(at_rate(_enough(trace, rate_req_per_s, how), rate_req_per_s, how, seed))
        except TraceError as error:
            found[how] = Burstiness(0, rate_req_per_s, {}, None, str(error))
    return found


def expected_dispersion(trace: Trace, rate_req_per_s: float, how: How, window_s: float) -> float | None:
    """The index of a window that a way leads to, from the trace's own alone: compressed k times, it is that of a window
    k times as long; of independent copies, that of one of them."""
    if how == "poisson":
        return 1.0
    own = trace.rate_per_s
    if not math.isfinite(own):
        return None
    copies = max(1, round(rate_req_per_s / own)) if how == "superpose" else 1
    return index_of_dispersion(trace, window_s * rate_req_per_s / (own * copies))


def _enough(trace: Trace, rate_req_per_s: float, how: How) -> Trace:
    own = trace.rate_per_s
    copies = max(1, round(rate_req_per_s / own)) if how == "superpose" and math.isfinite(own) else 1
    return trace.first(max(MOST_REQUESTS // copies, 2))
