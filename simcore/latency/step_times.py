"""Readers of measured step times: a user's CSV, and the shipped table of Splitwise's medians.

The shipped table (data/step_times.csv) holds, for each model, hardware and TP, four series of medians that we
computed from splitwise-sim 8f99e7d data/perf_model.csv (MIT): ``prefill`` by prompt tokens (rows with output up to
128: longer ones ended early, and only their token time is used), ``decode`` by batch size, both without the runs
that ran out of KV (Llama-2-70B TP2 batch 64); and ``prefill_raw``, ``decode_raw`` by prompt tokens over all rows,
which is what that simulator itself reads.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TextIO

from simcore.spec import SpecError

COLUMNS = (
    "model",
    "hardware",
    "tensor_parallel",
    "prompt_size",
    "batch_size",
    "token_size",
    "prompt_time",
    "token_time",
)
RAN_OUT_OF_KV = 1.5
"""A run that took this many times what its own step times add up to was serialised for want of KV (Splitwise's did
14 to 17).
"""
MOST_MS = 1e9
MOST_DIGITS = 9
Key = tuple[str, str, int]


@dataclass
class Series:
    """Medians in ms by key."""

    prefill_ms: dict[int, Fraction] = field(default_factory=dict)
    decode_ms: dict[int, Fraction] = field(default_factory=dict)


@dataclass(frozen=True)
class StepTimeTable:
    """The series by (model, hardware, TP), and where they come from in words."""

    series: Mapping[Key, Series]
    source: str


@cache
def shipped_step_times(decode_key: str) -> StepTimeTable:
    """The shipped table for a decode key; ``prompt_tokens`` takes the raw medians."""
    suffix = "" if decode_key == "batch_size" else "_raw"
    series: dict[Key, Series] = {}
    text = files("simcore.latency").joinpath("data/step_times.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        one = series.setdefault((row["model"], row["hardware"], int(row["tensor_parallel"])), Series())
        target = {f"prefill{suffix}": one.prefill_ms, f"decode{suffix}": one.decode_ms}.get(row["series"])
        if target is not None:
            target[int(row["key"])] = Fraction(row["median_ms"])
    return StepTimeTable(series, "Splitwise's medians of 2023 (splitwise-sim 8f99e7d, MIT)")


def read_step_times(path: str, decode_key: str) -> StepTimeTable:
    """A user's CSV of CONTRACT.md's columns in ms. An empty prompt_time or token_time is not measured; with
    ``e2e_time``, runs that ran out of KV are left out (not with ``prompt_tokens``, which takes the table raw) and
    counted in the source.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            rows = list(_rows(path, file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not CSV in UTF-8"
        raise SpecError(f"latency.path: cannot read '{path}': {reason}, expected a CSV of step times") from None
    if not rows:
        raise SpecError(f"latency.path: found no rows in '{path}', expected step times below the header")
    kept = rows if decode_key == "prompt_tokens" else [row for row in rows if not row.ran_out_of_kv]
    left_out = f" ({len(rows) - len(kept)} rows left out: ran out of KV)" if len(kept) < len(rows) else ""
    return StepTimeTable(_medians(kept, decode_key), f"{Path(path).name}{left_out}")


@dataclass(frozen=True)
class StepRow:
    """One measured run."""

    key: Key
    prompt_tokens: int
    """Of the whole batch."""
    batch_size: int
    output_tokens: int
    prompt_ms: Fraction | None
    token_ms: Fraction | None
    ran_out_of_kv: bool


def _medians(rows: list[StepRow], decode_key: str) -> dict[Key, Series]:
    prefill: dict[tuple[Key, int], list[Fraction]] = {}
    decode: dict[tuple[Key, int], list[Fraction]] = {}
    for row in rows:
        at = row.batch_size if decode_key == "batch_size" else row.prompt_tokens
        if row.prompt_ms is not None:
            prefill.setdefault((row.key, row.prompt_tokens), []).append(row.prompt_ms)
        if row.token_ms is not None:
            decode.setdefault((row.key, at), []).append(row.token_ms)
    series: dict[Key, Series] = {row.key: Series() for row in rows}
    for (key, at), values in prefill.items():
        series[key].prefill_ms[at] = statistics.median(values)
    for (key, at), values in decode.items():
        series[key].decode_ms[at] = statistics.median(values)
    return series


def _rows(path: str, file: TextIO) -> Iterator[StepRow]:
    reader = csv.DictReader(file)
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise SpecError(
            f"latency.path: '{path}' line 1: missing column {', '.join(missing)}, expected {', '.join(COLUMNS)}"
        )
    for cells in reader:
        yield step_row(f"latency.path: '{path}' line {reader.line_num}", cells)


def step_row(where: str, cells: Mapping[str, str]) -> StepRow:
    """A row of CONTRACT.md's columns; SpecError names the column, after ``where``."""
    batch, prompt = _count(where, cells, "batch_size"), _count(where, cells, "prompt_size")
    output = _count(where, cells, "token_size")
    prompt_ms, token_ms = _time(where, cells, "prompt_time"), _time(where, cells, "token_time")
    e2e = _time(where, cells, "e2e_time") if "e2e_time" in cells else None
    key = (_name(where, cells, "model"), _name(where, cells, "hardware"), _count(where, cells, "tensor_parallel"))
    exhausted = (
        e2e is not None
        and prompt_ms is not None
        and token_ms is not None
        and e2e > Fraction(RAN_OUT_OF_KV) * (prompt_ms + token_ms * (output - 1))
    )
    return StepRow(key, prompt * batch, batch, output, prompt_ms, token_ms, exhausted)


def _name(where: str, cells: Mapping[str, str], name: str) -> str:
    text = (cells[name] or "").strip()
    if not text:
        raise SpecError(f"{where}: {name}: found nothing, expected an id")
    return text


def _count(where: str, cells: Mapping[str, str], name: str) -> int:
    text = (cells[name] or "").strip()
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS or int(text) < 1:
        raise SpecError(f"{where}: {name}: found '{text[:40]}', expected a whole number of at least 1")
    return int(text)


def _time(where: str, cells: Mapping[str, str], name: str) -> Fraction | None:
    text = (cells[name] or "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= MOST_MS:
        raise SpecError(f"{where}: {name}: found '{text[:40]}', expected milliseconds above 0 and at most {MOST_MS:g}")
    return Fraction(repr(value))
