"""The frontier chart as a plain Plotly figure: one stepped line a family, the frontier thick, the rest faint.

A figure carries no style of the page: charts.js gives it the page's fonts and colours by each trace's ``meta``, and
reads from ``customdata`` which design a point is.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from planner.numerals import short
from planner.studies.axes import Axis, Plane
from planner.studies.chart_traces import COLOURS, traces
from planner.studies.rays import ray_notes, ray_shapes, rays
from planner.studies.series import Ghost, Look, Point, Series, families, placed
from simcore.rows import DesignRow

Figure = dict[str, Any]

GLYPHS = ("●", "■", "◆", "▲", "✚", "✖", "⬟", "★")
LABEL_GAP = 0.055
"""Least distance of two line-end labels, as a share of the chart's height."""


def frontier_figure(rows: Sequence[DesignRow], plane: Plane, look: Look, ghost: Ghost | None = None) -> Figure:
    """The chart of all designs that have a place on ``plane``; infeasible ones lie hollow on the zero line. ``ghost``:
    the same as it was asked, drawn faintly behind."""
    points = placed(rows, plane, look)
    every = families(points, plane, look)
    behind = [] if ghost is None else placed(ghost.rows, plane, look)
    return {
        "data": traces(points, every, behind, plane, look),
        "layout": _layout([*points, *behind], points, every, plane, look, ghost),
    }


def _layout(
    shown: Sequence[Point],
    points: Sequence[Point],
    every: Sequence[Series],
    plane: Plane,
    look: Look,
    ghost: Ghost | None,
) -> Figure:
    rates = [look.rate_req_per_s, *([ghost.rate_req_per_s] if ghost else [])] if plane.holds_rate else []
    answers = [point.row for point in points if point.row.design_id == look.answer_id]
    top = 1.12 * max([*rates, *(point.y for point in shown), *_ends(answers, plane.y)], default=1.0) or 1.0
    right = 1.04 * max([plane.x.limit or 0, *(point.x for point in shown), *_ends(answers, plane.x)]) or 1.0
    figures = rays(points, plane)
    return {
        "xaxis": {
            "title": {"text": plane.x.title},
            "range": [0, right],
            "tickprefix": plane.x.prefix,
            "tickformat": plane.x.ticks,
            "showticklabels": bool(points) or plane.x.limit is not None,
        },
        "yaxis": {"title": {"text": plane.y.title}, "range": [0, top], "tickformat": plane.y.ticks},
        "shapes": [*ray_shapes(figures, plane, right, top), *_shapes(plane, look, ghost)],
        "annotations": [
            *ray_notes(figures, plane, right, top),
            *_notes(plane, look, right),
            *line_ends(every, plane, top),
        ],
        "hovermode": "closest",
        "showlegend": False,
    }


def _ends(rows: Sequence[DesignRow], axis: Axis) -> list[float]:
    """The upper ends of intervals that are drawn from the first."""
    return [high for row in rows if (high := axis.interval(row)[1]) is not None]


def _shapes(plane: Plane, look: Look, ghost: Ghost | None) -> list[Figure]:
    shapes = []
    if plane.holds_rate:
        if ghost and ghost.rate_req_per_s != look.rate_req_per_s:
            shapes.append(across("ghost", ghost.rate_req_per_s, "dot"))
        shapes.append(across("rate", look.rate_req_per_s))
    if ghost and ghost.limit is not None and ghost.limit != plane.x.limit:
        shapes.append(_upright("ghost", ghost.limit, "dot"))
    if plane.x.limit is not None:
        shapes.append(_upright("limit", plane.x.limit))
    return shapes


def across(name: str, y: float, dash: str = "dash") -> Figure:
    ends = {"xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": y, "y1": y}
    return {"type": "line", "name": name, "layer": "below"} | ends | {"line": _line(dash)}


def _upright(name: str, x: float, dash: str = "dash") -> Figure:
    ends = {"yref": "paper", "y0": 0, "y1": 1, "xref": "x", "x0": x, "x1": x}
    return {"type": "line", "name": name, "layer": "below"} | ends | {"line": _line(dash)}


def _line(dash: str) -> Figure:
    return {"width": 1.5, "dash": dash, "color": "#000000"}


def _notes(plane: Plane, look: Look, right: float) -> list[Figure]:
    notes: list[Figure] = [better(plane)]
    if plane.holds_rate:
        notes.append(
            {"name": "rate", "text": f"required: {short(look.rate_req_per_s)} requests/s", "xref": "paper", "x": 0.005}
            | {"yref": "y", "y": look.rate_req_per_s, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
        )
    if plane.x.limit is not None:
        notes.append(_limit_note(plane.x, plane.x.limit, right))
    return notes


def better(plane: Plane) -> Figure:
    left = plane.holds_rate
    return {
        "name": "better",
        "text": "↖ Up and left is better" if left else "Up and right is better ↗",
        "xref": "paper",
        "x": 0.005 if left else 0.995,
        "yref": "paper",
        "y": 1,
        "xanchor": "left" if left else "right",
        "yanchor": "top",
        "showarrow": False,
    }


def _limit_note(axis: Axis, limit: float, right: float) -> Figure:
    return {
        "name": "limit",
        "text": f"{axis.limit_words}: {axis.limit_value}",
        "xref": "x",
        "x": limit,
        "yref": "paper",
        "y": 0,
        "xanchor": "right" if limit > right / 2 else "left",
        "yanchor": "bottom",
        "showarrow": False,
    }


def line_ends(every: Sequence[Series], plane: Plane, top: float) -> list[Figure]:
    """Each family's name at the height where its line ends, pushed apart where they would overlap."""
    ends = [(series.steps[-1].y, series.index, series.name) for series in every if series.steps]
    labels, height = [], -top
    for end, index, name in sorted(ends):
        height = max(end, height + LABEL_GAP * top)
        labels.append((height, index, name))
    over = max(0.0, labels[-1][0] - top) if labels else 0.0
    return [note for height, index, name in labels for note in _line_end(height - over, index, name)]


def _line_end(height: float, index: int, name: str) -> list[Figure]:
    """The family's symbol in its colour and its name in ink, which can be read in any colour scheme."""
    place = {"xref": "paper", "x": 1.01, "yref": "y", "y": height, "xanchor": "left", "yanchor": "middle"}
    plain = place | {"align": "left", "showarrow": False}
    return [
        plain | {"name": f"symbol:{index}", "text": GLYPHS[index], "font": {"color": COLOURS[index]}},
        plain | {"name": f"family:{index}", "text": escape(name), "xshift": 16},
    ]
