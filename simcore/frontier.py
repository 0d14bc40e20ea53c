"""Frontiers: the evaluated designs that no other evaluated design beats (DESIGN.md section 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """A design on a chart: x to be low (money or power), y to be high (requests/s held)."""

    design_id: str
    x: float
    y: float


def dominators(points: Sequence[Point]) -> dict[str, str | None]:
    """For each design the id of one that beats it, None for those on the frontier.

    a beats b: a.x <= b.x and a.y >= b.y, one of them strictly. Named is the frontier's design that holds the most for
    no more x than b's. Designs equal in both stand together: neither beats the other. O(n log n).
    """
    result: dict[str, str | None] = {}
    best: Point | None = None
    for point in sorted(points, key=lambda p: (p.x, -p.y, p.design_id)):
        beaten = best is not None and best.y >= point.y and (best.x, best.y) != (point.x, point.y)
        result[point.design_id] = best.design_id if beaten and best is not None else None
        if best is None or point.y > best.y:
            best = point
    return result
