"""The two frontier charts as plain Plotly figures: one stepped line a family, the frontier thick, the rest faint.

A figure carries no style of the page: charts.js gives it the page's fonts and colours by each trace's ``meta``, and
reads from ``customdata`` which design a point is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from planner.numerals import short, usd
from simcore.economics.hourly import usd_per_month
from simcore.rows import DesignRow

Figure = dict[str, Any]

MAX_FAMILIES = 8
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#948C00")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "pentagon", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash")
GLYPHS = ("●", "■", "◆", "▲", "✚", "✖", "⬟", "★")
REST = "other families"
FAINT = 0.35
LABEL_GAP = 0.055
"""Least distance of two line-end labels, as a share of the chart's height."""


@dataclass(frozen=True)
class Axis:
    """What a frontier chart has on x, and how it is written."""

    title: str
    value: Callable[[DesignRow], float | None]
    words: Callable[[float], str]
    prefix: str = ""
    limit: float | None = None
    limit_words: str = ""
    limit_value: str = ""


@dataclass(frozen=True)
class Look:
    """What both charts of a result share."""

    rate_req_per_s: float
    answer_id: str | None = None
    family_names: Mapping[str, str] = field(default_factory=dict)
    hollow: frozenset[str] = frozenset()
    """Designs that break a limit of the question although they were simulated."""


POWER_WATTS: dict[str, Callable[[DesignRow], float | None]] = {
    "nameplate": lambda row: row.nameplate_w,
    "provisioned": lambda row: row.provisioned_w,
    "drawn_mean": lambda row: row.mean_w,
    "drawn_p99": lambda row: row.p99_w,
}
POWER_NAMES = {
    "nameplate": "kW nameplate",
    "provisioned": "kW provisioned",
    "drawn_mean": "kW drawn, mean at capacity",
    "drawn_p99": "kW drawn, P99 of 1 s at capacity",
}


def cost_axis(budget_usd_per_month: float | None = None) -> Axis:
    return Axis(
        title="$ a month (730 h)",
        value=lambda row: float(usd_per_month(row.usd_per_hour)),
        words=lambda x: f"{usd(x)} a month",
        prefix="$",
        limit=budget_usd_per_month,
        limit_words="budget",
        limit_value=f"{usd(budget_usd_per_month)} a month",
    )


def power_axis(kind: str, limit_kw: float | None = None) -> Axis:
    watts = POWER_WATTS[kind]
    return Axis(
        title=POWER_NAMES[kind],
        value=lambda row: None if (found := watts(row)) is None else found / 1000,
        words=lambda x: f"{short(x)} {POWER_NAMES[kind]}",
        limit=limit_kw,
        limit_words="power limit",
        limit_value=f"{short(limit_kw)} kW",
    )


def frontier_figure(rows: Sequence[DesignRow], axis: Axis, look: Look) -> Figure:
    """The chart of all designs that have a place on ``axis``; infeasible ones lie hollow on the zero line."""
    placed = [row for row in rows if axis.value(row) is not None and row.status != "screened"]
    series = _series(placed, look)
    traces = [_frontier_trace(placed, axis)]
    for index, (name, members) in enumerate(series):
        traces += _family_traces(index, name, members, axis, look)
    if answer := next((row for row in placed if row.design_id == look.answer_id), None):
        traces.append(_answer_trace(answer, axis))
    return {"data": [trace for trace in traces if trace["x"]], "layout": _layout(placed, series, axis, look)}


def summary(rows: Sequence[DesignRow], axis: Axis, look: Look) -> str:
    """The chart in words, for those who do not see it."""
    if not rows:
        return "No design has been tried yet."
    simulated = [row for row in rows if row.capacity_req_per_s]
    text = f"{_count(len(simulated), 'design')} in {_count(len({row.family for row in simulated}), 'family')}"
    holding = [row for row in simulated if row.met and axis.value(row) is not None]
    if not holding:
        return f"{text}; none holds {short(look.rate_req_per_s)} requests/s within the limits."
    best = min(holding, key=lambda row: (axis.value(row), -(row.capacity_req_per_s or 0)))
    return (
        f"{text}. Least that holds {short(look.rate_req_per_s)} requests/s within the limits: {best.label},"
        f" {axis.words(axis.value(best) or 0)}, up to {short(best.capacity_req_per_s)} requests/s."
        f"{_left_out(rows)}"
    )


def is_hollow(row: DesignRow, look: Look) -> bool:
    return row.status in {"infeasible", "failed"} or row.design_id in look.hollow


def _left_out(rows: Sequence[DesignRow]) -> str:
    infeasible = sum(row.status in {"infeasible", "failed"} for row in rows)
    screened = sum(row.status == "screened" for row in rows)
    words = f" {_count(infeasible, 'infeasible design')} on the zero line." if infeasible else ""
    return words + (f" {_count(screened, 'screened design')} in the table only." if screened else "")


def _series(rows: Sequence[DesignRow], look: Look) -> list[tuple[str, list[DesignRow]]]:
    """The eight families of the best Perf/$, what is beyond as one; in the order of ``family_names``, which
    progress does not change, so that a family keeps its colour and symbol while a study grows."""
    members: dict[str, list[DesignRow]] = {}
    for row in rows:
        members.setdefault(row.family, []).append(row)
    ranked = sorted(members, key=lambda name: -max(row.req_per_usd or 0 for row in members[name]))
    kept = ranked if len(ranked) <= MAX_FAMILIES else ranked[: MAX_FAMILIES - 1]
    places = {name: place for place, name in enumerate(look.family_names)}
    steady = sorted(kept, key=lambda name: places.get(name, len(places)))
    series = [(look.family_names.get(name, name), members[name]) for name in steady]
    rest = [row for name in ranked[len(kept) :] for row in members[name]]
    return [*series, (REST, rest)] if rest else series


def _envelope(rows: Sequence[DesignRow], axis: Axis) -> list[DesignRow]:
    """Those that hold more than everything that uses no more of x, from left to right."""
    found: list[DesignRow] = []
    capable = [row for row in rows if row.capacity_req_per_s]
    for row in sorted(capable, key=lambda row: (axis.value(row), -(row.capacity_req_per_s or 0))):
        if not found or (row.capacity_req_per_s or 0) > (found[-1].capacity_req_per_s or 0):
            found.append(row)
    return found


def _frontier_trace(rows: Sequence[DesignRow], axis: Axis) -> Figure:
    best = _envelope(rows, axis)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "frontier",
        "meta": {"role": "frontier"},
        "x": [axis.value(row) for row in best],
        "y": [row.capacity_req_per_s for row in best],
        "line": {"shape": "hv", "width": 7, "color": "#000000"},
        "opacity": 0.22,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _family_traces(index: int, name: str, rows: Sequence[DesignRow], axis: Axis, look: Look) -> list[Figure]:
    step = _envelope(rows, axis)
    best = {row.design_id for row in step}
    solid = [row for row in rows if row.capacity_req_per_s and not is_hollow(row, look)]
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": escape(name),
        "meta": {"role": "family", "series": index},
        "x": [axis.value(row) for row in step],
        "y": [row.capacity_req_per_s for row in step],
        "line": {"shape": "hv", "width": 1.75, "color": COLOURS[index], "dash": DASHES[index]},
        "legendgroup": str(index),
        "hoverinfo": "skip",
        "showlegend": False,
    }
    points = _points(index, name, solid, axis, SYMBOLS[index])
    points["marker"] |= {
        "size": [9 if row.design_id in best else 6 for row in solid],
        "opacity": [1.0 if row.design_id in best else FAINT for row in solid],
    }
    hollow = _points(index, name, [row for row in rows if is_hollow(row, look)], axis, f"{SYMBOLS[index]}-open")
    return [line, points | {"showlegend": bool(solid)}, hollow | {"showlegend": not solid}]


def _points(index: int, name: str, rows: Sequence[DesignRow], axis: Axis, symbol: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(name),
        "meta": {"role": "designs", "series": index},
        "x": [axis.value(row) for row in rows],
        "y": [row.capacity_req_per_s or 0.0 for row in rows],
        "customdata": [row.design_id for row in rows],
        "text": [_hover(row, axis) for row in rows],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": symbol, "color": COLOURS[index], "size": 7},
        "legendgroup": str(index),
        "cliponaxis": False,
    }


def _answer_trace(row: DesignRow, axis: Axis) -> Figure:
    held = row.capacity_req_per_s or 0.0
    high, low = row.capacity_high or held, row.capacity_low or held
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "the answer",
        "meta": {"role": "answer"},
        "x": [axis.value(row)],
        "y": [held],
        "error_y": {"type": "data", "symmetric": False, "array": [high - held], "arrayminus": [held - low]},
        "customdata": [row.design_id],
        "marker": {"symbol": "circle-open", "size": 19, "color": "#000000", "line": {"width": 2}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _hover(row: DesignRow, axis: Axis) -> str:
    """Lines apart by <br>, and no other tag: Plotly makes bold and spans by inline styles, which the page forbids."""
    lines = [escape(row.label), escape(axis.words(axis.value(row) or 0))]
    if row.capacity_req_per_s:
        lines.append(f"holds {short(row.capacity_req_per_s)} requests/s{_interval(row)}")
    if row.binding_limit and row.capacity_req_per_s:
        pool = f", {row.binding_pool} pool" if row.binding_pool else ""
        lines.append(f"binds first: {escape(row.binding_limit)}{escape(pool)}")
    if row.reason:
        lines += _wrapped(row.reason)
    return "<br>".join(lines)


def _interval(row: DesignRow) -> str:
    if not row.capacity_low or not row.capacity_high or row.capacity_low == row.capacity_high:
        return ""
    return f" ({short(row.capacity_low)} to {short(row.capacity_high)})"


def _wrapped(reason: str, width: int = 60) -> list[str]:
    """A reason in lines that fit a hover box, escaped: Plotly reads a little HTML in texts."""
    lines = [""]
    for word in reason.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return [escape(line) for line in lines]


def _layout(rows: Sequence[DesignRow], series: Sequence[tuple[str, list[DesignRow]]], axis: Axis, look: Look) -> Figure:
    top = 1.12 * max([look.rate_req_per_s, *(row.capacity_req_per_s or 0 for row in rows)])
    right = 1.04 * max([axis.limit or 0, *(axis.value(row) or 0 for row in rows)]) or 1
    return {
        "xaxis": {
            "title": {"text": axis.title},
            "range": [0, right],
            "tickprefix": axis.prefix,
            "tickformat": "~s",
            "showticklabels": bool(rows) or axis.limit is not None,
        },
        "yaxis": {"title": {"text": "requests/s held under the SLO"}, "range": [0, top], "tickformat": "~g"},
        "shapes": _shapes(axis, look),
        "annotations": [*_notes(axis, look), *_line_ends(series, axis, top)],
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


def _notes(axis: Axis, look: Look) -> list[Figure]:
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
            | {"xanchor": "center", "yanchor": "bottom", "showarrow": False}
        )
    return notes


def _line_ends(series: Sequence[tuple[str, list[DesignRow]]], axis: Axis, top: float) -> list[Figure]:
    """Each family's name at the height where its line ends, pushed apart where they would overlap."""
    ends = [
        (step[-1].capacity_req_per_s or 0.0, index, name)
        for index, (name, members) in enumerate(series)
        if (step := _envelope(members, axis))
    ]
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


def _count(number: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"
