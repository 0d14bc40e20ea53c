"""``validate [--data DIR]``: every prediction against its measurement: a table, with ``--out`` the whole report."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from simcore.commands.compiling import compiling_shown
from simcore.commands.files import check_writable, write_lines

DATA = "PHASEPLAN_SHARED"
REPORT = "docs/validation.md"


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("validate", help="predictions against measurements")
    parser.add_argument(
        "--data", metavar="DIR", help=f"measured sets (default: data/measured in ${DATA}, or in ../shared)"
    )
    parser.add_argument(
        "--out",
        metavar="REPORT.md",
        help=f"the whole report, in Markdown (default: {REPORT}, where there is that folder)",
    )
    parser.add_argument("--residuals", metavar="OUT.csv", help="the table that predictions name their errors by")
    parser.set_defaults(run=validate)


def validate(arguments: argparse.Namespace) -> None:
    """Print the goals and groups; write what is asked for. Exit 0 whether goals are met or not."""
    out = arguments.out or (REPORT if Path(REPORT).parent.is_dir() else None)
    for path in (out, arguments.residuals):
        check_writable(path)
    from simcore.validation.printed import printed
    from simcore.validation.recompute import recompute
    from simcore.validation.report import report

    with compiling_shown():
        found = recompute(Path(arguments.data) if arguments.data else default_data())
    for line in printed(found):
        print(line)
    if out:
        write_lines(out, report(found).splitlines())
        print(f"\nwritten to {out}")
    if arguments.residuals:
        from simcore.validation.residual_table import residual_lines

        write_lines(arguments.residuals, residual_lines(found))


def default_data() -> Path:
    """Where the measured sets are in a checkout with the shared folder beside it."""
    return Path(os.environ.get(DATA, "../shared")) / "data" / "measured"
