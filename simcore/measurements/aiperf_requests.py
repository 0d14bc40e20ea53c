"""AIPerf's ``profile_export.jsonl``: one request a line; warm-up left out, cancelled and failed ones counted.

The requests of a file are one point: means over those that finished, requests/s over the time from the first start to
the last end, the number in flight by Little's law (exact here: every request's stay is known).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from simcore.measurements.metric_table import SECONDS
from simcore.measurements.points import ServingPoint, Setting
from simcore.measurements.record import Record

FORMAT = "AIPerf (JSON lines, a request each)"
PROFILING = "profiling"


OWN = ("request_start_ns", "request_end_ns", "benchmark_phase", "credit_phase", "was_cancelled", "timestamp_ns")
"""In a record's metadata. One that was cancelled before it began has no start; until October 2025 the start was
``timestamp_ns``, the phase ``credit_phase``, and the end among the metrics."""


def is_ours(value: Any) -> bool:
    """Whether a JSON value is a request's record."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(metadata, dict) and ("metrics" in value or "error" in value) and any(n in metadata for n in OWN)


@dataclass(frozen=True)
class _Request:
    start_s: float
    end_s: float
    ttft_s: float | None
    tpot_s: float | None
    prompt_tokens: float | None
    output_tokens: float | None


def read(records: list[Record]) -> ServingPoint | None:
    """The requests of a file as one point; None, flagged, where none finished."""
    counted = [record for record in records if _phase(record) == PROFILING]
    whole = replace(records[0], where=f"{len(records)} requests")
    if len(counted) < len(records):
        whole.flag("benchmark_phase", len(records) - len(counted), "requests of other phases than profiling", "noted")
    good = [record for record in counted if not _ended_badly(record)]
    requests = [request for request in map(_request, good) if request is not None]
    if not requests:
        whole.flag("", "", "no request finished with usable times", "row left out")
        return None
    return _point(whole, requests, len(counted) - len(good))


def _point(whole: Record, requests: list[_Request], failed: int) -> ServingPoint:
    duration = max(one.end_s for one in requests) - min(one.start_s for one in requests)
    output = _mean(requests, lambda one: one.output_tokens)
    rate = len(requests) / duration if duration > 0 else None
    return ServingPoint(
        file=whole.file,
        where=whole.where,
        format=FORMAT,
        load=None,
        concurrency=None,
        rate_req_per_s=None,
        prompt_tokens=_mean(requests, lambda one: one.prompt_tokens),
        output_tokens=output,
        requests_per_s=rate,
        output_tokens_per_s=rate * output if rate and output else None,
        ttft_s=_mean(requests, lambda one: one.ttft_s),
        ttft_median_s=None,
        tpot_s=_mean(requests, lambda one: one.tpot_s),
        itl_s=None,
        e2e_s=_mean(requests, lambda one: one.end_s - one.start_s),
        completed=len(requests),
        failed=failed,
        duration_s=duration or None,
        setting=Setting(),
    )


def _phase(record: Record) -> str:
    return record.at("metadata").text("benchmark_phase", "credit_phase") or PROFILING


def _ended_badly(record: Record) -> bool:
    return record.values.get("error") is not None or record.at("metadata").values.get("was_cancelled") is True


def _request(record: Record) -> _Request | None:
    metadata, metrics = record.at("metadata"), record.at("metrics")
    start = metadata.values.get("request_start_ns", metadata.values.get("timestamp_ns"))
    end = metadata.values.get("request_end_ns", metrics.at("max_response_timestamp").values.get("value"))
    if not isinstance(start, int):
        record.flag("request_start_ns", start, "expected a time in ns", "row left out")
        return None
    if not isinstance(end, int) or end <= start:
        record.flag("request_end_ns", end, "expected a time in ns after request_start_ns", "row left out")
        return None
    return _Request(
        start_s=start / 1e9,
        end_s=end / 1e9,
        ttft_s=_time(metrics, "time_to_first_token", "ttft"),
        tpot_s=_time(metrics, "inter_token_latency"),
        prompt_tokens=metrics.at("input_sequence_length").tokens("value"),
        output_tokens=metrics.at("output_sequence_length").tokens("value"),
    )


def _time(metrics: Record, *names: str) -> float | None:
    metric = metrics.at(next((name for name in names if name in metrics.values), names[0]))
    unit = metric.text("unit") or "ms"
    if unit not in SECONDS:
        metric.flag("unit", unit, f"expected one of {', '.join(SECONDS)}", "not used")
        return None
    return metric.seconds("value", unit_s=SECONDS[unit])


def _mean(requests: list[_Request], of: Callable[[_Request], float | None]) -> float | None:
    known = [value for value in map(of, requests) if value is not None]
    return sum(known) / len(known) if known else None
