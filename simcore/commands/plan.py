"""``plan STUDY.json``: a whole study, to designs.csv and frontier.json."""

from __future__ import annotations

import argparse
from pathlib import Path

from simcore.commands.compiling import compiling_shown
from simcore.commands.files import check_writable, naming, read_json, read_requests, write_lines
from simcore.commands.numbers import count
from simcore.spec import SpecError, decode_study
from simcore.traces.synthetic import SyntheticSpec

FILES = ("designs.csv", "frontier.json")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("plan", help="answer a whole study")
    parser.add_argument("study", metavar="STUDY.json")
    parser.add_argument("--jobs", type=count, default=1, metavar="N", help="designs simulated at once (default 1)")
    parser.add_argument("--out", default=".", metavar="DIR", help="folder for the results (default: this one)")
    parser.set_defaults(run=plan)


def plan(arguments: argparse.Namespace) -> None:
    """Run the study and write its files."""
    folder = output_folder(arguments.out)
    with naming(arguments.study):
        spec = decode_study(read_json(arguments.study))
        if spec.workload.synthetic is not None:
            SyntheticSpec.from_json(spec.workload.synthetic, "workload.synthetic")  # better now than after compiling
    from simcore import plan as study
    from simcore.engine.fast.warm import warm_up
    from simcore.study import load_trace

    given, found = read_requests(spec.workload.trace) if spec.workload.trace is not None else (None, [])
    with compiling_shown():
        warm_up()  # for all processes at once
    with naming(arguments.study):
        requests = load_trace(spec) if given is None else given
        result = study.plan(spec, arguments.jobs, requests)
        found = [*result.outside, *found]
    for name, text in zip(FILES, (study.designs_csv(result), study.frontier_json(result, found)), strict=True):
        write_lines(str(folder / name), [text.removesuffix("\n")])


def output_folder(path: str) -> Path:
    """The folder, made where it is missing; SpecError where its files cannot be written."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise SpecError(f"{path}: found a file, expected a folder to write to") from None
    except OSError as error:
        found = (error.strerror or str(error)).lower()
        raise SpecError(f"{path}: found {found}, expected a folder to write to") from None
    for name in FILES:
        check_writable(str(folder / name))
    return folder
