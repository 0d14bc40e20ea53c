"""What the roofline was compared with: the errors of one place and phase together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from simcore.latency.evidence import curve_of_group, measured_groups, points_of_group


@dataclass(frozen=True)
class ErrorGroup:
    """The points of one phase that were measured at one place. Errors are ln(predicted / measured)."""

    model: str
    accelerator: str
    tensor_parallel: int
    phase: str
    points: int
    bias: float
    spread: float
    """Standard deviation about the bias."""
    source: str

    @property
    def rms(self) -> float:
        """Bias and spread together: what a prediction there is off by."""
        return math.hypot(self.bias, self.spread)


def pooled(groups: Sequence[ErrorGroup]) -> float:
    """RMS error over all points of some groups of one place."""
    points = sum(group.points for group in groups)
    return math.sqrt(sum(group.points * group.rms**2 for group in groups) / points)


def between(groups: Sequence[ErrorGroup]) -> float:
    """RMS error of places, each counted once: what one that was not measured may be off by."""
    return math.sqrt(sum(group.rms**2 for group in groups) / len(groups))


@cache
def error_groups(engine: str) -> tuple[ErrorGroup, ...]:
    """Of one engine generation (``kernel`` or ``vllm-2023``)."""
    return tuple(group for place in measured_groups(engine) for group in _of_place(place, engine))


def _of_place(place: tuple[str, str, int], engine: str) -> list[ErrorGroup]:
    curve = curve_of_group(place, engine)
    errors: dict[str, list[float]] = {}
    for point in points_of_group(place, engine):
        errors.setdefault(point.kind, []).append(math.log(point.predicted_ms(curve) / point.measured_ms))
    source = points_of_group(place, engine)[0].source
    return [_group(place, phase, of, source) for phase, of in errors.items()]


def _group(place: tuple[str, str, int], phase: str, errors: list[float], source: str) -> ErrorGroup:
    bias = sum(errors) / len(errors)
    spread = math.sqrt(sum((error - bias) ** 2 for error in errors) / len(errors))
    return ErrorGroup(*place, phase, len(errors), bias, spread, source)
