"""Cumulative distributions with the SLO marked."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from planner.analyses.shown.parts import Cell, Chart, Row, Table
from planner.numerals import exact
from simcore.words import limit_name, limit_value

Json = dict[str, Any]
NAMES = {
    "ttft_s": "Time to first token",
    "tbt_s": "Time between tokens",
    "tpot_s": "Time per output token",
    "e2e_s": "End to end",
    "queue_s": "Scheduling delay",
    "ttft_slowdown": "Time to first token, times alone",
    "tbt_slowdown": "Time between tokens, times alone",
    "e2e_slowdown": "End to end, times alone",
}
LOG_FROM = 30.0
"""The axis is logarithmic where the largest value shown is so many times the median."""
BEYOND = 1.15
TOLD = (50.0, 90.0, 95.0, 99.0, 99.9, 100.0)


def cdf_chart(cdf: Json) -> Chart:
    name = NAMES[cdf["metric"]]
    return Chart(f"cdf-{cdf['metric'].replace('_', '-')}", name, _cdf_figure(cdf), _cdf_words(cdf))


def _cdf_words(cdf: Json) -> str:
    at = dict(zip(cdf["percentiles"], cdf["values"], strict=True))
    told = f"Of {cdf['count']:,} {cdf['over']}: median {_value(cdf, at[50])}, P99 {_value(cdf, at[99])}."
    limits = [
        f"{limit_name(cdf['metric'], limit['percentile']).split(' ')[0]} {'holds' if limit['met'] else 'missed'}:"
        f" {_value(cdf, limit['value'])} of {_value(cdf, limit['limit'])}"
        for limit in cdf["limits"]
    ]
    never = f" {cdf['infinite']:,} never came." if cdf["infinite"] else ""
    return f"{told}{never}{' ' if limits else ''}{'; '.join(limits)}{'.' if limits else ''}"


def _value(cdf: Json, value: float | None) -> str:
    return limit_value(cdf["metric"], value)


def _limit(cdf: Json, limit: Json) -> str:
    return _value(cdf, limit["limit"])


def _cdf_figure(cdf: Json) -> Json:
    points = [(value, p) for p, value in zip(cdf["percentiles"], cdf["values"], strict=True) if value is not None]
    curve = {
        "type": "scatter",
        "mode": "lines",
        "name": NAMES[cdf["metric"]],
        "meta": {"series": 0},
        "x": [value for value, _ in points],
        "y": [p for _, p in points],
        "line": {"width": 2.25, "shape": "vh"},
        "text": [_value(cdf, value) for value, _ in points],
        "hovertemplate": f"%{{y}} % of {cdf['over']} take at most %{{text}}<extra></extra>",
    }
    marks = [_limit_trace(cdf, met) for met in (True, False) if any(one["met"] is met for one in cdf["limits"])]
    return {
        "data": [curve, *marks],
        "layout": {
            "xaxis": _cdf_axis(cdf, [value for value, _ in points]),
            "yaxis": {"title": {"text": f"% of {cdf['over']}"}, "range": [0, 101]},
            "showlegend": bool(marks),
            "legend": {"y": 1.02, "yanchor": "bottom"},
            "shapes": [_limit_line(limit) for limit in cdf["limits"]],
        },
    }


def _limit_trace(cdf: Json, met: bool) -> Json:
    """The curve keeps a limit where it passes above its mark."""
    limits = [limit for limit in cdf["limits"] if limit["met"] is met]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "limits that hold" if met else "limits missed",
        "meta": {"series": 2 if met else 1},
        "x": [limit["limit"] for limit in limits],
        "y": [limit["percentile"] for limit in limits],
        "marker": {"symbol": "triangle-left" if met else "x", "size": 11},
        "text": [
            escape(f"{limit_name(cdf['metric'], one['percentile'])} {_value(cdf, one['value'])} of {_limit(cdf, one)}")
            for one in limits
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _limit_line(limit: Json) -> Json:
    at, p = limit["limit"], limit["percentile"]
    return {"type": "line", "xref": "x", "x0": at, "x1": at, "yref": "y", "y0": 0, "y1": p, "layer": "below"} | {
        "line": {"width": 1, "dash": "dot"}
    }


def _cdf_axis(cdf: Json, values: Sequence[float]) -> Json:
    unit = "times the same request alone" if cdf["metric"].endswith("slowdown") else "seconds"
    title = {"title": {"text": unit}}
    if not values:
        return title
    at = dict(zip(cdf["percentiles"], cdf["values"], strict=True))
    middle = at[50] or 0.0
    last = max([limit["limit"] for limit in cdf["limits"]] + [at[99] or values[-1]]) * BEYOND
    if middle > 0 and values[-1] / middle > LOG_FROM:
        return title | {"type": "log"}
    return title | {"range": [0, last]}


def percentiles_table(told: Json) -> Table:
    columns = ("", *("largest" if p == 100 else f"P{p:g}" for p in TOLD))
    return Table("Percentiles", columns, tuple(_percentile_row(cdf) for cdf in told["cdfs"]))


def _percentile_row(cdf: Json) -> Row:
    at = dict(zip(cdf["percentiles"], cdf["values"], strict=True))
    cells = [Cell(_value(cdf, at[p]), exact(at[p])) for p in TOLD]
    return Row((Cell(f"{NAMES[cdf['metric']]}, {cdf['count']:,} {cdf['over']}"), *cells))
