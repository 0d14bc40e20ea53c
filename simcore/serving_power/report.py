"""What power logs say of a run, as the command and the pages tell it, and the power model against it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from simcore.catalogue import resolve_accelerator
from simcore.latency.compile import compile_curve
from simcore.measurements.points import Effect
from simcore.measurements.power_logs.figures import LogFigures
from simcore.measurements.power_logs.samples import PowerLog
from simcore.measurements.power_logs.times import seconds, shown
from simcore.power import power_coefficients
from simcore.serving_power.calibrated import PowerCalibration, Run, calibrate_power
from simcore.spec import LatencySpec, Machine, Model, SpecError
from simcore.steady_state.mean_iteration import Lengths, Serving

EFFECTS: tuple[Effect, ...] = ("row left out", "not used", "noted")
REPLACED = ("idle_w", "power_base", "power_by_mbu", "power_by_mfu")
"""Figures of an accelerator that a log replaces."""


@dataclass(frozen=True)
class LoggedRun:
    """What ran on the devices while their power was logged."""

    model: Model
    machine: Machine
    tensor_parallel: int
    concurrency: float
    """Requests in flight on all logged devices."""
    prompt_tokens: int
    """Mean of the run's requests, as the output's."""
    output_tokens: int
    latency: LatencySpec


def time_in_log(option: str, text: str | None, offset_s: float, log: PowerLog) -> float | None:
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


def calibrated(run: LoggedRun, found: LogFigures) -> PowerCalibration:
    """The run's machine with what was measured; SpecError where the log's devices cannot have been the run's."""
    devices, tensor_parallel = len(found.used), run.tensor_parallel
    if devices % tensor_parallel:
        raise SpecError(
            f"--tensor-parallel: found {tensor_parallel}, expected a divisor of the {devices} devices in use"
        )
    if found.mean_w is None:
        raise SpecError("power: found devices in use without watts, expected readings of every one of them")
    curve = compile_curve(run.model, run.machine, tensor_parallel, 1, run.latency)
    lengths = Lengths.of(run.prompt_tokens, run.output_tokens)
    each = max(run.concurrency * tensor_parallel / devices, 1.0)
    served = Run(run.model, run.machine, tensor_parallel, curve, lengths, each, Serving(max_batch_size=max(each, 256)))
    idle = None if found.idle_w is None else found.idle_w / devices
    return calibrate_power(served, found.mean_w / devices, idle)


def compared(run: LoggedRun, calibration: PowerCalibration, found: LogFigures) -> dict[str, Any]:
    """Mean watts of one accelerator, measured and predicted before and after."""
    measured_w = (found.mean_w or 0.0) / len(found.used)
    shipped, fitted = resolve_accelerator(run.machine), calibration.accelerator
    before = power_coefficients(shipped)
    return {
        "of": "mean watts of one accelerator",
        "measured_w": measured_w,
        "predicted_w": calibration.before_w,
        "error_before": calibration.before_w / measured_w - 1,
        "predicted_after_w": calibration.after_w,
        "error_after": calibration.after_w / measured_w - 1,
        "factor": calibration.factor,
        "shipped": {
            "idle_w": shipped.idle_w,
            "power_base": before.base,
            "power_by_mbu": before.by_mbu,
            "power_by_mfu": before.by_mfu,
        },
        "replaced": {name: getattr(fitted, name) for name in REPLACED},
        "tdp_w": fitted.tdp_w,
    }


def report(log: PowerLog, found: LogFigures, files: Sequence[str], offset_s: float) -> dict[str, Any]:
    """All that the log says, in plain JSON."""
    window = found.window
    return {
        "files": list(files),
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
