"""``power LOG...``: what power logs say, and, with the run's machine, model and load, what the power model makes of it.
``--out`` writes the machine with the measured coefficients, as a case's ``pools[].machine`` takes it."""

from __future__ import annotations

import argparse
import re
from dataclasses import asdict
from typing import Any

from simcore.catalogue import machine, model, resolve_accelerator
from simcore.commands.files import check_apart, check_writable, write_json
from simcore.commands.numbers import count
from simcore.latency.compile import compile_curve
from simcore.mean_iteration import Lengths, Serving
from simcore.measurements.points import Effect
from simcore.measurements.power_logs.figures import LogFigures, figures
from simcore.measurements.power_logs.read import MAX_GAP_S, read_power_logs
from simcore.measurements.power_logs.samples import PowerLog
from simcore.measurements.power_logs.times import seconds, shown, utc_offset_s
from simcore.power_calibration import PowerCalibration, Run, calibrate_power
from simcore.spec import LatencySpec, SpecError, encode

RUN = ("machine", "model", "tensor_parallel", "concurrency", "prompt_tokens", "output_tokens")
"""All of them or none: what the watts are of."""
EFFECTS: tuple[Effect, ...] = ("row left out", "not used", "noted")


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
    start, end = (_time(option, text, offset_s or 0.0, log) for option, text in given)
    box = machine(arguments.machine) if arguments.machine else None
    found = figures(log, arguments.max_gap, start, end, None if box is None else resolve_accelerator(box).tdp_w)
    report = _report(log, found, arguments.logs, offset_s or 0.0)
    if not missing:
        calibration = _calibrated(arguments, found)
        report["prediction"] = _compared(calibration, found)
        if arguments.out:
            write_json(arguments.out, encode(calibration.machine))
    write_json(None, report)


def _time(option: str, text: str | None, offset_s: float, log: PowerLog) -> float | None:
    """A time, or seconds from the log's first sample."""
    if text is None:
        return None
    if re.fullmatch(r"\d{1,8}(\.\d+)?", text):
        return min(device.times_s[0] for device in log.devices.values()) + float(text)
    try:
        return seconds(text, offset_s)
    except ValueError:
        expected = "expected a time such as 2026-03-02 10:15:00, or seconds from the log's start"
        raise SpecError(f"{option}: found '{text}', {expected}") from None


def _calibrated(arguments: argparse.Namespace, found: LogFigures) -> PowerCalibration:
    box, served = machine(arguments.machine), model(arguments.model)
    devices, tensor_parallel = len(found.used), arguments.tensor_parallel
    if devices % tensor_parallel:
        raise SpecError(
            f"--tensor-parallel: found {tensor_parallel}, expected a divisor of the {devices} devices in use"
        )
    curve = compile_curve(served, box, tensor_parallel, 1, LatencySpec(engine=arguments.engine))
    lengths = Lengths.of(arguments.prompt_tokens, arguments.output_tokens)
    each = max(arguments.concurrency * tensor_parallel / devices, 1.0)
    run = Run(served, box, tensor_parallel, curve, lengths, each, Serving(max_batch_size=max(each, 256)))
    if found.mean_w is None:
        raise SpecError("power: found devices in use without watts, expected readings of every one of them")
    idle = None if found.idle_w is None else found.idle_w / devices
    return calibrate_power(run, found.mean_w / devices, idle)


def _compared(calibration: PowerCalibration, found: LogFigures) -> dict[str, Any]:
    measured_w = (found.mean_w or 0.0) / len(found.used)
    fitted = calibration.accelerator
    replaced = ("idle_w", "power_base", "power_by_mbu", "power_by_mfu")
    return {
        "of": "mean watts of one accelerator",
        "measured_w": measured_w,
        "predicted_w": calibration.before_w,
        "error_before": calibration.before_w / measured_w - 1,
        "predicted_after_w": calibration.after_w,
        "error_after": calibration.after_w / measured_w - 1,
        "factor": calibration.factor,
        "replaced": {name: getattr(fitted, name) for name in replaced},
        "tdp_w": resolve_accelerator(calibration.machine).tdp_w,
    }


def _report(log: PowerLog, found: LogFigures, files: list[str], offset_s: float) -> dict[str, Any]:
    window = found.window
    return {
        "files": files,
        "formats": log.formats,
        "watts_are": log.reading,
        "times": log.zone,
        "rows": log.rows,
        "missing": {"readings": sum(log.missing.values()), "by_what_stood_there": log.missing},
        "window": {
            "from": window.start_s if log.paced else shown(window.start_s, offset_s),
            "to": window.end_s if log.paced else shown(window.end_s, offset_s),
            "seconds": window.seconds,
            "by": window.by,
        },
        "all": {name: getattr(found, name) for name in ("mean_w", "p50_w", "p99_w", "energy_j", "idle_w")},
        "devices": [asdict(device) for device in found.devices],
        "flags": {
            "counted": {effect: log.flags.total(effect) for effect in EFFECTS},
            "first": [str(flag) for flag in log.flags.listed],
        },
    }
