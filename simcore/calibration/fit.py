"""The fit: least squares with a robust loss on the figures' log ratios, and a prior on each coefficient.

Which coefficients move is decided by what the figures hold: one after the other is freed, the best determined first,
as long as the figures (at their noise) narrow its prior to ``DETERMINED`` of itself while those freed before stay that
narrow. So two results at one load move one coefficient, and a sweep over batches and prompts moves many; what results
cannot tell apart (a layer's overhead from the host's) moves once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from simcore.calibration.knobs import Knob, client_s, shipped_value, turned, usable
from simcore.calibration.observations import NOISE, Observation
from simcore.calibration.target import Target
from simcore.latency.coefficients import Coefficients, coefficients_of
from simcore.latency.curve import IterationCurve
from simcore.latency.roofline import roofline_curve

DETERMINED = 0.8
STEP = 0.02
"""Of a standard deviation, for derivatives: curves are in whole ps, much less would be lost in their rounding."""
CLOSE, EDGE = 1e-4, 1e-10
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """Coefficients, and which knobs made them."""

    coefficients: Coefficients
    turns: dict[Knob, float]
    """By how much each knob was turned that was freed."""
    client_s: float

    @property
    def freed(self) -> tuple[Knob, ...]:
        """The knobs that the figures determine."""
        return tuple(self.turns)


class Model:
    """Figures as a function of knobs."""

    def __init__(self, target: Target, every: Sequence[Observation]) -> None:
        self.target, self.every = target, every
        self.shipped = coefficients_of(target.accelerator, target.engine)
        self.measured = np.array([figure.seconds for one in every for figure in one.figures])
        self.noise = np.array([NOISE[figure.phase] for one in every for figure in one.figures])

    def predicted(self, fitted: Coefficients, client: float) -> Array:
        """All figures, by these coefficients."""
        curves = {degree: self._curve(degree, fitted) for degree in {one.tensor_parallel for one in self.every}}
        times = [one.predicted_s(curves[one.tensor_parallel], client) for one in self.every]
        return np.array([seconds for each in times for seconds in each])

    def errors(self, knobs: Sequence[Knob], at: Array) -> Array:
        """Log ratios in units of noise."""
        by = dict(zip(knobs, (float(x) for x in at), strict=True))
        predicted = self.predicted(turned(self.shipped, by), client_s(by))
        found: Array = np.log(predicted / self.measured) / self.noise
        return found

    def _curve(self, degree: int, fitted: Coefficients) -> IterationCurve:
        return roofline_curve(self.target.model, self.target.machine, degree, 1, self.target.engine, fitted)


def fit(target: Target, every: Sequence[Observation]) -> Fit:
    """The coefficients that explain the observations best, as near to the shipped ones as they let."""
    model = Model(target, every)
    phases = {figure.phase for one in every for figure in one.figures}
    degrees = {one.tensor_parallel for one in every}
    candidates = usable(model.shipped, degrees, with_ttft=bool(phases & {"TTFT", "E2E"}))
    start = dict(zip(candidates, _solved(model, dict.fromkeys(candidates, 0.0)), strict=True))
    freed = _determined(model, candidates, np.array(list(start.values())))
    return refit(model, {knob: float(start[knob]) for knob in freed})


def refit(model: Model, start: Mapping[Knob, float]) -> Fit:
    """The fit with these knobs alone, from where they are."""
    by = dict(zip(start, (float(x) for x in _solved(model, start)), strict=True))
    return Fit(turned(model.shipped, by), by, client_s(by))


def _solved(model: Model, start: Mapping[Knob, float]) -> Array:
    knobs = list(start)
    if not knobs:
        return np.zeros(0)
    figures = len(model.measured)

    def residuals(at: Array) -> Array:
        return np.concatenate([model.errors(knobs, at), at])

    def loss(squares: Array) -> Any:
        """Soft L1 on the figures, squares on the priors."""
        root = np.sqrt(1 + squares[:figures])
        value = np.concatenate([2 * (root - 1), squares[figures:]])
        first = np.concatenate([1 / root, np.ones(len(knobs))])
        second = np.concatenate([-0.5 / root**3, np.zeros(len(knobs))])
        return np.array([value, first, second])

    shipped = [shipped_value(model.shipped, knob.name) for knob in knobs]

    def slopes(at: Array) -> Array:
        return np.concatenate([_slopes(model, knobs, at), np.eye(len(knobs))])

    least = np.array([knob.least(value) for knob, value in zip(knobs, shipped, strict=True)])
    most = np.array([knob.most(value) for knob, value in zip(knobs, shipped, strict=True)])
    begin = np.clip(np.array(list(start.values())), least + EDGE, most - EDGE)
    found = least_squares(residuals, begin, jac=slopes, bounds=(least, most), loss=loss, ftol=CLOSE, xtol=CLOSE)
    solved: Array = found.x
    return solved


def _determined(model: Model, candidates: Sequence[Knob], at: Array) -> list[Knob]:
    """The knobs that the figures narrow, in the order of how well."""
    slopes = _slopes(model, candidates, at)
    freed: list[int] = []
    while True:
        spreads = {i: _spreads(slopes[:, [*freed, i]]) for i in range(len(candidates)) if i not in freed}
        good = {i: spread[-1] for i, spread in spreads.items() if max(spread) < DETERMINED}
        if not good:
            return [candidates[i] for i in freed]
        freed.append(min(good, key=lambda i: good[i]))


def _slopes(model: Model, knobs: Sequence[Knob], at: Array) -> Array:
    here = model.errors(knobs, at)
    columns = []
    for i in range(len(knobs)):
        moved = at.copy()
        moved[i] += STEP
        columns.append((model.errors(knobs, moved) - here) / STEP)
    return np.array(columns).T


def _spreads(slopes: Array) -> list[float]:
    """What is left of each prior's standard deviation, given the figures."""
    covariance = np.linalg.inv(slopes.T @ slopes + np.eye(slopes.shape[1]))
    return [float(x) for x in np.sqrt(np.diag(covariance))]
