"""The lines and points of a frontier chart, as Plotly's traces."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from planner.studies.axes import Plane
from planner.studies.chart_words import hover
from planner.studies.series import Look, Point, Series, envelope

Trace = dict[str, Any]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#948C00")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "pentagon", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash")
FAINT = 0.35


def traces(
    points: Sequence[Point], every: Sequence[Series], behind: Sequence[Point], plane: Plane, look: Look
) -> list[Trace]:
    """What was asked, faintly, where it differs; the frontier of all, each family with its points, and a ring around
    the answer."""
    found = [_ghost(behind, points, plane), _frontier(points, plane)]
    for series in every:
        found += _family(series, plane)
    if answer := next((point for point in points if point.row.design_id == look.answer_id), None):
        found.append(_answer(answer, plane))
    return [trace for trace in found if trace["x"]]


def _ghost(behind: Sequence[Point], points: Sequence[Point], plane: Plane) -> Trace:
    """The frontier as it was asked; nothing where it is the same."""
    before, now = envelope(behind, plane), envelope(points, plane)
    same = [(point.x, point.y) for point in before] == [(point.x, point.y) for point in now]
    line = {"shape": shape_of(plane), "width": 3, "color": "#000000", "dash": "dot"}
    return stepped("as it was asked", {"role": "ghost"}, [] if same else before, line)


def _frontier(points: Sequence[Point], plane: Plane) -> Trace:
    line = {"shape": shape_of(plane), "width": 7, "color": "#000000"}
    return stepped("frontier", {"role": "frontier"}, envelope(points, plane), line) | {"opacity": 0.22}


def shape_of(plane: Plane) -> str:
    """How a frontier steps from a point to the next on its right."""
    return "hv" if plane.holds_rate else "vh"


def _family(series: Series, plane: Plane) -> list[Trace]:
    index, best = series.index, {point.row.design_id for point in series.steps}
    line = {"shape": shape_of(plane), "width": 1.75, "color": COLOURS[index], "dash": DASHES[index]}
    steps = stepped(escape(series.name), {"role": "family", "series": index}, series.steps, line)
    solid = [point for point in series.points if point.y and not point.is_hollow]
    points = _points(series, solid, plane, SYMBOLS[index])
    points["marker"] |= {
        "size": [9 if point.row.design_id in best else 6 for point in solid],
        "opacity": [1.0 if point.row.design_id in best else FAINT for point in solid],
    }
    hollow = _points(series, [point for point in series.points if point.is_hollow], plane, f"{SYMBOLS[index]}-open")
    return [
        steps | {"legendgroup": str(index)},
        points | {"showlegend": bool(solid)},
        hollow | {"showlegend": not solid},
    ]


def stepped(name: str, meta: Trace, points: Sequence[Point], line: Trace) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "meta": meta,
        "x": [point.x for point in points],
        "y": [point.y for point in points],
        "line": line,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _points(series: Series, points: Sequence[Point], plane: Plane, symbol: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(series.name),
        "meta": {"role": "designs", "series": series.index},
        "x": [point.x for point in points],
        "y": [point.y for point in points],
        "customdata": [point.row.design_id for point in points],
        "text": [hover(point, plane) for point in points],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": symbol, "color": COLOURS[series.index], "size": 7},
        "legendgroup": str(series.index),
        "cliponaxis": False,
        **_unseen(whiskers(points, plane)),
    }


def _answer(point: Point, plane: Plane) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "the answer",
        "meta": {"role": "answer"},
        "x": [point.x],
        "y": [point.y],
        "customdata": [point.row.design_id],
        "marker": {"symbol": "circle-open", "size": 19, "color": "#000000", "line": {"width": 2}},
        "hoverinfo": "skip",
        "showlegend": False,
        **whiskers([point], plane),
    }


def whiskers(points: Sequence[Point], plane: Plane) -> dict[str, Trace]:
    """On each side from each point to the ends of its interval; none on a side that is exact. Of the points that are
    not the answer charts.js shows those of the one that is hovered or chosen."""
    x = _side([(point.x, *plane.x.interval(point.row)) for point in points])
    y = _side([(point.y, *plane.y.interval(point.row)) for point in points])
    return {name: side for name, side in (("error_x", x), ("error_y", y)) if any(side["array"] + side["arrayminus"])}


def _side(ends: Sequence[tuple[float, float | None, float | None]]) -> Trace:
    return {
        "type": "data",
        "symmetric": False,
        "array": [0.0 if high is None else max(high - at, 0.0) for at, _, high in ends],
        "arrayminus": [0.0 if low is None else max(at - low, 0.0) for at, low, _ in ends],
    }


def _unseen(sides: dict[str, Trace]) -> dict[str, Trace]:
    return {name: side | {"visible": False} for name, side in sides.items()}
