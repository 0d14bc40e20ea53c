"""From the question as it is to the values at which the order of families changes, one event after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from simcore.flips.field import Float64, Int64
from simcore.flips.quantities import STEP, Quantity, leaders

MOST_STEPS = 400
"""After so many events nothing more is said."""


@dataclass(frozen=True)
class Stretch:
    """Values between which each family's best and their order stay as they are."""

    leaders: Int64
    """The best design of each family, the goal's best first."""
    start: float
    end: float
    """The farthest value; where nothing changes within the range any more, its end."""


def stretches(quantity: Quantity, upward: bool) -> Iterator[Stretch]:
    """From the question as it is up (or down) to the end of the range."""
    asked, at = quantity.asked, quantity.asked.now
    end, beyond = (asked.most, 1 + STEP) if upward else (asked.least, 1 - STEP)
    start = at
    for _ in range(MOST_STEPS):
        now = leaders(quantity, at)
        event = _next(quantity.events(at, now), at, end, beyond)
        yield Stretch(now, start, end if event is None else event)
        if event is None:
            return
        start, at = event, event * beyond


def _next(events: Float64, at: float, end: float, beyond: float) -> float | None:
    """The nearest on the way to ``end``; one at ``at`` itself counts where a step leads beyond it."""
    upward = beyond > 1
    if upward:
        ahead = events[(events >= at) & (events * beyond > at) & (events < end)]
        return float(ahead.min()) if len(ahead) else None
    ahead = events[(events <= at) & (events * beyond < at) & (events > end)]
    return float(ahead.max()) if len(ahead) else None
