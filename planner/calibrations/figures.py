"""The residual plot as a plain Plotly figure; charts.js gives it the page's fonts and colours."""

from collections.abc import Callable, Sequence
from typing import Any

from simcore.latency.calibrated import Residual

Figure = dict[str, Any]
MS = 1e3


def residual_figure(residuals: Sequence[Residual]) -> Figure:
    """Predicted over measured against what was measured: with the shipped coefficients, and with the fitted ones (held
    out of the fit, where that could be)."""
    out = all(one.held_out_s is not None for one in residuals)
    after = "held out" if out else "after"
    return {
        "data": [
            _points("before", 1, "circle-open", residuals, lambda one: one.before_s),
            _points(after, 0, "circle", residuals, lambda one: one.held_out_s if out else one.after_s),
        ],
        "layout": {
            "xaxis": {"title": {"text": "measured, ms"}, "type": "log", "dtick": 1},
            "yaxis": {"title": {"text": "predicted is off by"}, "tickformat": "+.0%", "zeroline": True},
            "showlegend": True,
            "legend": {"y": 1.02, "yanchor": "bottom"},
        },
    }


def _points(
    name: str, series: int, symbol: str, residuals: Sequence[Residual], of: Callable[[Residual], float | None]
) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "meta": {"series": series},
        "marker": {"symbol": symbol, "size": 9},
        "x": [one.measured_s * MS for one in residuals],
        "y": [(of(one) or 0.0) / one.measured_s - 1 for one in residuals],
        "text": [f"{one.phase}, {one.load}" for one in residuals],
        "hovertemplate": "%{text}<br>%{x:.4~g} ms measured<br>%{y:+.1%} " + name + "<extra></extra>",
    }
