"""A pilot's results as a calibration of the machines that were measured: the design planned again with it says what it
would be with iterations as they are.

One mixed replica's results are fitted as any benchmark's. Of a pair each machine's own step is what its figure says by
the formulas of ``prediction.py`` turned round: a prompt's time S from TTFT = S + rho*S/(2*(1 - rho)), a decode's t from
TPOT = t + (transfer + t/2)/(o - 1), of a batch of rate*(o - 1)*t + 1.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from scipy.optimize import brentq

from simcore.calibration import Target, calibrate
from simcore.catalogue import resolve_model
from simcore.latency.calibrated import Calibration
from simcore.measurements import Measurements, ServingPoint, Setting, StepPoint
from simcore.pilot.part import Part, PilotPool
from simcore.pilot.prediction import serving, token_budget, transfer_s
from simcore.spec import SpecError
from simcore.steady_state.mean_iteration import Lengths

CLOSE = 1e-12


@dataclass(frozen=True)
class PoolCalibration:
    """Of the replica of one role."""

    role: str
    calibration: Calibration


def pilot_calibrations(part: Part, found: Measurements, today: datetime.date) -> list[PoolCalibration]:
    """One for each replica of the part, from the results of its runs; SpecError where a figure is missing. The
    fit begins from the roofline of the case's engine generation, also where its times are a table's."""
    return [_pool_calibration(part, pool, found, today) for pool in part.pools]


def _pool_calibration(part: Part, pool: PilotPool, found: Measurements, today: datetime.date) -> PoolCalibration:
    latency = next(p.latency or part.case.latency for p in part.case.pools if p.role == pool.role)
    if pool.pipeline_parallel > 1 and part.split:
        raise SpecError(f"pools: found {pool.role} with pipeline stages, expected one stage for a pair's steps")
    measured = _steps_alone(part, pool, found) if part.split else _at_degree(pool, found)
    target = Target(
        model=resolve_model(part.case.model),
        machine=pool.machine,
        engine=latency.engine,
        tensor_parallel=pool.tensor_parallel,
        token_budget=token_budget(part.case),
        max_batch_size=round(serving(part.case, pool).max_batch_size),
        precision_given=True,  # the kit's commands serve the model as it is
    )
    return PoolCalibration(pool.role, calibrate(measured, target, today))


def _at_degree(pool: PilotPool, found: Measurements) -> Measurements:
    """Results as they are, of the replica: the benchmark's own notes of hardware are the pilot's words for it."""
    return Measurements([_of(point, pool) for point in found.serving], [], found.sources, found.flags)


def _of(point: ServingPoint, pool: PilotPool) -> ServingPoint:
    return replace(point, setting=_setting(point, pool))


def _setting(point: ServingPoint, pool: PilotPool) -> Setting:
    return replace(point.setting, model=None, accelerator=None, tensor_parallel=pool.tensor_parallel, replicas=1)


def _steps_alone(part: Part, pool: PilotPool, found: Measurements) -> Measurements:
    turned = prefill_steps if pool.role == "prefill" else decode_steps
    return Measurements([], list(turned(part, pool, found.serving)), found.sources, found.flags)


def prefill_steps(part: Part, pool: PilotPool, points: Sequence[ServingPoint]) -> Iterable[StepPoint]:
    """A prompt's time by each result."""
    for point in points:
        rate, ttft_s = _needed(point, "rate_req_per_s"), _needed(point, "ttft_s")

        def off(seconds: float, rate: float = rate, ttft_s: float = ttft_s) -> float:
            share = rate * seconds
            return seconds + share * seconds / (2 * (1 - share)) - ttft_s

        most = min(ttft_s, (1 - CLOSE) / rate)
        seconds = float(brentq(off, 0.0, most)) if off(most) > 0 else most
        yield _step(point, pool, "prefill", 1, _needed(point, "prompt_tokens"), seconds)


def decode_steps(part: Part, pool: PilotPool, points: Sequence[ServingPoint]) -> Iterable[StepPoint]:
    """A decode iteration's time by each result."""
    for point in points:
        lengths = Lengths.of(_needed(point, "prompt_tokens"), _needed(point, "output_tokens"))
        if lengths.steps <= 0:
            continue
        sent_s = transfer_s(part, round(lengths.prompt))
        seconds = (_needed(point, "tpot_s") - sent_s / lengths.steps) / (1 + 1 / (2 * lengths.steps))
        if seconds <= 0:
            raise SpecError(
                f"{point.file}, {point.where}: found a TPOT of {point.tpot_s:.3g} s, expected more than the KV's"
                f" transfer spread over it, {sent_s / lengths.steps:.3g} s"
            )
        beside = _needed(point, "rate_req_per_s") * lengths.steps * seconds
        yield _step(point, pool, "decode", round(beside + 1), lengths.context, seconds)


def _step(point: ServingPoint, pool: PilotPool, kind: str, sequences: int, context: float, seconds: float) -> StepPoint:
    return StepPoint(
        *(point.file, point.where, kind, sequences, context, seconds, _setting(point, pool))  # type: ignore[arg-type]
    )


def _needed(point: ServingPoint, name: str) -> float:
    value: float | None = getattr(point, name)
    if value is None:
        raise SpecError(f"{point.file}, {point.where}: found no {name}, expected it of a pilot's result")
    return value
