"""How far off a calibrated curve may be: as far as its fits were at the points that they did not see."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

from simcore.latency.calibrated import Calibration, PhaseError, calibration_of, outside
from simcore.spec import LatencySpec, Machine, Model
from simcore.trust import phase_error

PHASES = {"prefill": ("prefill", "TTFT"), "decode": ("decode", "TPOT")}
"""Of batches → of measured figures, the first that there are."""
SPREAD_OF_MEAN = math.sqrt(math.pi / 2)
"""A normal's standard deviation over its mean absolute error."""


@dataclass(frozen=True)
class CalibratedErrors:
    """What a calibration's own points say of a part, by phase."""

    phases: dict[str, phase_error.PhaseError]
    held_out: bool
    """Whether they are errors of this very part at points that no fit saw: then they stand alone. Else they come on top
    of what a roofline may be off by, since a fit that misses its own points does no better elsewhere."""
    key: str
    """Of the calibration's content."""

    def with_roofline(self, roofline: dict[str, phase_error.PhaseError]) -> dict[str, phase_error.PhaseError]:
        """The errors of this part, where a roofline's would be those. Hybrids that were not measured apart are off as
        the worse of the two phases."""
        if not self.held_out:
            return {phase: e.joined(self.phases[phase]) if phase in self.phases else e for phase, e in roofline.items()}
        found = roofline | self.phases
        known = [*self.phases.values()] if len(self.phases) == len(PHASES) else [*found.values()]
        return found | {"hybrid": max(known, key=lambda one: one.longer)}


def calibrated_errors(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, latency: LatencySpec
) -> CalibratedErrors:
    """Of a calibration on this part: mean and spread of ln(measured / predicted) held out (at the points of the fit
    where none were), few points widened as Student's t. What it says of hybrids is the worse of what it says of both.
    """
    calibration = calibration_of(latency)
    key = hashlib.sha256(repr(calibration.coefficients).encode()).hexdigest()[:12]
    named = {error.phase: error for error in calibration.errors}
    own = {phase: named[name] for phase, names in PHASES.items() if (name := _first(names, named)) is not None}
    inside = not outside(calibration, model, machine, tensor_parallel, pipeline_parallel)
    held = {phase: error for phase, error in own.items() if error.spread is not None}
    found = {phase: _error(error, calibration) for phase, error in (held if inside and held else own).items()}
    if inside and held:
        return CalibratedErrors(found, True, key)
    if found:
        found["hybrid"] = max(found.values(), key=lambda one: one.longer)
    return CalibratedErrors(found, False, key)


def _first(names: tuple[str, ...], named: dict[str, PhaseError]) -> str | None:
    """The first of them that was measured, with points held out before one without."""
    known = [name for name in names if name in named]
    return next((name for name in known if named[name].spread is not None), next(iter(known), None))


def _error(error: PhaseError, calibration: Calibration) -> phase_error.PhaseError:
    measured = calibration.validity
    where = f"{measured.model} on {measured.accelerator} TP{'/'.join(map(str, measured.tensor_parallel))}"
    held = error.spread is not None
    spread = error.spread if error.spread is not None else SPREAD_OF_MEAN * math.log1p(error.after)
    half = phase_error.student(error.points) * spread
    source = f"the calibration's own, {'held out' if held else 'at the points of its fit'}, {calibration.date}"
    return phase_error.PhaseError(error.bias, half, error.points, 1, 0, where, source)
