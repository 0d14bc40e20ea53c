"""``calibrate``: benchmark files to a calibration with its residuals, its error before and after, and its range."""

from __future__ import annotations

import datetime
import math
import statistics
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simcore.calibration.fit import Fit, Model, fit
from simcore.calibration.held_out import held_out
from simcore.calibration.knobs import CLIENT, shipped_value
from simcore.calibration.observations import Load, Observation, Step, observations
from simcore.calibration.plausible import plausible
from simcore.calibration.selection import nothing_left, select
from simcore.calibration.target import Target, precision_of
from simcore.latency.calibrated import (
    FORMAT,
    Calibration,
    FittedFile,
    PhaseError,
    Replaced,
    Residual,
    Span,
    Validity,
)
from simcore.latency.formula import formula
from simcore.measurements import Measurements, Setting
from simcore.spec import SpecError

Array = npt.NDArray[np.float64]


def calibrate(found: Measurements, target: Target, today: datetime.date, most: int | None = None) -> Calibration:
    """The calibration of the target by what files hold; more is flagged on the way (``found.flags``). SpecError where
    nothing of the target is left, where a tensor parallel degree is not known, or where there are more than ``most``
    results."""
    serving, steps = select(found, target)
    settings = [point.setting for point in serving] + [point.setting for point in steps]
    every = plausible(target, observations(serving, steps, target, found.flags), found.flags)
    if not every:
        raise nothing_left(found, target)
    if most is not None and len(every) > most:
        raise SpecError(f"found {len(every)} results that can be used, expected at most {most} here")
    fitted = fit(target, every)
    residuals = _residuals(target, every, fitted)
    return Calibration(
        format=FORMAT,
        date=today.isoformat(),
        engine=target.engine,
        coefficients=fitted.coefficients,
        replaced=_replaced(target, fitted),
        validity=_validity(target, every),
        errors=_errors(residuals),
        residuals=residuals,
        sources=tuple(FittedFile(s.file, s.sha256, s.format, s.rows) for s in found.sources),
        measured_engine=_engine(target, settings),
        measured_dates=tuple(sorted({setting.date for setting in settings if setting.date})),
        token_budget=target.token_budget if serving else None,
        client_s=fitted.client_s,
        flagged=found.flags.total("row left out") + found.flags.total("not used"),
        formula=formula(),
    )


def _residuals(target: Target, every: Sequence[Observation], fitted: Fit) -> tuple[Residual, ...]:
    model = Model(target, every)
    before, after = model.predicted(model.shipped, 0.0), model.predicted(fitted.coefficients, fitted.client_s)
    out = held_out(target, every, fitted)
    rows, i = [], 0
    for one in every:
        for figure in one.figures:
            unseen = None if out is None else float(out[i])
            times = (figure.seconds, float(before[i]), float(after[i]), unseen)
            load = f"TP{one.tensor_parallel}, {one.load}"
            rows.append(Residual(one.file, one.where, figure.phase, load, *times))
            i += 1
    return tuple(rows)


def _errors(residuals: Sequence[Residual]) -> tuple[PhaseError, ...]:
    phases = dict.fromkeys(residual.phase for residual in residuals)
    return tuple(_error(phase, [r for r in residuals if r.phase == phase]) for phase in phases)


def _error(phase: str, rows: Sequence[Residual]) -> PhaseError:
    def mean(times: Sequence[float]) -> float:
        return sum(abs(t / r.measured_s - 1) for t, r in zip(times, rows, strict=True)) / len(rows)

    before, after = mean([r.before_s for r in rows]), mean([r.after_s for r in rows])
    unseen = [r.held_out_s for r in rows if r.held_out_s is not None]
    if len(unseen) < len(rows):
        return PhaseError(phase, len(rows), before, after)
    off = [math.log(r.measured_s / t) for t, r in zip(unseen, rows, strict=True)]
    return PhaseError(phase, len(rows), before, after, mean(unseen), statistics.fmean(off), statistics.pstdev(off))


def _replaced(target: Target, fitted: Fit) -> tuple[Replaced, ...]:
    shipped = Model(target, []).shipped
    return tuple(
        Replaced(knob.name, shipped_value(shipped, knob.name), shipped_value(fitted.coefficients, knob.name))
        for knob in fitted.freed
        if knob.name != CLIENT
    )


def _validity(target: Target, every: Sequence[Observation]) -> Validity:
    loads = [one for one in every if isinstance(one, Load)]
    steps = [one for one in every if isinstance(one, Step)]
    prompts = [one.lengths.prompt for one in loads] + [float(one.context_tokens) for one in steps]
    sequences = [one.served for one in loads] + [float(one.sequences) for one in steps]
    outputs = [one.lengths.steps + 1 for one in loads]
    return Validity(
        model=target.model.id,
        accelerator=target.accelerator.id,
        tensor_parallel=tuple(sorted({one.tensor_parallel for one in every})),
        prompt_tokens=_span(prompts),
        sequences=_span(sequences),
        output_tokens=_span(outputs) if outputs else None,
        power_cap_w=target.machine.power_cap_w,
        weight_precision=precision_of(target.model),
    )


def _span(values: Sequence[float]) -> Span:
    return Span(min(values), max(values))


def _engine(target: Target, settings: Sequence[Setting]) -> str | None:
    said = {" ".join(filter(None, (one.engine, one.engine_version))) for one in settings} - {""}
    return target.engine_version or ", ".join(sorted(said)) or None
