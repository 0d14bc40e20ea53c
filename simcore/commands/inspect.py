"""``inspect TRACE``: format, rows, what was repaired or refused; how bursty it is, and would be at another rate."""

from __future__ import annotations

import argparse

from simcore.commands.files import write_json
from simcore.commands.numbers import rate, seed
from simcore.traces.inspect import inspect as inspect_trace


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("inspect", help="what a trace holds")
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument("--rate", type=rate, metavar="R", help="also: the arrivals at this rate, in requests/s")
    parser.add_argument(
        "--arrivals",
        choices=("trace", "superpose", "poisson"),
        default="trace",
        help="how they come to that rate (default: trace, times compressed or stretched)",
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="of superpose and poisson (default 0)")
    parser.set_defaults(run=inspect)


def inspect(arguments: argparse.Namespace) -> None:
    """Write the parse report and the trace's statistics to standard output."""
    write_json(None, inspect_trace(arguments.trace, arguments.rate, arguments.arrivals, arguments.seed))
