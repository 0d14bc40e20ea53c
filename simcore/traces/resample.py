"""Bringing a trace to another rate, by one of three named choices, and replicating it.

trace: times compressed or stretched; burstiness in requests is kept, in seconds it is not.
superpose: shifted copies of the trace together; time of day is kept, bursts average out.
poisson: the trace's lengths in order, arrivals of a Poisson process.
No request is used twice but by superpose, which copies whole traces.
"""

from fractions import Fraction
from typing import Literal

import numpy as np

from simcore.traces.arrivals import MOST_REQUESTS, exact_rate, poisson_ps, scaled
from simcore.traces.errors import TraceError
from simcore.traces.splitmix import below, words
from simcore.traces.trace import MAX_ARRIVAL_S, PS_PER_S, IntArray, Trace

How = Literal["trace", "superpose", "poisson"]
SHIFT_STREAM, POISSON_STREAM, BLOCK_STREAM = 11, 12, 13
BLOCKS = 50


def at_rate(
    trace: Trace, rate_req_per_s: float, how: How = "trace", seed: int = 0, requests: int | None = None
) -> Trace:
    """The trace at rate_req_per_s, the first `requests` of it at most.

    For trace and superpose the rate is exact: (N - 1) gaps in (N - 1) / rate seconds, the first
    arrival at zero, rounded to the picosecond. For poisson it is the process's mean, and the same
    seed gives the same sequence at every rate. Raises TraceError for a rate that is not positive,
    a trace that has no rate (one request, or all at one instant), or a result too long.
    """
    if how == "poisson":
        kept = trace if requests is None else trace.first(requests)
        arrival_ps = poisson_ps(rate_req_per_s, len(kept), seed, POISSON_STREAM)
        return kept.with_arrivals(arrival_ps)
    rate = exact_rate(rate_req_per_s)
    whole = _superposed(trace, rate, seed) if how == "superpose" else trace
    at_this_rate = _stretched(whole, rate)
    return at_this_rate if requests is None else at_this_rate.first(requests)


def block_bootstrap(trace: Trace, seed: int) -> Trace:
    """A replication: as many requests, in runs of a fiftieth of the trace that start anywhere.

    Runs keep each request with the gap before it, and so the order and bursts within a run; a run
    that reaches the end goes on at the start (whose gap is the mean one).
    """
    size = len(trace)
    run = max(1, -(-size // BLOCKS))
    starts = below(seed, BLOCK_STREAM, -(-size // run), size)
    picked = ((starts[:, None] + np.arange(run)) % size).ravel()[:size]
    gaps = np.diff(trace.arrival_ps, prepend=0)
    gaps[0] = _span_ps(trace) // max(size - 1, 1)
    return trace.take(picked, np.cumsum(gaps[picked]))


def _stretched(trace: Trace, rate: Fraction) -> Trace:
    offsets = trace.arrival_ps - trace.arrival_ps[0]
    factor = factor_to(offsets, rate, trace.name)
    return trace.with_arrivals(scaled(offsets, factor, MAX_ARRIVAL_S * PS_PER_S))


def factor_to(offsets: IntArray, rate: Fraction, name: str) -> Fraction:
    """What arrivals from 0 on are multiplied by to come at a rate. TraceError where they have none themselves."""
    if not offsets[-1]:
        requests = "1 request" if len(offsets) == 1 else f"{len(offsets):,} requests"
        raise TraceError(
            f"{name}: found {requests} at one instant, expected arrivals over some time, to bring them to a rate"
        )
    return (len(offsets) - 1) * PS_PER_S / rate / int(offsets[-1])


def _superposed(trace: Trace, rate: Fraction, seed: int) -> Trace:
    """As many copies as come nearest to the rate, each rotated by its own part of the trace."""
    copies = copies_for(trace.arrival_ps, rate)
    if copies * len(trace) > MOST_REQUESTS:
        raise TraceError(
            f"{trace.name}: found {copies:,} copies of {len(trace):,} requests needed for "
            f"{float(rate):g} requests/s, expected at most {MOST_REQUESTS:,} requests"
        )
    times = rotated_copies(trace.arrival_ps - trace.arrival_ps[0], copies, seed)
    order = np.argsort(times, kind="stable")
    return trace.take(np.tile(np.arange(len(trace)), copies)[order], times[order])


def copies_for(arrival_ps: IntArray, rate: Fraction) -> int:
    """How many copies of a trace come nearest to a rate."""
    span = int(arrival_ps[-1] - arrival_ps[0])
    return max(1, round(rate * span / ((len(arrival_ps) - 1) * PS_PER_S))) if span else 1


def rotated_copies(offsets: IntArray, copies: int, seed: int) -> IntArray:
    """Arrivals from 0 on, then those of each further copy, rotated by its own part of the whole: not in order."""
    span = int(offsets[-1])
    period = span + span // max(len(offsets) - 1, 1)
    shifts = [0, *(int(word) * period >> 64 for word in words(seed, SHIFT_STREAM, copies - 1))]
    return np.concatenate([_rotated(offsets, shift, period) for shift in shifts])


def _rotated(offsets: IntArray, shift: int, period: int) -> IntArray:
    """(offsets + shift) modulo the period, without a sum that 64 bits would not hold."""
    turned: IntArray = np.where(offsets < period - shift, offsets + shift, offsets - (period - shift))
    return turned


def _span_ps(trace: Trace) -> int:
    return int(trace.arrival_ps[-1] - trace.arrival_ps[0])
