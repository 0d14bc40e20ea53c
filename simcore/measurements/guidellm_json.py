"""guidellm's report: a list of benchmarks, each metric split by how requests ended; only successful ones are read.

``inter_token_latency_ms`` is our TPOT; ``time_per_output_token_ms`` includes the prefill and is converted where it is
all there is. ``request_latency`` is in seconds, the others in ms. Requests/s is counted requests over the measured
time: the mean that the file gives is of a sampled rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from simcore.measurements.definitions import without_first_token
from simcore.measurements.points import Load, ServingPoint, Setting
from simcore.measurements.record import Record

FORMAT = "guidellm (JSON)"
MS = 1e-3
LoadOf = tuple[Load | None, float | None, float | None]


def is_ours(value: Any) -> bool:
    """Whether a JSON value is a report."""
    return isinstance(value, dict) and isinstance(value.get("benchmarks"), list)


def read(record: Record, report: Record) -> ServingPoint:
    """One benchmark of a report."""
    metrics = record.at("metrics")
    duration, completed = _duration(record), _totals(record, "successful")
    ttft, e2e = _mean(metrics, "time_to_first_token_ms", MS), _mean(metrics, "request_latency", 1.0)
    output = _successful(metrics, "output_token_count", "output_tokens").tokens("mean")
    tpot, notes = _mean(metrics, "inter_token_latency_ms", MS), ()
    if tpot is None:
        tpot = without_first_token(_mean(metrics, "time_per_output_token_ms", MS), ttft, e2e, output)
        notes = ("TPOT without the prefill, from time_per_output_token_ms",) if tpot else ()  # type: ignore[assignment]
    stated = _successful(metrics, "requests_per_second").per_second("mean")
    load = strategy_load(_strategy(record))
    return ServingPoint(
        file=record.file,
        where=record.where,
        format=FORMAT,
        load=load[0],
        rate_req_per_s=load[1],
        concurrency=load[2],
        prompt_tokens=_successful(metrics, "prompt_token_count", "prompt_tokens").tokens("mean"),
        output_tokens=output,
        requests_per_s=completed / duration if completed and duration else stated,
        output_tokens_per_s=_successful(metrics, "output_tokens_per_second").per_second("mean"),
        ttft_s=ttft,
        ttft_median_s=_successful(metrics, "time_to_first_token_ms").seconds("median", unit_s=MS),
        tpot_s=tpot,
        itl_s=None,
        e2e_s=e2e,
        completed=completed,
        failed=_totals(record, "errored"),
        duration_s=duration,
        setting=_setting(record, report),
        notes=notes,
    )


def strategy_load(strategy: Record) -> LoadOf:
    """What a strategy asks of the server: ``synchronous`` is one in flight, ``throughput`` all that fit."""
    kind = (strategy.text("type_", "kind", "type") or "").lower()
    if kind == "synchronous":
        return "concurrency", None, 1.0
    if kind in ("concurrent", "throughput"):
        kept = strategy.count("streams", "max_concurrency", least=1)
        return ("concurrency", None, float(kept)) if kept else ("burst", None, None)
    if kind in ("constant", "poisson", "async"):
        rate = strategy.per_second("rate")
        return ("rate", rate, None) if rate else (None, None, None)
    return None, None, None


def _strategy(record: Record) -> Record:
    for place in (record.at("config"), record.at("args"), record):
        if isinstance(place.values.get("strategy"), Mapping):
            return place.at("strategy")
    return _only(record.at("config").at("profile"))


def _only(profile: Record) -> Record:
    """A profile of one load is its strategy (reports of 0.7 may have no other)."""
    values = {name: v[0] if isinstance(v, list) and len(v) == 1 else v for name, v in profile.values.items()}
    several = any(isinstance(values.get(name), list) for name in ("streams", "rate"))
    return replace(profile, values={} if several else values)


def _successful(metrics: Record, *names: str) -> Record:
    """A metric over successful requests; older reports have no split."""
    name = next((name for name in names if isinstance(metrics.values.get(name), Mapping)), names[0])
    metric = metrics.at(name)
    return metric.at("successful") if "successful" in metric.values else metric


def _mean(metrics: Record, name: str, unit_s: float) -> float | None:
    return _successful(metrics, name).seconds("mean", unit_s=unit_s)


def _totals(record: Record, status: str) -> int | None:
    for place in (record.at("metrics").at("request_totals"), record.at("request_totals")):
        if place.has(status):
            return place.count(status)
    made = record.at("scheduler_metrics").at("requests_made")
    return made.count(status) if made.values else record.at("run_stats").at("requests_made").count(status)


def _duration(record: Record) -> float | None:
    """The measured time, without warm-up and cool-down where those are told apart."""
    for place, begins, ends in (
        (record.at("scheduler_metrics"), "measure_start_time", "measure_end_time"),
        (record, "start_time", "end_time"),
        (record.at("run_stats"), "start_time", "end_time"),
    ):
        begin, end = place.values.get(begins), place.values.get(ends)
        if isinstance(begin, (int, float)) and isinstance(end, (int, float)) and end > begin:
            return float(end - begin)
    return record.seconds("duration")


def _setting(record: Record, report: Record) -> Setting:
    backend = record.at("config").at("backend")
    version = report.at("metadata").text("guidellm_version")
    backends = (report.at(name).at("backend") for name in ("config", "spec", "args"))
    named = report.at("args").text("model") or next(filter(None, (one.text("model") for one in backends)), None)
    named = named or record.at("worker").text("backend_model")
    return Setting(
        model=backend.text("model") or named,
        engine=None,
        engine_version=None if version is None else f"measured by guidellm {version}",
    )
