"""Designs as points on a chart, and the families that they are drawn by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from planner.studies.axes import Axis
from simcore.rows import DesignRow

MAX_FAMILIES = 8
REST = "other families"


@dataclass(frozen=True)
class Look:
    """What both charts of a result share."""

    rate_req_per_s: float
    answer_id: str | None = None
    family_names: Mapping[str, str] = field(default_factory=dict)
    hollow: frozenset[str] = frozenset()
    """Designs that break a limit of the question although they were simulated."""


@dataclass(frozen=True, slots=True)
class Point:
    """A design that has a place on the chart."""

    row: DesignRow
    x: float
    held: float
    """Requests/s, 0 where it holds none."""
    is_hollow: bool


@dataclass(frozen=True)
class Series:
    """A family, or all that are beyond the eighth, with its points and the steps of its own frontier."""

    index: int
    name: str
    points: tuple[Point, ...]
    steps: tuple[Point, ...]


def placed(rows: Iterable[DesignRow], axis: Axis, look: Look) -> list[Point]:
    """The designs that were evaluated, those that cannot run among them, where they have a value on the axis."""
    return [
        Point(row, x, row.capacity_req_per_s or 0.0, is_hollow(row, look))
        for row in rows
        if row.status != "screened" and (x := axis.value(row)) is not None
    ]


def is_hollow(row: DesignRow, look: Look) -> bool:
    return row.status in {"infeasible", "failed"} or row.design_id in look.hollow


def families(points: Sequence[Point], look: Look) -> list[Series]:
    """The eight families of the best Perf/$, what is beyond as one; in the order of ``family_names``, which
    progress does not change, so that a family keeps its colour and symbol while a study grows."""
    members: dict[str, list[Point]] = {}
    for point in points:
        members.setdefault(point.row.family, []).append(point)
    ranked = sorted(members, key=lambda name: -max(point.row.req_per_usd or 0 for point in members[name]))
    kept = ranked if len(ranked) <= MAX_FAMILIES else ranked[: MAX_FAMILIES - 1]
    places = {name: place for place, name in enumerate(look.family_names)}
    steady = sorted(kept, key=lambda name: places.get(name, len(places)))
    named = [(look.family_names.get(name, name), members[name]) for name in steady]
    rest = [point for name in ranked[len(kept) :] for point in members[name]]
    every = [*named, (REST, rest)] if rest else named
    return [Series(index, name, tuple(of), tuple(envelope(of))) for index, (name, of) in enumerate(every)]


def envelope(points: Iterable[Point]) -> list[Point]:
    """Those that hold more than everything that uses no more of x, from left to right."""
    found: list[Point] = []
    for point in sorted((point for point in points if point.held), key=lambda point: (point.x, -point.held)):
        if not found or point.held > found[-1].held:
            found.append(point)
    return found
