"""The highest arrival rate at which a design meets its SLO (DESIGN.md section 6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from simcore.binding import Binding
from simcore.fluid import WorkloadStatistics, capacity_bound
from simcore.interval import noise_interval
from simcore.offered_load import replication, requests_needed
from simcore.probes import Probe, Prober
from simcore.rate_search import CHECKED_BELOW, bracket, check_below, close_in, short_bracket
from simcore.simulation import EngineName
from simcore.slo import objective
from simcore.spec import Case
from simcore.traces import Trace

__all__ = ["Capacity", "Probe", "at_rate", "find_capacity"]

MOST_RATE_REQ_PER_S = 1e6
"""Searched up to where iterations take no time."""

Interval = Literal["seeds", "bootstrap", "resolution"]


@dataclass(frozen=True)
class Capacity:
    """The highest rate found; 0 where the SLO holds at no rate."""

    rate_req_per_s: float
    low_req_per_s: float
    high_req_per_s: float
    interval: Interval
    """What low and high are: the range over replications (``seeds``), a block bootstrap of the limit that binds
    (``bootstrap``), or only how far the search went (``resolution``: no statement about noise)."""
    binding: Binding
    """What fails first above the capacity."""
    probe: Probe
    """At the capacity; where it is 0, at the lowest rate tried."""
    simulations: int
    requests_simulated: int
    iterations: int
    warnings: tuple[str, ...]


def at_rate(
    case: Case, trace: Trace, rate_req_per_s: float, seed: int | None = None, name: EngineName = "fast"
) -> Probe:
    """The case at one rate, measured over the middle 10 to 90 % of arrivals, with as many requests as a capacity
    takes."""
    prober = _prober(case, trace, case.seed if seed is None else seed, name)
    return prober.probe(rate_req_per_s, requests_needed(rate_req_per_s))


def find_capacity(case: Case, trace: Trace, seeds: Sequence[int] = (), name: EngineName = "fast") -> Capacity:
    """Search to 1 % with common random numbers, from a bracket by the fluid bound; the median over ``seeds``.

    A rate is feasible if the window (middle 10 to 90 % of arrivals) is stable and the SLO holds over all its requests.
    Short runs bracket, long ones (``requests_needed``) decide; the result is checked again at 0.9 and 0.8 of it, and
    lowered with a warning where one fails. Nothing above the fluid bound is tried: no cluster can sustain it. Raises
    SpecError (the case does not fit, an SLO without reference) and TraceError (a trace that has no rate).
    """
    found = [_one_capacity(_prober(case, trace, seed, name)) for seed in seeds or (case.seed,)]
    if len(found) == 1:
        return found[0]
    ordered = sorted(found, key=lambda capacity: capacity.rate_req_per_s)
    return replace(
        ordered[(len(ordered) - 1) // 2],
        low_req_per_s=ordered[0].rate_req_per_s,
        high_req_per_s=ordered[-1].rate_req_per_s,
        interval="seeds",
        simulations=sum(capacity.simulations for capacity in found),
        requests_simulated=sum(capacity.requests_simulated for capacity in found),
        iterations=sum(capacity.iterations for capacity in found),
        warnings=tuple(dict.fromkeys(warning for capacity in found for warning in capacity.warnings)),
    )


def _prober(case: Case, trace: Trace, seed: int, name: EngineName) -> Prober:
    return Prober(case, replication(trace, case, seed), objective(case), seed, name)


def _one_capacity(prober: Prober) -> Capacity:
    bound = min(capacity_bound(prober.case, WorkloadStatistics.of(prober.trace)), MOST_RATE_REQ_PER_S)
    low, high = short_bracket(prober, bound)
    if low == 0.0:
        return _none(prober)
    requests = requests_needed(high)
    low, high = bracket(prober, math.sqrt(low * high), bound, requests)
    warnings: list[str] = []
    if low:
        low, high = close_in(prober, low, high, requests)
        low, high = check_below(prober, low, high, requests, warnings)
    return _some(prober, low, high, requests, warnings) if low else _none(prober)


def _none(prober: Prober) -> Capacity:
    """No rate holds: what came nearest, at the lowest rate tried."""
    lowest = min(prober.done.values(), key=lambda probe: probe.rate_req_per_s)
    rate = lowest.rate_req_per_s
    text = f"the SLO does not hold even at {rate:.3g} requests/s, where requests are all but alone"
    return _capacity(prober, 0.0, (0.0, 0.0), "resolution", lowest.summary.binding, lowest, [text])


def _some(prober: Prober, low: float, high: float, requests: int, warnings: list[str]) -> Capacity:
    """The result at the highest rate that holds."""
    probe, above = prober.probe(low, requests), prober.probe(high, requests)
    binds = above.summary.binding
    needed = requests_needed(low)
    if prober.case.arrivals != "superpose" and len(prober.trace) < needed:
        warnings.append(
            f"the workload has {len(prober.trace):,} requests where {needed:,} are asked for at this rate:"
            " it was used once, so its tail is less certain"
        )
    if above.feasible:
        warnings.append(
            "the SLO holds up to the most that the replicas can work off: the trace is too short to overload them"
        )
    noise = noise_interval(probe, above, prober.probe(low * CHECKED_BELOW[0], requests), binds.limit)
    if noise is None:
        warnings.append("the interval says only how far the search went, not how far chance may move the capacity")
        return _capacity(prober, low, (low, high), "resolution", binds, probe, warnings)
    return _capacity(prober, low, (noise[0], max(noise[1], high)), "bootstrap", binds, probe, warnings)


def _capacity(
    prober: Prober,
    rate: float,
    ends: tuple[float, float],
    interval: Interval,
    binds: Binding,
    probe: Probe,
    warnings: Sequence[str],
) -> Capacity:
    done = prober.done.values()
    seen = tuple(dict.fromkeys([*warnings, *probe.summary.warnings]))
    requests, iterations = sum(p.requests for p in done), sum(p.summary.iterations for p in done)
    return Capacity(rate, *ends, interval, binds, probe, len(done), requests, iterations, seen)
