"""``simulate CASE.json --trace TRACE.csv``: one run, every request measured."""

from __future__ import annotations

import argparse
import math
from decimal import Decimal

from simcore.catalogue import resolve_prices
from simcore.commands.compiling import compiling_shown
from simcore.commands.files import (
    check_apart,
    check_writable,
    naming,
    read_case,
    read_requests,
    write_json,
    write_lines,
)
from simcore.commands.numbers import rate
from simcore.economics.hourly import usd_per_hour
from simcore.facility import at_facility
from simcore.fleet import machine_counts
from simcore.spec import Case, SpecError
from simcore.traces import Trace
from simcore.trust.outside import Asked, curves_of, outside_measured


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("simulate", help="simulate a case on a trace")
    parser.add_argument("case", metavar="CASE.json")
    parser.add_argument("--trace", required=True, metavar="TRACE.csv")
    parser.add_argument("--requests", metavar="OUT.csv", help="one row a request")
    parser.add_argument("--summary", metavar="OUT.json", help="the figures (default: standard output)")
    parser.add_argument("--rate", type=rate, metavar="R", help="bring the trace to R requests/s by the case's arrivals")
    parser.add_argument("--engine", choices=("fast", "oracle"), default="fast")
    parser.set_defaults(run=simulate)


def simulate(arguments: argparse.Namespace) -> None:
    """Run it and write OUT.csv and OUT.json."""
    check_writable(arguments.requests)
    check_writable(arguments.summary)
    check_apart((arguments.requests, arguments.summary), (arguments.case, arguments.trace))
    case = read_case(arguments.case)
    trace, found = read_requests(arguments.trace)
    from simcore import simulation  # the engine takes a moment to load: not before the input is known to be good
    from simcore.engine.version import engine_version
    from simcore.metrics.requests_csv import request_rows
    from simcore.metrics.summary import summary_json
    from simcore.slo.objective import objective
    from simcore.traces.statistics import arrivals

    with naming(arguments.case):
        money, warnings = hourly(case)
        goal, requests = objective(case), as_asked(case, trace, arguments.rate)
        with compiling_shown():  # loads the engine: no part of wall_s
            simulation.simulate(case, requests.first(1), goal, name=arguments.engine)
        done = simulation.simulate(case, requests, goal, name=arguments.engine)
    if arguments.requests is not None:
        write_lines(arguments.requests, request_rows(done.inputs, done.run))
    figures = summary_json(done.summary, money, done.wall_s, engine_version())
    figures |= at_facility(done.summary.power.mean_w, case.pue)
    figures["arrivals"] = arrivals(requests, case.arrivals)
    figures["warnings"] += warnings + outside_measured(curves_of([case]), Asked.of(requests)) + found
    write_json(arguments.summary, figures)


def as_asked(case: Case, trace: Trace, rate_req_per_s: float | None = None) -> Trace:
    """The trace at its own times; with ``arrivals: poisson`` its lengths at Poisson times of its own mean rate. With a
    rate: brought there by the case's ``arrivals``."""
    from simcore.traces.resample import at_rate

    if rate_req_per_s is not None:
        return at_rate(trace, rate_req_per_s, case.arrivals, case.seed)
    if case.arrivals != "poisson":
        return trace
    if math.isinf(trace.rate_per_s):
        raise SpecError(
            f"arrivals: found poisson and all requests of {trace.name} at one instant, expected a trace with a rate"
        )
    return at_rate(trace, trace.rate_per_s, "poisson", case.seed)


def hourly(case: Case) -> tuple[float | None, list[str]]:
    """USD an hour of all machines, or None and a warning where the book has no price for one (an inline machine)."""
    book = resolve_prices(case.prices)
    try:
        cost: Decimal = usd_per_hour(machine_counts(case), book)
    except SpecError as error:
        return None, [f"no cost: {error}"]
    return float(cost), []
