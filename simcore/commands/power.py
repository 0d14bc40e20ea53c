"""``power LOG...``: what power logs say, and, with the run's machine, model and load, what the power model makes of it.
``--out`` writes the machine with the measured coefficients, as a case's ``pools[].machine`` takes it."""

from __future__ import annotations

import argparse

from simcore.catalogue import machine, model, resolve_accelerator
from simcore.commands.files import check_apart, check_writable, write_json
from simcore.commands.numbers import count
from simcore.measurements.power_logs.figures import figures
from simcore.measurements.power_logs.read import MAX_GAP_S, read_power_logs
from simcore.measurements.power_logs.times import utc_offset_s
from simcore.serving_power.report import LoggedRun, calibrated, compared, report, time_in_log
from simcore.spec import LatencySpec, SpecError, encode

RUN = ("machine", "model", "tensor_parallel", "concurrency", "prompt_tokens", "output_tokens")
"""All of them or none: what the watts are of."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "power", help="watts of nvidia-smi, dcgmi or DCGM exporter logs, against the prediction"
    )
    parser.add_argument("logs", metavar="LOG", nargs="+")
    parser.add_argument("--from", dest="start", metavar="TIME", help="start of the run (default: from utilisation)")
    parser.add_argument("--to", dest="end", metavar="TIME", help="its end")
    parser.add_argument("--utc-offset", metavar="+HH:MM", help="of local times in the log, --from and --to")
    parser.add_argument("--interval", type=positive, metavar="S", help="between rows without times (default: 1)")
    parser.add_argument("--max-gap", type=positive, default=MAX_GAP_S, metavar="S", help="between joined samples")
    parser.add_argument("--machine", metavar="S", help="the run's, with the five below: predict and calibrate")
    parser.add_argument("--model", metavar="M")
    parser.add_argument("--tensor-parallel", type=count, metavar="N")
    parser.add_argument("--concurrency", type=positive, metavar="C", help="requests in flight on all logged devices")
    parser.add_argument("--prompt-tokens", type=count, metavar="N", help="mean of the run's requests")
    parser.add_argument("--output-tokens", type=count, metavar="N")
    parser.add_argument("--engine", choices=("vllm-2026", "trtllm-2025", "vllm-2023", "kernel"), default="vllm-2026")
    parser.add_argument("--out", metavar="MACHINE.json", help="the machine with what was measured")
    parser.set_defaults(run=power)


def positive(text: str) -> float:
    """A plain number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"found {text[:40]!r}, expected a number above 0")
    return value


def power(arguments: argparse.Namespace) -> None:
    """Write the log's figures, and the comparison, to standard output."""
    missing = [name for name in RUN if getattr(arguments, name) is None]
    if missing and (len(missing) < len(RUN) or arguments.out):
        names = ", ".join(f"--{name.replace('_', '-')}" for name in missing)
        raise SpecError(f"power: found no {names}, expected all of the run's machine, model and load to predict it")
    check_writable(arguments.out)
    check_apart([arguments.out], arguments.logs)
    offset_s = None if arguments.utc_offset is None else utc_offset_s(arguments.utc_offset)
    log = read_power_logs(arguments.logs, offset_s, arguments.interval, arguments.max_gap)
    given = (("--from", arguments.start), ("--to", arguments.end))
    start, end = (time_in_log(option, text, offset_s or 0.0, log) for option, text in given)
    run = None if missing else _run(arguments)
    found = figures(log, arguments.max_gap, start, end, resolve_accelerator(run.machine).tdp_w if run else None)
    told = report(log, found, arguments.logs, offset_s or 0.0)
    if run is not None:
        calibration = calibrated(run, found)
        told["prediction"] = compared(run, calibration, found)
        if arguments.out:
            write_json(arguments.out, encode(calibration.machine))
    write_json(None, told)


def _run(arguments: argparse.Namespace) -> LoggedRun:
    return LoggedRun(
        model=model(arguments.model),
        machine=machine(arguments.machine),
        tensor_parallel=arguments.tensor_parallel,
        concurrency=arguments.concurrency,
        prompt_tokens=arguments.prompt_tokens,
        output_tokens=arguments.output_tokens,
        latency=LatencySpec(engine=arguments.engine),
    )
