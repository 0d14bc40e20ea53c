"""Watts over time as a plain Plotly figure; charts.js gives it the page's fonts and colours."""

from collections.abc import Sequence
from typing import Any

Figure = dict[str, Any]


def watts_figure(points: Sequence[Sequence[float | None]], mean_w: float | None) -> Figure:
    """All used devices together, and their mean over the run; a gap where a device has no samples."""
    seconds = [at for at, _ in points]
    lines = [_line("drawn", 0, "solid", seconds, [watts for _, watts in points])]
    if mean_w is not None:
        lines.append(_line("mean of the run", 1, "dash", [seconds[0], seconds[-1]], [mean_w, mean_w]))
    return {
        "data": lines,
        "layout": {
            "xaxis": {"title": {"text": "seconds from the run's start"}},
            "yaxis": {"title": {"text": "W, all used devices"}, "rangemode": "tozero"},
            "showlegend": True,
            "legend": {"y": 1.02, "yanchor": "bottom"},
        },
    }


def _line(name: str, series: int, dash: str, x: Sequence[float | None], y: Sequence[float | None]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "meta": {"series": series},
        "line": {"dash": dash},
        "x": list(x),
        "y": list(y),
        "hovertemplate": "%{x:,.0f} s<br>%{y:,.0f} W " + name + "<extra></extra>",
    }
