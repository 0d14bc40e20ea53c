"""The busiest minute of a run: lanes over one axis of time, generation stalls shaded."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from planner.analyses.shown.parts import Cell, Chart, Row, Table
from planner.numerals import exact, share, short

Json = dict[str, Any]
ROLES = {"mixed": "mixed pool", "prefill": "prefill pool", "decode": "decode pool"}
LANES = 4
GAP = 0.05
TABLE_STEP = 20
"""Every fifth second of the timeline is in its table."""


def timeline_chart(told: Json) -> Chart:
    return Chart("run-timeline", "The busiest minute", _timeline_figure(told), _timeline_words(told), tall=True)


def _timeline_words(told: Json) -> str:
    line, stalls = told["timeline"], told["stalls"]
    watts = line["watts"]["watts"]
    shaded = "Shaded: generation stalls, the darker the more replicas. " if stalls["count"] else ""
    return (
        f"{shaded}From {short(line['from_s'])} to {short(line['until_s'])} s of the run: at most"
        f" {short(max(line['queue']))} requests wait, {_span(line['decoding'])} decode; {_span(watts, 1000)} kW."
    )


def _span(values: Sequence[float], unit: float = 1) -> str:
    return f"{short(min(values) / unit)} to {short(max(values) / unit)}"


def _timeline_figure(told: Json) -> Json:
    line = told["timeline"]
    across = {"title": {"text": "seconds into the run"}, "anchor": "y4", "range": [line["from_s"], line["until_s"]]}
    titles = ("requests", "batch", "KV, %" if line["pools"][0]["kv_capacity_tokens"] else "KV tokens", "kW")
    return {
        "data": _lanes(line),
        "layout": {
            "xaxis": across,
            **{f"yaxis{lane + 1 if lane else ''}": _lane(lane, titles[lane]) for lane in range(LANES)},
            "hovermode": "x unified",
            "showlegend": True,
            "legend": {"y": 1.01, "yanchor": "bottom"},
            "shapes": _stall_shapes(line),
        },
    }


def _lanes(line: Json) -> list[Json]:
    x, watts = _middles(line), line["watts"]
    return [
        _series("waiting", x, line["queue"], "y", 1),
        _series("prefilling", x, line["prefilling"], "y", 0, dash="dot"),
        *(_series(f"batch, {ROLES[pool['role']]}", x, pool["batch"], "y2", i) for i, pool in _decoding(line)),
        *(_series(f"KV, {ROLES[pool['role']]}", x, _kv(pool), "y3", i, _kv_unit(pool)) for i, pool in _pools(line)),
        _series("all machines", watts["second"], [w / 1000 for w in watts["watts"]], "y4", 3, " kW", shape="hv"),
    ]


def _lane(lane: int, title: str) -> Json:
    height = (1 - GAP * (LANES - 1)) / LANES
    top = 1 - lane * (height + GAP)
    plain = {"title": {"text": title}, "rangemode": "tozero", "anchor": "x", "nticks": 4}
    return {"domain": [max(top - height, 0), top], **plain}


def _series(
    name: str,
    x: Sequence[float],
    y: Sequence[float],
    axis: str,
    index: int,
    unit: str = "",
    dash: str = "solid",
    shape: str = "linear",
) -> Json:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escape(name),
        "meta": {"series": index},
        "x": list(x),
        "y": list(y),
        "yaxis": axis,
        "line": {"width": 1.75, "dash": dash, "shape": shape},
        "text": [short(value) for value in y],
        "hovertemplate": f"{escape(name)}: %{{text}}{unit}<extra></extra>",
    }


def _pools(line: Json) -> list[tuple[int, Json]]:
    return list(enumerate(line["pools"]))


def _decoding(line: Json) -> list[tuple[int, Json]]:
    return [(i, pool) for i, pool in _pools(line) if pool["role"] != "prefill"]


def _kv(pool: Json) -> list[float]:
    capacity = pool["kv_capacity_tokens"]
    return [100 * tokens / capacity for tokens in pool["kv_tokens"]] if capacity else pool["kv_tokens"]


def _kv_unit(pool: Json) -> str:
    return " %" if pool["kv_capacity_tokens"] else " tokens"


def _middles(line: Json) -> list[float]:
    return [round(line["from_s"] + line["step_s"] * (place + 0.5), 4) for place in range(len(line["queue"]))]


def _stall_shapes(line: Json) -> list[Json]:
    """One a step with a stall."""
    return [
        {
            "type": "rect",
            "name": "stall",
            "xref": "x",
            "x0": line["from_s"] + line["step_s"] * place,
            "x1": line["from_s"] + line["step_s"] * (place + 1),
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "opacity": round(0.1 + 0.4 * part, 3),
            "line": {"width": 0},
        }
        for place, part in enumerate(line["stalled"])
        if part > 0
    ]


def timeline_table(told: Json) -> Table:
    line = told["timeline"]
    columns = (
        "Second of the run",
        "Waiting",
        "Prefilling",
        "Decoding",
        *(f"Batch, {ROLES[pool['role']]}" for _, pool in _decoding(line)),
        *(f"KV, {ROLES[pool['role']]}" for _, pool in _pools(line)),
        "Replicas stalled",
    )
    places = range(0, len(line["queue"]), TABLE_STEP)
    note = f"Means over {short(line['step_s'])} s."
    return Table("The minute, every five seconds", columns, tuple(_timeline_row(line, place) for place in places), note)


def _timeline_row(line: Json, place: int) -> Row:
    values = [line[name][place] for name in ("queue", "prefilling", "decoding")]
    batches = [pool["batch"][place] for _, pool in _decoding(line)]
    kv = [(_kv(pool)[place], _kv_unit(pool)) for _, pool in _pools(line)]
    cells = [
        *(Cell(short(value), exact(value)) for value in (*values, *batches)),
        *(Cell(f"{short(value)}{unit}", exact(value)) for value, unit in kv),
        Cell(share(line["stalled"][place])),
    ]
    return Row((Cell(short(line["from_s"] + line["step_s"] * place)), *cells))
