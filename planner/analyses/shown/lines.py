"""Charts of lines over one axis, as plain Plotly figures; charts.js gives them the page's look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import log10
from typing import Any

from planner.numerals import short

Json = dict[str, Any]
DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up")


@dataclass(frozen=True)
class Line:
    """Values over x; None: not shown there."""

    name: str
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    steps: bool = False
    """Level from one x to the next."""


@dataclass(frozen=True)
class Axis:
    title: str
    log: bool = False
    ticks: Sequence[float] = ()
    to_zero: bool = True


def lines_figure(
    x: Sequence[Any],
    lines: Sequence[Line],
    axes: tuple[Axis, Axis],
    you: Any = None,
    levels: Mapping[str, float] | None = None,
    *,
    markers: bool = True,
) -> Json:
    """``you``: where on x the visitor is; ``levels``: what is marked on y, by its words."""
    across, up = axes
    mode = {"mode": "lines+markers" if markers else "lines"}
    return {
        "data": [_trace(x, line, index, axes) | mode for index, line in enumerate(lines)],
        "layout": {
            "xaxis": _axis(across),
            "yaxis": _axis(up),
            "showlegend": len(lines) > 1,
            "legend": {"y": 1.02, "yanchor": "bottom"},
            "shapes": [*_you(you), *(_level(y) for y in (levels or {}).values())],
            "annotations": [*_you_note(you, across), *(_level_note(*level) for level in (levels or {}).items())],
        },
    }


def _trace(x: Sequence[Any], line: Line, index: int, axes: tuple[Axis, Axis]) -> Json:
    trace: Json = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape(line.name),
        "meta": {"series": index},
        "x": list(x),
        "y": list(line.y),
        "line": {"width": 2, "dash": DASHES[index % len(DASHES)], "shape": "hv" if line.steps else "linear"},
        "marker": {"symbol": SYMBOLS[index % len(SYMBOLS)], "size": 7},
        "text": [short(y) for y in line.y],
        "hovertemplate": f"{escape(line.name)}: %{{text}}<br>%{{x}} {escape(axes[0].title)}<extra></extra>",
    }
    if line.low:
        trace["error_y"] = {"type": "data", "symmetric": False} | _ends(line)
    return trace


def _ends(line: Line) -> Json:
    rows = list(zip(line.y, line.low, line.high, strict=True))
    return {
        "array": [0.0 if y is None or high is None else max(high - y, 0.0) for y, _, high in rows],
        "arrayminus": [0.0 if y is None or low is None else max(y - low, 0.0) for y, low, _ in rows],
    }


def _axis(axis: Axis) -> Json:
    found: Json = {"title": {"text": axis.title}}
    if axis.log:
        found |= {"type": "log", "dtick": "D2"}
    elif axis.to_zero:
        found |= {"rangemode": "tozero"}
    if axis.ticks:
        found.pop("dtick", None)
        found |= {"tickvals": list(axis.ticks), "ticktext": [short(tick) for tick in axis.ticks]}
    return found


def _you(you: Any) -> list[Json]:
    if you is None:
        return []
    place = {"yref": "paper", "y0": 0, "y1": 1, "xref": "x", "x0": you, "x1": you}
    return [{"type": "line", "layer": "below", **place, "line": {"width": 1.5, "dash": "dot"}}]


def _you_note(you: Any, axis: Axis) -> list[Json]:
    """On a logarithmic axis a note's place is its exponent, unlike a line's."""
    if you is None:
        return []
    x = log10(you) if axis.log else you
    place = {"xref": "x", "x": x, "yref": "paper", "y": 1, "xanchor": "left", "yanchor": "top"}
    return [{"text": "you", "showarrow": False, "xshift": 3, **place}]


def _level(y: float) -> Json:
    place = {"xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": y, "y1": y}
    return {"type": "line", "layer": "below", **place, "line": {"width": 1.5, "dash": "dash"}}


def _level_note(words: str, y: float) -> Json:
    place = {"xref": "paper", "x": 1, "yref": "y", "y": y, "xanchor": "right", "yanchor": "bottom"}
    return {"text": escape(words), "showarrow": False, **place}
