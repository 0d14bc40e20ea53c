"""How far off a roofline's iterations of one phase may be at a place, by what was measured there or nearest to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from simcore.trust.groups import ErrorGroup, Place, between, error_groups, pooled

LEVEL = 0.90
"""Of every interval: the truth is outside one time in ten, half of them above it and half below."""
NORMAL = 1.6448536
"""Standard deviations either side of a normal's mean that hold the level."""
FITTED_ELSEWHERE = 2.0
"""Errors at points that coefficients were found from are small by construction: of a place that was not measured, and
has no other evidence, they are taken so many times."""
LEAST_POINTS = 5
"""Fewer say little of a place: those of the next nearest count with them."""
PHASES = {"prefill": ("prefill", "ttft"), "decode": ("decode", "tpot"), "hybrid": ("hybrid",)}
"""Of batches → of measurements, the first that there are: TPOT and TTFT are of whole engines."""


@dataclass(frozen=True)
class PhaseError:
    """ln(true / predicted) is within ``mean`` ± ``half`` at the level; and it may always be 0, for that is what is
    predicted."""

    mean: float
    half: float
    points: int
    groups: int
    steps: int
    """In how many things (``Place``) the nearest measured places differ."""
    where: str
    """Those places, in words."""
    source: str

    @property
    def longer(self) -> float:
        """How much longer iterations may take, as a logarithm; at least 0, as ``shorter``."""
        return max(self.mean + self.half, 0.0)

    @property
    def shorter(self) -> float:
        """How much less long."""
        return max(self.half - self.mean, 0.0)

    def also(self, half: float) -> PhaseError:
        """With another error, independent of it."""
        return replace(self, half=math.hypot(self.half, half))

    def joined(self, other: PhaseError) -> PhaseError:
        """With another error of the same times, independent of it and not even either: each side reaches at least as
        far as that of both."""
        longer, shorter = math.hypot(self.longer, other.longer), math.hypot(self.shorter, other.shorter)
        return replace(self, mean=(longer - shorter) / 2, half=(longer + shorter) / 2)


def phase_error(place: Place, phase: str, engine: str) -> PhaseError | None:
    """Of a phase's iteration times."""
    return nearest_error(place, PHASES[phase], engine)


def nearest_error(place: Place, names: Sequence[str], engine: str) -> PhaseError | None:
    """Of the first of ``names`` that was measured, from the places of the engine generation that differ in the fewest
    things and have enough points together; None without any.

    At the place itself: mean and spread of its points, of those that no coefficient was found from where there are
    any. Elsewhere: over the nearest places, each counted once, and as much again for each further thing in which they
    differ (variances add). Few points or places widen it as Student's t does.
    """
    named = ([group for group in error_groups(engine) if group.phase == name] for name in names)
    groups = next(filter(None, named), [])
    if not groups:
        return None
    steps, nearest = _nearest(place, groups)
    points = sum(group.points for group in nearest)
    if steps == 0:
        mean, spread = pooled(nearest)
        half = student(points) * spread
    else:
        mean, spread = between(nearest)
        again = FITTED_ELSEWHERE if all(group.fitted for group in nearest) else 1.0
        half = student(len(nearest)) * spread * again * math.sqrt(steps)
    return PhaseError(mean, half, points, len(nearest), steps, _where(nearest), nearest[0].source)


def _nearest(place: Place, groups: Sequence[ErrorGroup]) -> tuple[int, list[ErrorGroup]]:
    """The groups of no more steps than it takes for enough points, and these steps."""
    most = max(group.place.steps_from(place) for group in groups)
    for steps in range(most + 1):
        within = _judged([group for group in groups if group.place.steps_from(place) <= steps])
        if sum(group.points for group in within) >= LEAST_POINTS:
            return steps, within
    return most, _judged(groups)


def student(count: int) -> float:
    """The normal quantile widened for a spread found from so many values: Cornish and Fisher's expansion of Student's
    t; of one or two values as of three."""
    z, n = NORMAL, max(count, 3)
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n * n)


def _judged(groups: Sequence[ErrorGroup]) -> list[ErrorGroup]:
    """Those that no coefficient was found from, where there are any."""
    return [group for group in groups if not group.fitted] or list(groups)


def _where(groups: Sequence[ErrorGroup]) -> str:
    places = list(dict.fromkeys(str(group.place) for group in groups))
    return places[0] if len(places) == 1 else f"{places[0]} and {len(places) - 1} more"
