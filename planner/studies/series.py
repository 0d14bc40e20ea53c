"""Designs as points on a chart, and the families that they are drawn by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from planner.studies.axes import Plane
from simcore.rows import DesignRow

MAX_FAMILIES = 8
REST = "other families"


@dataclass(frozen=True)
class Ghost:
    """The chart as it was asked, behind what is supposed."""

    rows: Sequence[DesignRow]
    rate_req_per_s: float
    limit: float | None = None


@dataclass(frozen=True)
class Look:
    """What all charts of a result share."""

    rate_req_per_s: float
    answer_id: str | None = None
    family_names: Mapping[str, str] = field(default_factory=dict)
    hollow: frozenset[str] = frozenset()
    """Designs that break a limit of the question although they were simulated."""
    places: Mapping[str, int] = field(default_factory=dict)
    """Family → which colour and symbol it has; empty: as ``places_of`` says of the rows at hand."""


@dataclass(frozen=True, slots=True)
class Point:
    """A design that has a place on the chart."""

    row: DesignRow
    x: float
    y: float
    """0 where it holds no rate."""
    is_hollow: bool


@dataclass(frozen=True)
class Series:
    """A family, or all that are beyond the eighth, with its points and the steps of its own frontier."""

    index: int
    name: str
    points: tuple[Point, ...]
    steps: tuple[Point, ...]


def placed(rows: Iterable[DesignRow], plane: Plane, look: Look) -> list[Point]:
    """The designs that were evaluated, those that cannot run among them, where they have a place; of both merits, those
    that hold the required rate."""
    found = []
    for row in rows:
        x, y = plane.x.value(row), plane.y.value(row)
        if row.status == "screened" or x is None or (not plane.holds_rate and not holds(row, look)):
            continue
        found.append(Point(row, x, y or 0.0, is_hollow(row, look)))
    return found


def holds(row: DesignRow, look: Look) -> bool:
    """The required rate, limits of money, power and machines aside."""
    return bool(row.met) or (row.capacity_req_per_s or 0.0) >= look.rate_req_per_s


def is_hollow(row: DesignRow, look: Look) -> bool:
    return row.status in {"infeasible", "failed"} or row.design_id in look.hollow


def places_of(rows: Iterable[DesignRow], family_names: Mapping[str, str]) -> dict[str, int]:
    """Family → colour and symbol: the eight families of the best Perf/$, what is beyond as one; in the order of
    ``family_names``, which progress does not change, so that a family keeps its own while a study grows."""
    best: dict[str, float] = {}
    for row in rows:
        if row.status != "screened":
            best[row.family] = max(best.get(row.family, 0.0), row.req_per_usd or 0.0)
    ranked = sorted(best, key=lambda name: -best[name])
    kept = ranked if len(ranked) <= MAX_FAMILIES else ranked[: MAX_FAMILIES - 1]
    order = {name: place for place, name in enumerate(family_names)}
    steady = sorted(kept, key=lambda name: order.get(name, len(order)))
    rest = dict.fromkeys(ranked[len(kept) :], MAX_FAMILIES - 1)
    return {name: place for place, name in enumerate(steady)} | rest


def families(points: Sequence[Point], plane: Plane, look: Look) -> list[Series]:
    """Those of the points, each with its colour's number."""
    places = look.places or places_of((point.row for point in points), look.family_names)
    members: dict[int, list[Point]] = {}
    for point in points:
        members.setdefault(places.get(point.row.family, MAX_FAMILIES - 1), []).append(point)
    shared = len(places) > MAX_FAMILIES
    return [
        Series(index, _name(index, of, shared, look), tuple(of), tuple(envelope(of, plane)))
        for index, of in sorted(members.items())
    ]


def _name(index: int, points: Sequence[Point], shared: bool, look: Look) -> str:
    if shared and index == MAX_FAMILIES - 1:
        return REST
    return look.family_names.get(points[0].row.family, points[0].row.family)


def envelope(points: Iterable[Point], plane: Plane) -> list[Point]:
    """Those that no other beats, from left to right: that hold more than all that use no more of x; of two merits,
    those of which none has more of both."""
    found: list[Point] = []
    sign = 1 if plane.holds_rate else -1
    for point in sorted((point for point in points if point.y), key=lambda point: (sign * point.x, -point.y)):
        if not found or point.y > found[-1].y:
            found.append(point)
    return found[::sign]
