"""The requests that a capacity search offers a design: how many of a trace, and at which times."""

from __future__ import annotations

import math

import numpy as np

from simcore.spec import Case
from simcore.traces import Trace
from simcore.traces.resample import at_rate, block_bootstrap

LEAST_REQUESTS = 10_000
LEAST_SECONDS = 120
"""A run has at least this many requests, and this time of arrivals, where the workload has them."""
STRETCHES = 50
MOST_SECONDS = 1_000_000
"""A run at a very low rate has fewer requests instead of lasting longer than this."""
FEWEST_REQUESTS = 50


def requests_needed(rate_req_per_s: float) -> int:
    """max(10,000, rate x 120 s)."""
    return max(LEAST_REQUESTS, math.ceil(rate_req_per_s * LEAST_SECONDS))


def sample(trace: Trace, requests: int) -> Trace:
    """So many requests that stand for the whole trace: fifty equal stretches spread evenly over it, joined.

    Within a stretch the order, the gaps and so the bursts are the trace's; each brings the gap before its first
    request. The whole trace where it has no more. Never a request twice.
    """
    if requests >= len(trace):
        return trace
    stretches = min(STRETCHES, requests)
    sizes = np.diff(np.arange(stretches + 1) * requests // stretches)
    starts = np.arange(stretches) * len(trace) // stretches
    picked = np.concatenate([start + np.arange(size) for start, size in zip(starts, sizes, strict=True)])
    gaps = np.diff(trace.arrival_ps, prepend=trace.arrival_ps[0])
    return trace.take(picked, np.cumsum(gaps[picked]))


def replication(trace: Trace, case: Case, seed: int) -> Trace:
    """The trace as one replication sees it: itself for the case's own seed, a block bootstrap for another; with Poisson
    arrivals (or superposed copies) always itself, as their seed redraws the times."""
    if case.arrivals == "trace" and seed != case.seed:
        return block_bootstrap(trace, seed)
    return trace


def offered(trace: Trace, case: Case, rate_req_per_s: float, requests: int, seed: int) -> Trace:
    """At most ``requests`` of the trace at the rate, by the case's ``arrivals``: the same requests at every rate,
    their times scaled (with ``superpose``, as many copies as the rate takes, and a sample of them all). TraceError
    where the trace has no rate."""
    most = max(min(requests, int(rate_req_per_s * MOST_SECONDS)), FEWEST_REQUESTS)
    if case.arrivals == "superpose":
        copies = at_rate(trace, rate_req_per_s, "superpose", seed)
        return copies if len(copies) <= most else at_rate(sample(copies, most), rate_req_per_s)
    return at_rate(sample(trace, most), rate_req_per_s, case.arrivals, seed)
