"""guidellm's CSV: three header rows (group; field, status and unit; statistic), one row a benchmark, JSON in cells.

Columns are found by the words of their three headers, since the order and the units' row have changed between versions.
"""

from __future__ import annotations

import json
import re
from typing import Any

from simcore.measurements.definitions import without_first_token
from simcore.measurements.guidellm_json import LoadOf, strategy_load
from simcore.measurements.points import Flags, Json, ServingPoint, Setting
from simcore.measurements.record import Record, number
from simcore.measurements.tables import Rows

FORMAT = "guidellm (CSV)"
MS = 1e-3
GROUPS = ("run info", "time to first token", "request latency", "server throughput", "request counts")
HEADER_ROWS = 3
COLUMNS = {
    "ttft_mean": ("time to first token", "successful", "mean"),
    "ttft_median": ("time to first token", "successful", "median"),
    "itl_mean": ("inter token latency", "successful", "mean"),
    "tpot_mean": ("time per output token", "successful", "mean"),
    "e2e_mean": ("request latency", "successful", "mean"),
    "rate_mean": ("requests/sec", "successful", "mean"),
    "prompt_mean": ("token metrics", "input tokens", "successful", "mean"),
    "output_mean": ("token metrics", "output tokens", "successful", "mean"),
    "output_rate": ("token throughput", "output tokens/sec", "successful", "mean"),
    "successful": ("request counts", "successful"),
    "errored": ("request counts", "errored"),
    "duration": ("timings", "duration"),
    "strategy": ("benchmark", "strategy"),
    "profile": ("run info", "profile"),
    "index": ("run info", "run index"),
    "backend": ("run info", "backend"),
}


def is_ours(rows: Rows) -> bool:
    """Whether rows begin with these headers."""
    words = {cell.strip().lower() for _, cells in rows[:HEADER_ROWS] for cell in cells}
    return len(rows) > HEADER_ROWS and sum(group in words for group in GROUPS) >= 2


def read(file: str, rows: Rows, decimal_comma: bool, flags: Flags) -> list[ServingPoint]:
    """A point a row below the headers."""
    headers = _headers(rows[:HEADER_ROWS])
    at = {name: _column(headers, words) for name, words in COLUMNS.items()}
    found = []
    for line, cells in rows[HEADER_ROWS:]:
        values = {name: cells[i] for name, i in at.items() if i is not None and i < len(cells)}
        found.append(_point(Record(file, f"line {line}", values, flags, decimal_comma)))
    return found


def _headers(rows: Rows) -> list[str]:
    width = max(len(cells) for _, cells in rows)
    padded = [[*cells, *[""] * (width - len(cells))] for _, cells in rows]
    return [re.sub(r"\s+", " ", " ".join(column)).strip().lower() for column in zip(*padded, strict=True)]


def _column(headers: list[str], words: tuple[str, ...]) -> int | None:
    """The first whose headers hold all of the words (``tokens/sec`` is not ``tokens``)."""
    patterns = [re.compile(rf"(?<![\w/]){re.escape(word)}(?![\w/])") for word in words]
    return next((i for i, header in enumerate(headers) if all(p.search(header) for p in patterns)), None)


def _point(record: Record) -> ServingPoint:
    ttft, e2e = record.seconds("ttft_mean", unit_s=MS), record.seconds("e2e_mean")
    output = record.tokens("output_mean")
    tpot, notes = record.seconds("itl_mean", unit_s=MS), []
    if tpot is None:
        tpot = without_first_token(record.seconds("tpot_mean", unit_s=MS), ttft, e2e, output)
        notes = ["TPOT without the prefill, from Time per Output Token"] if tpot else []
    completed, duration = record.count("successful"), record.seconds("duration")
    load = _load(record)
    return ServingPoint(
        file=record.file,
        where=record.where,
        format=FORMAT,
        load=load[0],
        rate_req_per_s=load[1],
        concurrency=load[2],
        prompt_tokens=record.tokens("prompt_mean"),
        output_tokens=output,
        requests_per_s=completed / duration if completed and duration else record.per_second("rate_mean"),
        output_tokens_per_s=record.per_second("output_rate"),
        ttft_s=ttft,
        ttft_median_s=record.seconds("ttft_median", unit_s=MS),
        tpot_s=tpot,
        itl_s=None,
        e2e_s=e2e,
        completed=completed,
        failed=record.count("errored"),
        duration_s=duration,
        setting=Setting(model=_json(record, "backend").text("model")),
        notes=tuple(notes),
    )


def _load(record: Record) -> LoadOf:
    """From the strategy, and from the profile's list of loads at the run's index (a sweep's list says nothing)."""
    profile = _json(record, "profile")
    values: Json = {"type_": record.text("strategy")}
    index = number(record.text("index") or "")
    for name in ("streams", "rate"):
        every: Any = profile.values.get(name)
        if isinstance(every, list) and index is not None and index == index and 0 <= index < len(every):
            values[name] = every[int(index)]
    return strategy_load(Record(record.file, f"{record.where} profile", values, record.flags))


def _json(record: Record, name: str) -> Record:
    try:
        value = json.loads(record.values.get(name) or "{}")
    except (ValueError, RecursionError):  # no JSON, or a number of thousands of digits
        record.flag(name, record.values.get(name), "expected JSON", "not used")
        value = {}
    return Record(record.file, f"{record.where} {name}", value if isinstance(value, dict) else {}, record.flags)
