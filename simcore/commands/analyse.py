"""``analyse KIND STUDY.json``: one analysis of a study's answer, as the result page has it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from simcore.analyses import KINDS, Subject, analyse, kind_of
from simcore.commands.compiling import compiling_shown
from simcore.commands.files import check_writable, naming, read_json, read_requests, write_json
from simcore.commands.numbers import count
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.spec import SpecError, decode_study


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("analyse", help="answer a study, and look into its answer")
    parser.add_argument("kind", metavar="KIND", help=f"one of {', '.join(KINDS)}")
    parser.add_argument("study", metavar="STUDY.json")
    parser.add_argument("--design", metavar="ID", help="a design's id in designs.csv (default: the kind's own choice)")
    parser.add_argument("--parameters", metavar="JSON", default="{}", help="an object (default: {})")
    parser.add_argument("--jobs", type=count, default=1, metavar="N", help="designs simulated at once (default 1)")
    parser.add_argument("--out", metavar="OUT.json", help="the analysis (default: standard output)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Plan the study, then analyse it."""
    kind_of(arguments.kind)
    parameters = _parameters(arguments.parameters, arguments.design)
    check_writable(arguments.out)
    with naming(arguments.study):
        spec = decode_study(read_json(arguments.study))
    from simcore.engine.fast.warm import warm_up
    from simcore.lab import EngineLab
    from simcore.plan import plan
    from simcore.study import context, load_trace

    given, found = read_requests(spec.workload.trace) if spec.workload.trace is not None else (None, [])
    with compiling_shown():
        warm_up()
    with naming(arguments.study):
        trace = load_trace(spec) if given is None else given
        subject = Subject(plan(spec, arguments.jobs, trace), WorkloadStatistics.of(trace), lambda: context(spec, trace))
    told = analyse(arguments.kind, subject, EngineLab(trace), parameters)
    write_json(arguments.out, {"kind": arguments.kind, **told, "warnings": found})


def _parameters(text: str, design: str | None) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except json.JSONDecodeError as error:
        raise SpecError(f"--parameters: column {error.colno}: {error.msg}, expected a JSON object") from None
    if not isinstance(given, dict):
        raise SpecError(f"--parameters: found {type(given).__name__}, expected a JSON object")
    return given if design is None else {**given, "design": design}
