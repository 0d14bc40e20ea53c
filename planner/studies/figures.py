"""The two frontier charts as plain Plotly figures: one stepped line a family, the frontier thick, the rest faint.

A figure carries no style of the page: charts.js gives it the page's fonts and colours by each trace's ``meta``, and
reads from ``customdata`` which design a point is.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from planner.numerals import short
from planner.studies.axes import Axis
from planner.studies.chart_traces import COLOURS, traces
from planner.studies.series import Look, Point, Series, families, placed
from simcore.rows import DesignRow

Figure = dict[str, Any]

GLYPHS = ("●", "■", "◆", "▲", "✚", "✖", "⬟", "★")
LABEL_GAP = 0.055
"""Least distance of two line-end labels, as a share of the chart's height."""


def frontier_figure(rows: Sequence[DesignRow], axis: Axis, look: Look) -> Figure:
    """The chart of all designs that have a place on ``axis``; infeasible ones lie hollow on the zero line."""
    points = placed(rows, axis, look)
    every = families(points, look)
    return {"data": traces(points, every, axis, look), "layout": _layout(points, every, axis, look)}


def _layout(points: Sequence[Point], every: Sequence[Series], axis: Axis, look: Look) -> Figure:
    top = 1.12 * max([look.rate_req_per_s, *(point.held for point in points)])
    right = 1.04 * max([axis.limit or 0, *(point.x for point in points)]) or 1
    return {
        "xaxis": {
            "title": {"text": axis.title},
            "range": [0, right],
            "tickprefix": axis.prefix,
            "tickformat": "~s",
            "showticklabels": bool(points) or axis.limit is not None,
        },
        "yaxis": {"title": {"text": "requests/s held under the SLO"}, "range": [0, top], "tickformat": "~g"},
        "shapes": _shapes(axis, look),
        "annotations": [*_notes(axis, look, right), *_line_ends(every, top)],
        "hovermode": "closest",
        "showlegend": False,
    }


def _shapes(axis: Axis, look: Look) -> list[Figure]:
    rate = look.rate_req_per_s
    shapes: list[Figure] = [
        {"type": "line", "name": "rate", "xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": rate, "y1": rate}
    ]
    if axis.limit is not None:
        at = axis.limit
        shapes.append(
            {"type": "line", "name": "limit", "yref": "paper", "y0": 0, "y1": 1, "xref": "x", "x0": at, "x1": at}
        )
    return [shape | {"layer": "below", "line": {"width": 1.5, "dash": "dash", "color": "#000000"}} for shape in shapes]


def _notes(axis: Axis, look: Look, right: float) -> list[Figure]:
    notes: list[Figure] = [
        {"name": "better", "text": "↖ better: up and left", "xref": "paper", "x": 0.005, "yref": "paper", "y": 1}
        | {"xanchor": "left", "yanchor": "top", "showarrow": False},
        {"name": "rate", "text": f"required: {short(look.rate_req_per_s)} requests/s", "xref": "paper", "x": 0.005}
        | {"yref": "y", "y": look.rate_req_per_s, "xanchor": "left", "yanchor": "bottom", "showarrow": False},
    ]
    if axis.limit is not None:
        text = f"{axis.limit_words}: {axis.limit_value}"
        notes.append(
            {"name": "limit", "text": text, "xref": "x", "x": axis.limit, "yref": "paper", "y": 1}
            | {"xanchor": "right" if axis.limit > right / 2 else "left", "yanchor": "bottom", "showarrow": False}
        )
    return notes


def _line_ends(every: Sequence[Series], top: float) -> list[Figure]:
    """Each family's name at the height where its line ends, pushed apart where they would overlap."""
    ends = [(series.steps[-1].held, series.index, series.name) for series in every if series.steps]
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
