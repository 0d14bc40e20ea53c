"""``inspect TRACE``: format, rows, what was repaired or refused."""

from __future__ import annotations

import argparse

from simcore.commands.files import write_json
from simcore.traces.inspect import inspect as inspect_trace


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("inspect", help="what a trace holds")
    parser.add_argument("trace", metavar="TRACE")
    parser.set_defaults(run=inspect)


def inspect(arguments: argparse.Namespace) -> None:
    """Write the parse report and the trace's statistics to standard output."""
    write_json(None, inspect_trace(arguments.trace))
