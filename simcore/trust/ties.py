"""Which designs what is known cannot tell from the answer.

Two are tied where their intervals of what the goal compares (requests a dollar, requests/s a kW, a machine) overlap,
once what moves both alike is taken out: an error of a curve that both use shifts them together and cannot reverse
their order; only how differently they answer to it counts, phase by phase. Designs that differ by counts of machines
alone are not tied: more hold more, whatever is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping

from simcore.rows import DesignRow
from simcore.shortfalls import machines
from simcore.trust.margins import Effect, Margin, joined

MERITS = {
    "cost": "requests a dollar",
    "frontier": "requests a dollar",
    "power": "requests/s a kW",
    "machines": "requests/s a machine",
    "throughput": "requests/s",
}
"""Goal → what it compares, in words."""


def merit(row: DesignRow, goal: str, watts: float) -> float:
    """What the goal compares of a design, to be high; ``watts`` are of the figure that the question chose."""
    capacity = row.capacity_req_per_s or 0.0
    figures = {
        "cost": row.req_per_usd,
        "frontier": row.req_per_usd,
        "power": capacity / (watts / 1000),
        "machines": capacity / max(machines(row), 1),
        "throughput": capacity,
    }
    return figures[goal] or 0.0


def overlap(first: Margin, second: Margin, ratio: float) -> bool:
    """Whether the intervals of two figures overlap, of which the first is ``ratio`` times the second by what was
    simulated."""
    if ratio < 1:
        return overlap(second, first, 1 / ratio)
    mine, theirs = ({effect.key: effect for effect in one.effects} for one in (first, second))
    down = joined(first.noise_down, [effect.down for key, effect in mine.items() if key not in theirs])
    up = joined(second.noise_up, [effect.up for key, effect in theirs.items() if key not in mine])
    apart = joined(0.0, [_apart(mine[key], theirs[key]) for key in mine if key in theirs])
    return math.log(ratio) <= down + up + apart


def apart(first: Margin, second: Margin) -> tuple[float, float]:
    """How far the first's capacity over the second's may be lower, and higher, than was simulated: in logarithms, at
    90 %. What moves both alike is left out; the rest is independent."""
    return _lower(first, second), _lower(second, first)


def _lower(first: Margin, second: Margin) -> float:
    mine, theirs = ({effect.key: effect for effect in one.effects} for one in (first, second))
    alone = [effect.down for key, effect in mine.items() if key not in theirs]
    beside = [effect.up for key, effect in theirs.items() if key not in mine]
    shared = [_apart(mine[key], theirs[key]) for key in mine if key in theirs]
    return joined(first.noise_down, [second.noise_up, *alone, *beside, *shared])


def _apart(first: Effect, second: Effect) -> float:
    """By how much one curve's error may bring the first down against the second: phase by phase, for what is wrong with
    hybrid batches does not concern a design without them."""
    theirs = {phase: (longer, shorter) for phase, longer, shorter in second.phases}
    found = []
    for phase, longer, shorter in first.phases:
        other_longer, other_shorter = theirs[phase]
        found.append(-min(longer - other_longer, shorter - other_shorter, 0.0))
    return joined(0.0, found)


def tied_designs(
    winner: DesignRow, rows: Iterable[DesignRow], margins: Mapping[str, Margin], goal: str, watts: Mapping[str, float]
) -> frozenset[str]:
    """Those of ``rows`` that are tied with the answer, by id."""
    own = margins.get(winner.design_id)
    if own is None:
        return frozenset()
    return frozenset(
        row.design_id
        for row in rows
        if (other := margins.get(row.design_id)) is not None and are_tied(winner, row, own, other, goal, watts)
    )


def are_tied(
    first: DesignRow, second: DesignRow, mine: Margin, theirs: Margin, goal: str, watts: Mapping[str, float]
) -> bool:
    """Whether what is known does not tell two designs apart in what the goal compares."""
    best, other = (merit(row, goal, watts[row.design_id]) for row in (first, second))
    return kind_of(first) != kind_of(second) and min(best, other) > 0 and overlap(mine, theirs, best / other)


def kind_of(row: DesignRow) -> Hashable:
    """Designs of one kind differ by counts of machines alone."""
    parallel = (row.tensor_parallel, row.pipeline_parallel, row.decode_tensor_parallel, row.decode_pipeline_parallel)
    return row.family, *parallel, row.token_budget
