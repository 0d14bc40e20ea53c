"""NVIDIA's two tools, genai-perf and AIPerf: metrics by name, each with a unit and statistics, from JSON or CSV.

Their inter-token latency is (E2E - TTFT) / (output tokens - 1) of a request: our TPOT. ``inter_chunk_latency`` is the
gap between pieces of the stream: our ITL. Units are read from the file, ms where it says none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcore.measurements.points import Load, ServingPoint, Setting
from simcore.measurements.record import Record

SECONDS = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
NAMES = {
    "ttft": ("time_to_first_token",),
    "tpot": ("inter_token_latency",),
    "itl": ("inter_chunk_latency",),
    "e2e": ("request_latency",),
    "isl": ("input_sequence_length", "num_input_token"),
    "osl": ("output_sequence_length", "num_output_token", "output_token_count"),
    "rate": ("request_throughput",),
    "output_rate": ("output_token_throughput",),
    "completed": ("request_count",),
    "failed": ("error_request_count",),
    "duration": ("benchmark_duration",),
}


def is_ours(value: Any) -> bool:
    """Whether a JSON value is such a table."""
    return isinstance(value, dict) and any(
        isinstance(value.get(name), dict) and "unit" in value[name]
        for name in ("request_latency", "request_throughput")
    )


def point(
    record: Record, load: tuple[Load | None, float | None, float | None], setting: Setting, format_name: str
) -> ServingPoint:
    """A run's metrics (name -> {unit, avg, p50}) as a point."""
    return ServingPoint(
        file=record.file,
        where=record.where,
        format=format_name,
        load=load[0],
        rate_req_per_s=load[1],
        concurrency=load[2],
        prompt_tokens=_metric(record, "isl").tokens("avg"),
        output_tokens=_metric(record, "osl").tokens("avg"),
        requests_per_s=_metric(record, "rate").per_second("avg"),
        output_tokens_per_s=_metric(record, "output_rate").per_second("avg"),
        ttft_s=_time(record, "ttft", "avg"),
        ttft_median_s=_time(record, "ttft", "p50"),
        tpot_s=_time(record, "tpot", "avg", "p50"),
        itl_s=_time(record, "itl", "avg"),
        e2e_s=_time(record, "e2e", "avg"),
        completed=_metric(record, "completed").count("avg"),
        failed=_metric(record, "failed").count("avg"),
        duration_s=_time(record, "duration", "avg"),
        setting=setting,
    )


def _metric(record: Record, name: str) -> Record:
    found = next((known for known in NAMES[name] if isinstance(record.values.get(known), Mapping)), None)
    twice = next((known for known in NAMES[name] if known in record.values and found is None), None)
    if twice is not None and record.values[twice] is not None:
        record.flag(twice, record.values[twice], "expected one metric with a unit", "not used")
    return record.at(found or NAMES[name][0])


def _time(record: Record, name: str, *statistics: str) -> float | None:
    metric = _metric(record, name)
    unit = str(metric.values.get("unit") or "ms").strip().lower()
    if unit not in SECONDS:
        metric.flag("unit", unit, f"expected one of {', '.join(SECONDS)}", "not used")
        return None
    return metric.seconds(*statistics, unit_s=SECONDS[unit])
