"""The lines and points of a frontier chart, as Plotly's traces."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from planner.studies.axes import Axis
from planner.studies.chart_words import hover
from planner.studies.series import Look, Point, Series, envelope

Trace = dict[str, Any]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#948C00")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "pentagon", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash")
FAINT = 0.35


def traces(points: Sequence[Point], every: Sequence[Series], axis: Axis, look: Look) -> list[Trace]:
    """The frontier of all, each family with its points, and a ring around the answer."""
    found = [_frontier(points)]
    for series in every:
        found += _family(series, axis)
    if answer := next((point for point in points if point.row.design_id == look.answer_id), None):
        found.append(_answer(answer))
    return [trace for trace in found if trace["x"]]


def _frontier(points: Sequence[Point]) -> Trace:
    line = {"shape": "hv", "width": 7, "color": "#000000"}
    return _steps("frontier", {"role": "frontier"}, envelope(points), line) | {"opacity": 0.22}


def _family(series: Series, axis: Axis) -> list[Trace]:
    index, best = series.index, {point.row.design_id for point in series.steps}
    line = {"shape": "hv", "width": 1.75, "color": COLOURS[index], "dash": DASHES[index]}
    steps = _steps(escape(series.name), {"role": "family", "series": index}, series.steps, line)
    solid = [point for point in series.points if point.held and not point.is_hollow]
    points = _points(series, solid, axis, SYMBOLS[index])
    points["marker"] |= {
        "size": [9 if point.row.design_id in best else 6 for point in solid],
        "opacity": [1.0 if point.row.design_id in best else FAINT for point in solid],
    }
    hollow = _points(series, [point for point in series.points if point.is_hollow], axis, f"{SYMBOLS[index]}-open")
    return [
        steps | {"legendgroup": str(index)},
        points | {"showlegend": bool(solid)},
        hollow | {"showlegend": not solid},
    ]


def _steps(name: str, meta: Trace, points: Sequence[Point], line: Trace) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "meta": meta,
        "x": [point.x for point in points],
        "y": [point.held for point in points],
        "line": line,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _points(series: Series, points: Sequence[Point], axis: Axis, symbol: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(series.name),
        "meta": {"role": "designs", "series": series.index},
        "x": [point.x for point in points],
        "y": [point.held for point in points],
        "customdata": [point.row.design_id for point in points],
        "text": [hover(point, axis) for point in points],
        "hovertemplate": "%{text}<extra></extra>",
        "error_y": _whiskers(points) | {"visible": False},
        "marker": {"symbol": symbol, "color": COLOURS[series.index], "size": 7},
        "legendgroup": str(series.index),
        "cliponaxis": False,
    }


def _answer(point: Point) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "the answer",
        "meta": {"role": "answer"},
        "x": [point.x],
        "y": [point.held],
        "error_y": _whiskers([point]),
        "customdata": [point.row.design_id],
        "marker": {"symbol": "circle-open", "size": 19, "color": "#000000", "line": {"width": 2}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _whiskers(points: Sequence[Point]) -> Trace:
    """From each point to the ends of its interval. Of the points that are not the answer charts.js shows those of the
    one that is hovered or chosen."""
    ends = [(point.row.capacity_low, point.held, point.row.capacity_high) for point in points]
    return {
        "type": "data",
        "symmetric": False,
        "array": [0.0 if high is None else max(high - held, 0.0) for _, held, high in ends],
        "arrayminus": [0.0 if low is None else max(held - low, 0.0) for low, held, _ in ends],
    }
