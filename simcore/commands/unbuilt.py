"""Commands that are named but not built yet: refused by name, whatever follows."""

from __future__ import annotations

import argparse

from simcore.spec import SpecError

COMMANDS = {"calibrate": "fit to measured results"}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the commands."""
    for name, what in COMMANDS.items():
        parser = commands.add_parser(name, help=f"{what} (not built yet)", prefix_chars="\0", add_help=False)
        parser.add_argument("rest", nargs="*")
        parser.set_defaults(run=refuse, command=name)


def refuse(arguments: argparse.Namespace) -> None:
    """SpecError: not built yet."""
    raise SpecError(
        f"{arguments.command}: not built yet, expected simulate, capacity, plan, iteration, inspect or validate"
    )
