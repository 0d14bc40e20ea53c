"""How far off the iteration times of a curve may be, whatever its source."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from simcore.catalogue import evidence_id, resolve_accelerator
from simcore.latency.calibrated import calibration_of
from simcore.latency.coefficients import ON_KERNELS
from simcore.latency.compile import compile_curve
from simcore.latency.curve import PS_PER_S, IterationCurve
from simcore.spec import LatencySpec, Machine, Model
from simcore.trust.calibrated_error import calibrated_errors
from simcore.trust.groups import Place, place_of
from simcore.trust.phase_error import PHASES, PhaseError, phase_error
from simcore.trust.tables import table_errors

TYPICAL: dict[str, tuple[list[tuple[int, int]], list[int]]] = {
    "prefill": ([(1024, 0)], []),
    "decode": ([], [1024] * 32),
    "hybrid": ([(512, 512)], [1024] * 32),
}
"""A batch of each phase: what a fixed time is a share of."""
HOST_S = 1e-3
"""``vllm-2026``'s host time is an estimate of 1.2 ms: engines were found at 0.4 to 2.3 ms (docs/decisions/0020), so it
may be off by so much where no whole engine was measured."""
CAP_SHARE = 0.5
"""What a power cap costs is a law or an assumption: it may be off by so much of itself."""


@dataclass(frozen=True)
class TimeError:
    """Of one curve, by phase, at 90 %."""

    key: str
    """Curves of one key are off alike: the error is of the software and hardware, not of a design."""
    phases: tuple[tuple[str, PhaseError], ...]
    """None where no error can be said: times that the user gives."""

    def longer(self, phase: str) -> float:
        """How much longer a phase's iterations may take, as a logarithm; 0 where no error is claimed."""
        return dict(self.phases)[phase].longer if self.phases else 0.0

    def shorter(self, phase: str) -> float:
        """How much less long."""
        return dict(self.phases)[phase].shorter if self.phases else 0.0

    def spans(self, phases: Iterable[str]) -> str:
        """``prefills -12 to +14 %, decodes ±6 %``: how true times may differ from predicted ones."""
        if not self.phases:
            return "times given by the user, for which no error is claimed"
        return ", ".join(f"{phase}s {span(dict(self.phases)[phase])}" for phase in phases)

    @property
    def basis(self) -> str:
        """What says so, of decodes; empty where nothing does."""
        return _basis(dict(self.phases)["decode"]) if self.phases else ""


def span(error: PhaseError) -> str:
    """``-12 to +14 %``, true over predicted time; ``±9 %`` where both are alike."""
    less, more = (round(100 * abs(math.expm1(of))) for of in (-error.shorter, error.longer))
    return f"±{more} %" if less == more else f"-{less} to +{more} %"


def _basis(error: PhaseError) -> str:
    points = f"{error.points} measured {'point' if error.points == 1 else 'points'}"
    return f"{points} of {'' if error.steps == 0 else 'the nearest, '}{error.where} ({error.source})"


def time_error(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, latency: LatencySpec
) -> TimeError:
    """Of a curve at 90 %: what its source was compared with, nearest to this model, machine, TP and precision."""
    of = _time_error if latency.path is None else _time_error.__wrapped__  # a user's file may change
    return of(model, machine, tensor_parallel, pipeline_parallel, latency)


@lru_cache(maxsize=256)
def _time_error(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, latency: LatencySpec
) -> TimeError:
    accelerator = evidence_id(resolve_accelerator(machine))
    key = f"{latency.source} {latency.engine} {latency.path or ''} {accelerator} {tensor_parallel} {pipeline_parallel}"
    if latency.source == "curve":
        return TimeError(f"{key} {hash(latency)}", ())
    curve = compile_curve(model, machine, tensor_parallel, pipeline_parallel, latency)
    if latency.source == "measured":
        found = table_errors(model, machine, tensor_parallel, latency)
    elif latency.source == "calibrated":
        own = calibrated_errors(model, machine, tensor_parallel, pipeline_parallel, latency)
        engine = calibration_of(latency).engine
        key = f"{key} {own.key}"
        found = own.with_roofline(_roofline(model, accelerator, tensor_parallel, engine, curve))
    else:
        found = _roofline(model, accelerator, tensor_parallel, latency.engine, curve)
    cap = _cap(model, machine, tensor_parallel, pipeline_parallel, latency, curve)
    phases = {phase: error if phase == "decode" else error.also(cap) for phase, error in found.items()}
    return TimeError(key, tuple(phases.items()))


def _roofline(
    model: Model, accelerator: str, tensor_parallel: int, engine: str, curve: IterationCurve
) -> dict[str, PhaseError]:
    """By phase; for hybrids that nobody measured the worse of prefills and decodes."""
    place = place_of(model, accelerator, tensor_parallel)
    whole = {phase: error for phase in PHASES if (error := phase_error(place, phase, engine)) is not None}
    found = _with_device_times(whole, place, curve) if engine in ON_KERNELS else whole
    worse = max(found.values(), key=lambda one: one.longer)
    return {phase: found.get(phase, worse) for phase in PHASES}


def _with_device_times(whole: dict[str, PhaseError], place: Place, curve: IterationCurve) -> dict[str, PhaseError]:
    """Device times, with the doubt about the host's, stand in for whole engines that were measured more than one thing
    further away. What whole engines take longer for decodes is the host's, and comes with every iteration."""
    found = {}
    decode = whole.get("decode")
    host_s = max(HOST_S, math.expm1(decode.longer) * _typical_s(curve, "decode") if decode else 0.0)
    for phase in PHASES:
        device, error = phase_error(place, phase, "kernel"), whole.get(phase)
        if device is not None and (error is None or error.steps > device.steps + 1):
            error = device.also(math.log1p(host_s / _typical_s(curve, phase)))
        if error is not None:
            found[phase] = error
    return found


def _typical_s(curve: IterationCurve, phase: str) -> float:
    return curve.iteration_ps(*TYPICAL[phase]) / PS_PER_S


def _cap(
    model: Model,
    machine: Machine,
    tensor_parallel: int,
    pipeline_parallel: int,
    latency: LatencySpec,
    curve: IterationCurve,
) -> float:
    """Of what the machine's power cap adds to a prefill."""
    if machine.power_cap_w is None:
        return 0.0
    free = replace(machine, power_cap_w=None, prefill_slowdown=None)
    uncapped = compile_curve(model, free, tensor_parallel, pipeline_parallel, latency)
    return CAP_SHARE * abs(math.log(_typical_s(curve, "prefill") / _typical_s(uncapped, "prefill")))
