"""Lines through the origin of a frontier chart: all designs on one have the same Perf/$, or Perf/W."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from planner.studies.axes import Plane
from planner.studies.series import Point

RAYS = 4
STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)


def rays(points: Sequence[Point], plane: Plane) -> list[float]:
    """Round figures, from the best of the points down; none where the chart has no such lines."""
    if plane.ray_words is None:
        return []
    best = max((point.y / point.x for point in points if point.x > 0), default=0.0) * plane.ray_scale
    if best <= 0:
        return []
    decade = math.floor(math.log10(best))
    round_ones = [step * 10.0**power for power in (decade - 1, decade) for step in STEPS]
    return [figure for figure in round_ones if figure <= 1.02 * best][-RAYS:]


def ray_shapes(figures: Sequence[float], plane: Plane, right: float, top: float) -> list[dict[str, Any]]:
    """From the origin to the chart's edge."""
    shapes = []
    for figure in figures:
        x, y = _end(figure / plane.ray_scale, right, top)
        line = {"width": 1, "dash": "dot", "color": "#000000"}
        shapes.append(
            {"type": "line", "name": "ray", "x0": 0, "y0": 0, "x1": x, "y1": y, "layer": "below", "line": line}
        )
    return shapes


def ray_notes(figures: Sequence[float], plane: Plane, right: float, top: float) -> list[dict[str, Any]]:
    """What each line stands for, where it leaves the chart."""
    notes = []
    for figure in figures:
        x, y = _end(figure / plane.ray_scale, right, top)
        at_top = y >= top * (1 - 1e-9)
        words = plane.ray_words(figure) if plane.ray_words else ""
        notes.append(
            {"name": "ray", "text": words, "x": x, "y": y, "showarrow": False}
            | {"xanchor": "center" if at_top else "right", "yanchor": "bottom"}
        )
    return notes


def _end(slope: float, right: float, top: float) -> tuple[float, float]:
    return (top / slope, top) if slope * right > top else (right, slope * right)
