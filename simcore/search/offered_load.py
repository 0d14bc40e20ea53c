"""The requests that a capacity search offers a design: how many of a trace, and at which times.

All designs of a process share the loads of a trace: at one rate of the grid they are the same requests at the same
times, made once.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock

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
MOST_KEPT_REQUESTS = 4_000_000
"""Of all loads that are kept to be shared, 8 to 40 bytes each."""


@dataclass
class SharedLoads:
    """Loads by what they were made from, the least recently asked for dropped first. Any thread may ask."""

    most_requests: int = MOST_KEPT_REQUESTS
    kept: OrderedDict[Hashable, Trace] = field(default_factory=OrderedDict)
    requests: int = 0
    lock: Lock = field(default_factory=Lock)

    def get(self, key: Hashable, make: Callable[[], Trace]) -> Trace:
        """The load, made where it is not kept; the same object as long as it is."""
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
                return self.kept[key]
        made = make()
        with self.lock:
            self._keep(key, made)
        return made

    def _keep(self, key: Hashable, made: Trace) -> None:
        if key in self.kept:
            return
        self.kept[key] = made
        self.requests += len(made)
        while self.requests > self.most_requests and len(self.kept) > 1:
            self.requests -= len(self.kept.popitem(last=False)[1])


_SHARED = SharedLoads()


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
        return _SHARED.get((trace, "replication", seed), lambda: block_bootstrap(trace, seed))
    return trace


def offered(trace: Trace, case: Case, rate_req_per_s: float, requests: int, seed: int) -> Trace:
    """At most ``requests`` of the trace at the rate, by the case's ``arrivals``: the same requests at every rate,
    their times scaled (with ``superpose``, as many copies as the rate takes, and a sample of them all). TraceError
    where the trace has no rate."""
    most = max(min(requests, int(rate_req_per_s * MOST_SECONDS)), FEWEST_REQUESTS)
    if case.arrivals == "superpose":
        return _SHARED.get(
            (trace, "superpose", rate_req_per_s, most, seed), lambda: _superposed(trace, rate_req_per_s, most, seed)
        )
    most, how = min(most, len(trace)), case.arrivals
    return _SHARED.get(
        (trace, how, rate_req_per_s, most, seed if how == "poisson" else None),
        lambda: at_rate(_shared_sample(trace, most), rate_req_per_s, how, seed),
    )


def _shared_sample(trace: Trace, requests: int) -> Trace:
    return _SHARED.get((trace, requests), lambda: sample(trace, requests))


def _superposed(trace: Trace, rate_req_per_s: float, most: int, seed: int) -> Trace:
    copies = at_rate(trace, rate_req_per_s, "superpose", seed)
    return copies if len(copies) <= most else at_rate(sample(copies, most), rate_req_per_s)
