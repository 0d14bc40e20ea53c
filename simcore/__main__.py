"""``python -m simcore``: the commands of CONTRACT.md. Exit 0 on success, 2 on bad input with one line on standard
error."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from simcore.commands import (
    analyse,
    calibrate,
    capacity,
    inspect,
    iteration,
    model,
    pilot,
    plan,
    power,
    simulate,
    validate,
)
from simcore.spec import SpecError
from simcore.traces import TraceError

BAD_INPUT = 2
INTERRUPTED = 130


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong with the arguments in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Exit 2 with the message."""
        raise SpecError(f"{self.prog}: {message}")


def parser() -> argparse.ArgumentParser:
    """All commands."""
    top = OneLineParser(prog="simcore", description="Simulate LLM serving clusters and plan their capacity.")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for command in (simulate, capacity, plan, analyse, iteration, calibrate, inspect, model, pilot, power, validate):
        command.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    try:
        chosen = parser().parse_args(arguments)
        chosen.run(chosen)
        sys.stdout.flush()
    except (SpecError, TraceError) as error:
        return _refused(str(error))
    except OSError as error:
        return _refused_file(error)
    except MemoryError as error:
        return _refused(f"out of memory ({error}), expected a smaller trace or study")
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _refused(text: str) -> int:
    print(" ".join(text.split()), file=sys.stderr)
    return BAD_INPUT


def _refused_file(error: OSError) -> int:
    if isinstance(error, BrokenPipeError):  # the reader of our output has left: nothing more to say, even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_INPUT
    what = (error.strerror or str(error)).lower()
    return _refused(f"{error.filename or 'standard output'}: found {what}, expected a usable file")


if __name__ == "__main__":
    sys.exit(main())
