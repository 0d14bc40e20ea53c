"""``inspect TRACE``: format, rows, what was repaired or refused; how bursty it is, and would be at another rate."""

from __future__ import annotations

import argparse

from simcore.commands.files import check_apart, check_writable, write_json
from simcore.commands.numbers import rate, seed, whole
from simcore.traces.inspect import NO_CACHE, WITHOUT_END
from simcore.traces.inspect import inspect as inspect_trace
from simcore.traces.prefix_cache import BLOCK_TOKENS, LARGEST_CACHE_TOKENS


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
    parser.add_argument(
        "--prefix-cache",
        type=_cache,
        default=NO_CACHE,
        metavar="TOKENS",
        help="of a trace with hash_ids (Mooncake): count the prompt tokens that a cache of so many, or 'unlimited', "
        "would have held as cached (default: none)",
    )
    parser.add_argument("--out", metavar="OUT.csv", help="also write the trace in Phaseplan's own format")
    parser.set_defaults(run=inspect)


def inspect(arguments: argparse.Namespace) -> None:
    """Write the parse report and the trace's statistics to standard output."""
    check_writable(arguments.out)
    check_apart((arguments.out,), (arguments.trace,))
    asked = (arguments.rate, arguments.arrivals, arguments.seed, arguments.prefix_cache, arguments.out)
    write_json(None, inspect_trace(arguments.trace, *asked))


def _cache(text: str) -> int | str:
    return text if text in (NO_CACHE, WITHOUT_END) else whole(text, least=BLOCK_TOKENS, most=LARGEST_CACHE_TOKENS)
