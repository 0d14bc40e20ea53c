"""``capacity CASE.json --trace TRACE.csv``: the highest rate that meets the case's SLO."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from simcore.commands.compiling import compiling_shown
from simcore.commands.files import check_apart, check_writable, naming, read_case, read_requests, write_json
from simcore.commands.simulate import hourly
from simcore.economics.hourly import SECONDS_PER_HOUR
from simcore.evaluation import Evaluation
from simcore.facility import at_facility
from simcore.spec import Case
from simcore.traces.statistics import arrivals
from simcore.trust.margins import margin
from simcore.trust.outside import Asked, curves_of, outside_measured

if TYPE_CHECKING:
    from simcore.capacity.find import Capacity


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("capacity", help="find the highest rate that meets the SLO")
    parser.add_argument("case", metavar="CASE.json")
    parser.add_argument("--trace", required=True, metavar="TRACE.csv")
    parser.add_argument("--summary", metavar="OUT.json", help="the figures (default: standard output)")
    parser.set_defaults(run=capacity)


def capacity(arguments: argparse.Namespace) -> None:
    """Search and write OUT.json."""
    check_writable(arguments.summary)
    check_apart((arguments.summary,), (arguments.case, arguments.trace))
    case = read_case(arguments.case)
    trace, read = read_requests(arguments.trace)
    from simcore.capacity.find import find_capacity

    start = time.perf_counter()
    with naming(arguments.case), compiling_shown():
        money, warnings = hourly(case)
        found = find_capacity(case, trace)
    figures = capacity_json(found, money, time.perf_counter() - start) | _interval(case, found)
    figures |= at_facility(figures["mean_w"], case.pue)
    figures["arrivals"] = arrivals(found.probe.load, case.arrivals)
    figures["warnings"] += warnings + outside_measured(curves_of([case]), Asked.of(trace)) + read
    write_json(arguments.summary, figures)


def _interval(case: Case, found: Capacity) -> dict[str, float]:
    """The noise of the simulation joined with the error of iteration times, at 90 %; nothing without a capacity."""
    if not found.rate_req_per_s:
        return {}
    told = Evaluation(
        "",
        "evaluated",
        "",
        found.rate_req_per_s,
        found.low_req_per_s,
        found.high_req_per_s,
        found.binding.limit,
        found.binding.pool,
        found.probe.result,
        around=found.around,
    )
    unsure = margin(case, told)
    return {"capacity_low": unsure.low, "capacity_high": unsure.high}


def capacity_json(found: Capacity, usd_per_hour: float | None, wall_s: float) -> dict[str, Any]:
    """The capacity with what it was found from; the figures under ``at_rate_req_per_s`` are of that run."""
    from simcore.engine.version import engine_version
    from simcore.metrics.summary import pools_json, slo_json

    rate, at = found.rate_req_per_s, found.probe.summary
    return {
        "capacity_req_per_s": rate,
        "capacity_low": found.low_req_per_s,
        "capacity_high": found.high_req_per_s,
        "noise_low": found.low_req_per_s,
        "noise_high": found.high_req_per_s,
        "interval": found.interval,
        "binding_limit": found.binding.limit,
        "binding_pool": found.binding.pool,
        "binding_because": found.binding.because,
        "at_rate_req_per_s": found.probe.rate_req_per_s,
        "stable": at.stability.stable,
        "slo": slo_json(at.slo),
        "pools": pools_json(at.pools),
        "token_budget": at.token_budget,
        "output_tokens_per_s": at.output_tokens_per_s,
        "mean_w": at.power.mean_w,
        "p99_w": at.power.p99_w,
        "nameplate_w": at.nameplate_w,
        "provisioned_w": at.provisioned_w,
        "usd_per_hour": usd_per_hour,
        "req_per_usd": SECONDS_PER_HOUR * rate / usd_per_hour if usd_per_hour else None,
        "req_per_s_per_kw": rate / (at.provisioned_w / 1000),
        "simulations": found.simulations,
        "requests_simulated": found.requests_simulated,
        "iterations": found.iterations,
        "events": found.events,
        "warnings": list(found.warnings),
        "wall_s": wall_s,
        "engine_version": engine_version(),
    }
