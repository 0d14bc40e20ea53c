"""``pilot CASE.json --trace TRACE --rate R``: the smallest test that shows whether the design holds the rate; with
``--result`` what a benchmark's file says of it."""

from __future__ import annotations

import argparse
import datetime
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from simcore.commands.compiling import compiling_shown
from simcore.commands.files import check_apart, check_writable, naming, read_case, read_requests, write_json
from simcore.commands.numbers import rate
from simcore.measurements import Measurements, read_measurements
from simcore.pilot import PilotKit, PilotRun, pilot_kit, verdict
from simcore.pilot.part import smallest_part
from simcore.spec import Case, SpecError, encode
from simcore.traces import Trace


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("pilot", help="the smallest test of a design before it is bought")
    parser.add_argument("case", metavar="CASE.json")
    parser.add_argument("--trace", required=True, metavar="TRACE.csv", help="its mean request is the benchmark's")
    parser.add_argument(
        "--rate", required=True, type=rate, metavar="R", help="what the design is bought for, requests/s"
    )
    parser.add_argument("--capacity", type=rate, metavar="C", help="what it holds, requests/s (default: searched for)")
    parser.add_argument("--result", nargs="+", metavar="BENCH.json", help="results of its runs: pass or fail")
    parser.add_argument(
        "--calibration",
        metavar="LATENCY.json",
        help="with --result: fit iteration times to it (a pair: LATENCY.prefill.json and LATENCY.decode.json)",
    )
    parser.add_argument(
        "--run", dest="named_run", metavar="NAME", help="of which run (default: the one whose lengths it has)"
    )
    parser.add_argument("--out", metavar="KIT.json", help="where to write (default: standard output)")
    parser.set_defaults(run=pilot)


def pilot(arguments: argparse.Namespace) -> None:
    """Write the kit, and the verdict where there is a result."""
    check_writable(arguments.out)
    check_writable(arguments.calibration)
    results = arguments.result or []
    check_apart([arguments.out, arguments.calibration], [arguments.case, arguments.trace, *results])
    if arguments.calibration and not results:
        raise SpecError("--calibration: found no --result, expected the files of a pilot's runs")
    case = read_case(arguments.case)
    trace, _ = read_requests(arguments.trace)
    with naming(arguments.case):
        kit = _kit(case, trace, arguments.rate, arguments.capacity)
    report = kit_json(kit)
    if results:
        found = _results(kit, results)
        report["verdict"] = [_judged(kit, point, arguments.named_run) for point in found.serving]
        report["flags"] = [str(flag) for flag in found.flags.listed]
        if arguments.calibration:
            try:
                report["calibrations"] = _calibrated(case, found, arguments.calibration)
            except SpecError:
                write_json(arguments.out, report)  # the verdict stands, whatever the fit lacks
                raise
    write_json(arguments.out, report)


def _kit(case: Case, trace: Trace, required: float, capacity: float | None) -> PilotKit:
    if capacity is None:
        from simcore.capacity.find import find_capacity

        with compiling_shown():
            capacity = find_capacity(case, trace).rate_req_per_s
    prompt, output = float(trace.prompt_tokens.mean()), float(trace.output_tokens.mean())
    return pilot_kit(case, prompt, output, required, capacity / required)


def kit_json(kit: PilotKit) -> dict[str, Any]:
    """The kit with its commands as text; what is infinite is null."""
    return {
        "part": kit.part,
        "engine": kit.engine,
        "true_over_predicted_times": [asdict(span) for span in kit.ranges],
        "allowed_times": kit.allowed,
        "serve": [{"title": command.title, "command": command.text} for command in kit.serve],
        "runs": [_run_json(run) for run in kit.runs],
    }


def _run_json(run: PilotRun) -> dict[str, Any]:
    plain = {name: value for name, value in vars(run).items() if name not in ("bands", "command", "part")}
    bands = {band.figure: _finite(asdict(band)) for band in run.bands}
    return plain | {"bands": bands, "title": run.command.title, "command": run.command.text}


def _finite(band: dict[str, Any]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in band.items() if name != "figure"}


def _results(kit: PilotKit, paths: list[str]) -> Measurements:
    found = read_measurements(paths)
    if not found.serving:
        first = f": {found.flags.listed[0]}" if found.flags.listed else ""
        first = first or (": found step times, expected a result of a benchmark" if found.steps else "")
        raise SpecError(f"{', '.join(paths)}: found no result that can be used, expected one of {_names(kit)}{first}")
    return found


def _calibrated(case: Case, found: Measurements, path: str) -> list[dict[str, Any]]:
    """Written one file a replica; what was fitted, in short."""
    from simcore.pilot.calibration import pilot_calibrations  # loads scipy: for those who ask for it

    every = pilot_calibrations(smallest_part(case), found, datetime.datetime.now(datetime.UTC).date())
    written = []
    for one in every:
        to = path if len(every) == 1 else str(Path(path).with_suffix(f".{one.role}.json"))
        check_writable(to)
        write_json(to, encode(one.calibration))
        errors = [encode(error) for error in one.calibration.errors]
        written.append({"role": one.role, "path": to, "errors": errors})
    return written


def _judged(kit: PilotKit, point: Any, name: str | None) -> dict[str, Any]:
    run = kit.run(name) if name else kit.run_of(point.prompt_tokens, point.output_tokens)
    judged = verdict(run, point)
    lines = [
        {"figure": line.figure, "measured": line.measured, "outcome": line.outcome, **_finite(asdict(line.band))}
        for line in judged.lines
    ]
    return {"run": run.name, "passes": judged.passes, "sentence": judged.sentence, "lines": lines}


def _names(kit: PilotKit) -> str:
    return ", ".join(run.name for run in kit.runs)
