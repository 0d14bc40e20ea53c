"""How far off a calibrated curve may be: as far as its fits were at the points that they did not see."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from simcore.latency.calibrated import Calibration, PhaseError, calibration_of, outside
from simcore.spec import LatencySpec, Machine, Model
from simcore.trust import phase_error

PHASES = {"prefill": ("prefill", "TTFT"), "decode": ("decode", "TPOT")}
"""Of batches → of measured figures, the first that there are."""


@dataclass(frozen=True)
class CalibratedErrors:
    """By phase, of those that were held out; empty outside of what was measured."""

    phases: dict[str, phase_error.PhaseError]
    key: str
    """Of the calibration's content."""


def calibrated_errors(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, latency: LatencySpec
) -> CalibratedErrors:
    """Of a calibration on this part: mean and spread of ln(measured / predicted) held out, few points widened as
    Student's t. Another model, degree or formula than was measured has none of its own; hybrids were not measured apart
    and are off as the worse of the two."""
    calibration = calibration_of(latency)
    key = hashlib.sha256(repr(calibration.coefficients).encode()).hexdigest()[:12]
    if outside(calibration, model, machine, tensor_parallel, pipeline_parallel):
        return CalibratedErrors({}, key)
    named = {error.phase: error for error in calibration.errors if error.spread is not None}
    found = {
        phase: _error(named[name], calibration)
        for phase, names in PHASES.items()
        if (name := next((one for one in names if one in named), None)) is not None
    }
    if len(found) == len(PHASES):
        found["hybrid"] = max(found.values(), key=lambda one: one.longer)
    return CalibratedErrors(found, key)


def _error(error: PhaseError, calibration: Calibration) -> phase_error.PhaseError:
    measured = calibration.validity
    where = f"{measured.model} on {measured.accelerator} TP{'/'.join(map(str, measured.tensor_parallel))}"
    half = phase_error.student(error.points) * (error.spread or 0.0)
    source = f"the calibration's own, held out, {calibration.date}"
    return phase_error.PhaseError(error.bias, half, error.points, 1, 0, where, source)
