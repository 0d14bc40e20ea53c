"""``calibrate BENCH... --model M --machine S``: fit the roofline to measured results, with residuals."""

from __future__ import annotations

import argparse
import datetime
import os
from dataclasses import replace
from typing import Any

from simcore.catalogue import resolve_machine, resolve_model
from simcore.commands.files import check_apart, check_writable, naming, read_json, write_json
from simcore.commands.numbers import count, rate
from simcore.measurements import Given, read_measurements
from simcore.spec import Machine, Model, decode, encode

ENGINES = ("vllm-2026", "trtllm-2025", "vllm-2023", "kernel")
PRECISIONS = ("bf16", "fp8", "fp4", "mxfp4")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("calibrate", help="fit iteration times to measured results")
    parser.add_argument("bench", nargs="+", metavar="BENCH", help="files of a benchmark tool, or a CSV of step times")
    parser.add_argument("--model", required=True, metavar="M", help="a catalogue id, or a MODEL.json")
    parser.add_argument("--machine", required=True, metavar="S", help="a catalogue id, or a MACHINE.json")
    parser.add_argument("--out", metavar="LATENCY.json", help="write the calibration here, for latency.path")
    parser.add_argument("--engine", choices=ENGINES, default="vllm-2026", help="the coefficients to begin from")
    _add_where_files_lack_it(parser)
    _add_of_the_engine(parser)
    parser.set_defaults(run=calibrate)


def _add_where_files_lack_it(parser: argparse.ArgumentParser) -> None:
    lacking = parser.add_argument_group("where a file does not say")
    lacking.add_argument("--tensor-parallel", type=count, metavar="N", help="accelerators of one replica")
    lacking.add_argument("--replicas", type=count, metavar="N", help="that served the load together (default 1)")
    lacking.add_argument("--prompt-tokens", type=count, metavar="N", help="of a mean request")
    lacking.add_argument("--output-tokens", type=count, metavar="N", help="of a mean request")
    load = lacking.add_mutually_exclusive_group()
    load.add_argument("--concurrency", type=count, metavar="N", help="requests kept in flight")
    load.add_argument("--rate", type=rate, metavar="R", help="requests/s offered")


def _add_of_the_engine(parser: argparse.ArgumentParser) -> None:
    engine = parser.add_argument_group("of the engine that was measured")
    engine.add_argument("--engine-version", metavar="TEXT", help="kept with the calibration")
    engine.add_argument("--token-budget", type=count, default=2048, metavar="N", help="of an iteration (default 2048)")
    engine.add_argument("--max-batch-size", type=count, default=256, metavar="N", help="default 256")
    engine.add_argument("--weight-precision", choices=PRECISIONS, help="of the weights, if not the model's")


def calibrate(arguments: argparse.Namespace) -> None:
    """Print points, flags, errors before and after, coefficients; write LATENCY.json."""
    check_writable(arguments.out)
    inputs = [*arguments.bench, *(path for path in (arguments.model, arguments.machine) if os.path.isfile(path))]
    check_apart((arguments.out,), inputs)
    model, machine = _model(arguments), _machine(arguments.machine)
    given = Given(arguments.prompt_tokens, arguments.output_tokens, arguments.concurrency, arguments.rate)
    found = read_measurements(arguments.bench, given)
    from simcore.calibration import Target, report  # they load scipy: not before the files are known to be good
    from simcore.calibration import calibrate as fit

    target = Target(
        model=model,
        machine=machine,
        engine=arguments.engine,
        tensor_parallel=arguments.tensor_parallel,
        replicas=arguments.replicas,
        token_budget=arguments.token_budget,
        max_batch_size=arguments.max_batch_size,
        engine_version=arguments.engine_version,
        precision_given=arguments.weight_precision is not None,
    )
    calibration = fit(found, target, datetime.datetime.now(datetime.UTC).date())
    for line in report.lines(calibration, found):
        print(line)
    if arguments.out is not None:
        write_json(arguments.out, encode(calibration))
        print(f'\nWritten to {arguments.out}: "latency": {{"source": "calibrated", "path": "{arguments.out}"}}')


def _model(arguments: argparse.Namespace) -> Model:
    named: Any = arguments.model
    if os.path.isfile(named):
        with naming(named):
            found = decode(Model, read_json(named))
    else:
        found = resolve_model(named)
    return replace(found, weight_precision=arguments.weight_precision) if arguments.weight_precision else found


def _machine(named: str) -> Machine:
    if not os.path.isfile(named):
        return resolve_machine(named)
    with naming(named):
        return decode(Machine, read_json(named))
