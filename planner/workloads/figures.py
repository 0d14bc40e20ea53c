"""A workload's two charts as plain Plotly figures; charts.js gives them the page's fonts and colours."""

from typing import Any

Figure = dict[str, Any]

NAMES = {"prompt_tokens": "prompt", "output_tokens": "output"}
DASHES = {"prompt_tokens": "solid", "output_tokens": "dash"}


def arrivals_figure(arrivals: dict[str, Any], mean_req_per_s: float | None) -> Figure:
    """Requests/s over time, a step a bin, the mean as a line."""
    unit, seconds = time_unit(arrivals["start_s"][-1] + arrivals["bin_s"])
    starts = [start / seconds for start in arrivals["start_s"]]
    rates = arrivals["rate_req_per_s"]
    step = {
        "type": "scatter",
        "mode": "lines",
        "name": "requests/s",
        "meta": {"series": 0},
        "x": [*starts, starts[-1] + arrivals["bin_s"] / seconds],
        "y": [*rates, rates[-1]],
        "line": {"shape": "hv", "width": 1.75},
        "hovertemplate": f"%{{y:.3~g}} requests/s<br>from %{{x:.4~g}} {unit}<extra></extra>",
        "showlegend": False,
    }
    layout: Figure = {
        "xaxis": {"title": {"text": f"{unit} since the first arrival"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "requests/s"}, "rangemode": "tozero"},
        "showlegend": False,
    }
    if mean_req_per_s is not None:
        layout["shapes"] = [_level(mean_req_per_s)]
        layout["annotations"] = [_level_label(mean_req_per_s)]
    return {"data": [step], "layout": layout}


def lengths_figure(lengths: dict[str, Any]) -> Figure:
    """The share of requests with at most so many tokens; a logarithmic axis, as lengths differ by thousands."""
    return {
        "data": [_curve(column, lengths[column]["curve"], index) for index, column in enumerate(NAMES)],
        "layout": {
            "xaxis": {"title": {"text": "tokens, at most"}, "type": "log", "dtick": 1},
            "yaxis": {"title": {"text": "share of requests"}, "range": [0, 1.02], "tickformat": ".0%"},
            "showlegend": True,
            "legend": {"y": 1.02, "yanchor": "bottom"},
        },
    }


def histogram_figure(edges: list[int], counts: list[list[int]]) -> Figure:
    """Requests by length in steps of equal ratio, prompts and outputs as two outlines."""
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "meta": {"series": index},
                "x": edges,
                "y": [*column, column[-1]],
                "line": {"shape": "hv", "width": 2, "dash": DASHES[key]},
                "hovertemplate": f"%{{y:,}} {name}s<br>from %{{x:,}} tokens<extra></extra>",
            }
            for index, ((key, name), column) in enumerate(zip(NAMES.items(), counts, strict=True))
        ],
        "layout": {
            "xaxis": {"title": {"text": "tokens"}, "type": "log", "dtick": 1},
            "yaxis": {"title": {"text": "requests"}, "rangemode": "tozero"},
            "showlegend": True,
            "legend": {"y": 1.02, "yanchor": "bottom"},
        },
    }


def week_figure(hourly: list[float]) -> Figure:
    """Requests/s by hour of the week, Monday first."""
    step = {
        "type": "scatter",
        "mode": "lines",
        "name": "requests/s",
        "meta": {"series": 0},
        "x": [hour / 24 for hour in range(len(hourly) + 1)],
        "y": [*hourly, hourly[-1]],
        "line": {"shape": "hv", "width": 1.75},
        "hovertemplate": "%{y:.3~g} requests/s<extra></extra>",
        "showlegend": False,
    }
    days = {"tickvals": [day + 0.5 for day in range(7)], "ticktext": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]}
    layout: Figure = {
        "xaxis": {"title": {"text": "day of the week"}, **days},
        "yaxis": {"title": {"text": "requests/s"}, "rangemode": "tozero"},
        "showlegend": False,
    }
    return {"data": [step], "layout": layout}


def dispersion_figure(by_name: dict[str, dict[int, float | None]]) -> Figure:
    """The index of dispersion by window, a line a way."""
    marks = ("circle", "square", "diamond", "triangle-up")
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name,
                "meta": {"series": index},
                "x": [window for window, value in found.items() if value],
                "y": [value for value in found.values() if value],
                "line": {"width": 2, "dash": "solid" if index == 0 else "dash"},
                "marker": {"symbol": marks[index % len(marks)], "size": 7},
                "hovertemplate": f"{name}: %{{y:.3~g}}<br>windows of %{{x}} s<extra></extra>",
            }
            for index, (name, found) in enumerate(by_name.items())
        ],
        "layout": {
            "xaxis": {"title": {"text": "window, s"}, "type": "log", "tickvals": [1, 2, 5, 10, 20, 60, 120, 300]},
            "yaxis": {"title": {"text": "variance over mean"}, "type": "log", "dtick": 1},
            "showlegend": True,
            "legend": {"y": 1.02, "yanchor": "bottom"},
        },
    }


def time_unit(span_s: float) -> tuple[str, float]:
    """The unit that a span of seconds is read in, and its seconds."""
    if span_s > 48 * 3600:
        return "days", 86400.0
    if span_s > 12 * 3600:
        return "hours", 3600.0
    return ("minutes", 60.0) if span_s > 180 else ("seconds", 1.0)


def _curve(column: str, curve: dict[str, Any], index: int) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": NAMES[column],
        "meta": {"series": index},
        "x": curve["tokens"],
        "y": curve["share"],
        "line": {"shape": "hv", "width": 2, "dash": DASHES[column]},
        "hovertemplate": f"%{{y:.1%}} of {NAMES[column]}s<br>at most %{{x:,}} tokens<extra></extra>",
    }


def _level(rate: float) -> Figure:
    span = {"xref": "paper", "x0": 0, "x1": 1}
    return {"type": "line", **span, "y0": rate, "y1": rate, "line": {"width": 1, "dash": "dot"}}


def _level_label(rate: float) -> Figure:
    place = {"xref": "paper", "x": 1, "xanchor": "right", "yref": "paper", "y": 1, "yanchor": "bottom"}
    return {**place, "text": f"mean {rate:.3g}", "showarrow": False}
