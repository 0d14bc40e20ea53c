"""What rooflines were compared with: the residuals of validation, by place and phase (simcore/residuals.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache

from simcore.residuals import Residual, residuals
from simcore.spec import Model

LEAST_RATIO = 0.05
"""Of predicted over measured: below, a logarithm says nothing."""


@dataclass(frozen=True)
class Place:
    """Where a curve is of, or where something was measured."""

    model: str
    accelerator: str
    tensor_parallel: int
    precision: str
    """Of the weights."""
    software: str = "vllm"

    def steps_from(self, other: Place) -> int:
        """In how many of these they differ."""
        return sum(getattr(self, field.name) != getattr(other, field.name) for field in fields(self))

    def __str__(self) -> str:
        software = "" if self.software == "vllm" else f", {self.software}"
        return f"{self.model} on {self.accelerator} TP{self.tensor_parallel} in {self.precision}{software}"


@dataclass(frozen=True)
class ErrorGroup:
    """The points of one phase that were measured at one place. Errors are ln(measured / predicted)."""

    place: Place
    phase: str
    points: int
    mean: float
    """Above 0: what was measured took longer."""
    spread: float
    """Standard deviation about the mean."""
    fitted: bool
    """Whether coefficients were found from them."""
    source: str


def place_of(model: Model, accelerator: str, tensor_parallel: int) -> Place:
    """A catalogue's or a user's model; its experts' precision where it has experts, which are most of its weights."""
    return Place(model.id, accelerator, tensor_parallel, model.expert_precision or model.weight_precision)


def pooled(groups: Sequence[ErrorGroup]) -> tuple[float, float]:
    """Mean and standard deviation over all points of some groups."""
    points = sum(group.points for group in groups)
    mean = sum(group.points * group.mean for group in groups) / points
    squares = sum(group.points * (group.spread**2 + (group.mean - mean) ** 2) for group in groups)
    return mean, math.sqrt(squares / points)


def between(groups: Sequence[ErrorGroup]) -> tuple[float, float]:
    """The same with each group counted once: what a place that was not measured may be off by."""
    mean = sum(group.mean for group in groups) / len(groups)
    return mean, math.sqrt(sum(group.spread**2 + (group.mean - mean) ** 2 for group in groups) / len(groups))


@cache
def error_groups(engine: str) -> tuple[ErrorGroup, ...]:
    """Of one engine generation."""
    return tuple(_group(one) for one in residuals() if one.engine == engine)


def _group(one: Residual) -> ErrorGroup:
    software, *_, precision = one.variant.split()
    place = Place(one.model, one.accelerator, one.tensor_parallel, precision, software)
    ratio = max(1 + one.bias, LEAST_RATIO)
    return ErrorGroup(place, one.phase, one.rows, -math.log(ratio), one.spread / ratio, one.fitted, one.source)
