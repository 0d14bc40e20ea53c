"""What a study's answer took to simulate: for its evidence line, frontier.json and the API. Results only, no engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from simcore.evaluation import Evaluation


@dataclass(frozen=True)
class Spent:
    """Sums over a study's designs."""

    simulations: int
    requests_simulated: int
    events: int
    """Arrivals, selections of a batch, finishes, transfers."""
    events_a_capacity: float | None
    """The mean of the designs whose capacity was searched, with their run at the required rate; None without any."""


def spent(evaluations: Iterable[Evaluation]) -> Spent:
    """Of all that a study knows, whoever simulated it."""
    every = list(evaluations)
    searched = [found.events for found in every if found.status == "evaluated"]
    return Spent(
        sum(found.simulations for found in every),
        sum(found.requests_simulated for found in every),
        sum(found.events for found in every),
        sum(searched) / len(searched) if searched else None,
    )
