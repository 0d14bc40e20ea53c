"""The highest arrival rate at which a design meets its SLO (DESIGN.md section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from simcore.capacity.interval import noise_interval
from simcore.capacity.probes import Probe, Prober
from simcore.capacity.rate_search import RateSearch
from simcore.evaluation import LimitsAt
from simcore.fluid.bounds import WorkloadStatistics, capacity_bound
from simcore.metrics.binding import Binding
from simcore.search.offered_load import requests_needed
from simcore.search.rate_grid import MOST_RATE_REQ_PER_S, grid_at_most, grid_rate
from simcore.simulation import EngineName
from simcore.slo.unloaded import unloaded_limits
from simcore.spec import Case
from simcore.traces import Trace

__all__ = ["Capacity", "Probe", "at_rate", "find_capacity"]

LEAST_SHARE = 1e-3
"""A design that fails even at this share of the bound, where requests are all but alone, has no capacity."""

Interval = Literal["bootstrap", "resolution"]


@dataclass(frozen=True)
class Capacity:
    """The highest rate found; 0 where the SLO holds at no rate."""

    rate_req_per_s: float
    low_req_per_s: float
    high_req_per_s: float
    interval: Interval
    """What low and high are: a block bootstrap of the limit that binds (``bootstrap``), or only how far the search went
    (``resolution``: no statement about noise)."""
    binding: Binding
    """What fails first above the capacity."""
    probe: Probe
    """At the capacity; where it is 0, at the lowest rate tried."""
    around: tuple[LimitsAt, ...]
    """The limits at no load and at the rates about the capacity, from low to high; where it is 0, at the lowest rate
    tried alone."""
    simulations: int
    requests_simulated: int
    iterations: int
    events: int
    """What the engine handled in all simulations."""
    warnings: tuple[str, ...]


def at_rate(
    case: Case, trace: Trace, rate_req_per_s: float, seed: int | None = None, name: EngineName = "fast"
) -> Probe:
    """The case at one rate, measured over the middle 10 to 90 % of arrivals, with as many requests as a capacity
    takes."""
    return Prober.of(case, trace, case.seed if seed is None else seed, name).probe(rate_req_per_s)


def find_capacity(case: Case, trace: Trace, seed: int | None = None, name: EngineName = "fast") -> Capacity:
    """The highest rate of the grid (``rate_grid``) that holds where the next does not, under one seed (default: the
    case's).

    A rate is feasible if the window (middle 10 to 90 % of arrivals) is stable and the SLO holds over all its requests.
    Short runs say where to look, long ones (``requests_needed``) decide, so that the capacity is what plain bisection
    by long runs finds; it is checked again at 0.9 and 0.8 of it, and lowered with a warning where one fails. Nothing
    above the fluid bound is tried: no cluster can sustain it. Raises SpecError (the case does not fit, an SLO without
    reference) and TraceError (a trace that has no rate).
    """
    prober = Prober.of(case, trace, case.seed if seed is None else seed, name)
    bound = min(capacity_bound(prober.case, _statistics(prober.trace)), MOST_RATE_REQ_PER_S)
    search = RateSearch(prober, grid_at_most(bound * LEAST_SHARE), grid_at_most(bound))
    k = search.find()
    return _none(prober) if k is None else _some(prober, k, search)


_statistics = lru_cache(maxsize=4)(WorkloadStatistics.of)
"""The same for all designs of a study."""


def _none(prober: Prober) -> Capacity:
    """No rate holds: what came nearest, at the lowest rate tried."""
    lowest = min(prober.done.values(), key=lambda probe: (probe.rate_req_per_s, -probe.requests))
    rate = lowest.rate_req_per_s
    lowest = prober.probe(rate)  # to its end, as it is shown
    text = f"the SLO does not hold even at {rate:.3g} requests/s, where requests are all but alone"
    return _capacity(prober, 0.0, (0.0, 0.0), "resolution", lowest.binding, lowest, [text], [])


def _some(prober: Prober, k: int, search: RateSearch) -> Capacity:
    """The result at the highest rate that holds; the next fails by a run, or because nothing can sustain it."""
    rate, warnings = grid_rate(k), search.warnings
    probe, above = prober.probe(rate), prober.probe(grid_rate(k + 1)) if k < search.highest else None
    binds = (above or probe).binding
    needed = requests_needed(rate)
    if prober.case.arrivals != "superpose" and len(prober.trace) < needed:
        warnings.append(
            f"the workload has {len(prober.trace):,} requests where {needed:,} are asked for at this rate:"
            " it was used once, so its tail is less certain"
        )
    if above is None:
        warnings.append(
            "the SLO holds up to the most that the replicas can work off: the trace is too short to overload them"
        )
    below = [prober.probe(grid_rate(check)) for check in search.checks(k)]
    noise = noise_interval(probe, above, below[0], binds.limit) if above and below else None
    about = [*reversed(below), probe, *([above] if above else [])]
    ends = (rate, grid_rate(k + 1) if above else rate)
    if noise is None:
        warnings.append("the interval says only how far the search went, not how far chance may move the capacity")
        return _capacity(prober, rate, ends, "resolution", binds, probe, warnings, about)
    return _capacity(prober, rate, (noise[0], max(noise[1], ends[1])), "bootstrap", binds, probe, warnings, about)


def _capacity(
    prober: Prober,
    rate: float,
    ends: tuple[float, float],
    interval: Interval,
    binds: Binding,
    probe: Probe,
    warnings: Sequence[str],
    about: Sequence[Probe],
) -> Capacity:
    done = [*prober.done.values(), *prober.given_up]
    seen = tuple(dict.fromkeys([*warnings, *probe.summary.warnings]))
    requests, iterations, events = (
        sum(getattr(p, name) for p in done) for name in ("requests", "iterations", "events")
    )
    lowest = (LimitsAt(probe.rate_req_per_s, probe.judged.slo.limits),)
    around = _around(probe, about) if about else lowest
    return Capacity(rate, *ends, interval, binds, probe, around, len(done), requests, iterations, events, seen)


def _around(probe: Probe, about: Sequence[Probe]) -> tuple[LimitsAt, ...]:
    """The limits of runs about the capacity, before them what they come to with nobody else there."""
    ran = [LimitsAt(one.rate_req_per_s, one.judged.slo.limits) for one in about]
    alone = unloaded_limits(probe.case, probe.goal, probe.load, probe.judged.slo.limits)
    return LimitsAt(0.0, alone), *ran
