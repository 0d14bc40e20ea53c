"""``profile_export_genai_perf.json`` and ``profile_export_aiperf.json``: metrics beside the run's configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from simcore.measurements import metric_table
from simcore.measurements.loads import offered
from simcore.measurements.points import Load, ServingPoint, Setting
from simcore.measurements.record import Record

RATE, CONCURRENCY = ("request_rate", "rate"), ("concurrency",)
OPTION = r"--{}[ =]'?\"?([0-9.]+)"
is_ours = metric_table.is_ours


AIPERF = ("aiperf_version", "schema_version", "benchmark_id", "benchmark_duration", "was_cancelled", "error_summary")
AIPERF_CONFIG = ("loadgen", "phases", "user_config", "models")
GENAI_PERF = ("perf_analyzer", "model_selection_strategy", "formatted_model_name", "backend", "service_kind")
"""Keys that one of the two alone writes: of the report, of its configuration."""


def format_name(value: Any) -> str:
    """Which of the two wrote it: by the keys that it alone has, by the command line; both names where nothing tells."""
    config = value.get("input_config")
    config = config if isinstance(config, Mapping) else {}
    run = value.get("run_info")
    command = str(config.get("cli_command") or (run.get("cli_command") if isinstance(run, Mapping) else "") or "")
    if any(key in value for key in AIPERF) or any(key in config for key in AIPERF_CONFIG) or "aiperf" in command:
        return "AIPerf (JSON)"
    if any(key in config for key in GENAI_PERF) or "genai-perf" in command:
        return "genai-perf (JSON)"
    return "genai-perf or AIPerf (JSON)"


def read(record: Record) -> ServingPoint:
    """The run as a point. AIPerf counts requests that were cancelled or failed in ``error_summary``."""
    config = record.at("input_config")
    found = metric_table.point(record, _load(record, config), _setting(record, config), format_name(record.values))
    if record.values.get("was_cancelled") is True:
        record.flag("was_cancelled", True, "the run was stopped before its end", "noted")
    if found.failed is None and isinstance(record.values.get("error_summary"), list):
        found = replace(found, failed=_errors(record))
    return found


def _errors(record: Record) -> int:
    every = [one for one in record.values["error_summary"] if isinstance(one, Mapping)]
    return sum(replace(record, where=f"{record.where} error_summary", values=one).count("count") or 0 for one in every)


def _load(record: Record, config: Record) -> tuple[Load | None, float | None, float | None]:
    """From the configuration, which has had several layouts, or from the command line that it keeps."""
    stimulus = config.at("perf_analyzer").at("stimulus")
    for place in (config.at("loadgen"), _phase(config), stimulus, config.at("perf_analyzer"), config):
        found = offered(place, RATE, CONCURRENCY)
        if found[0] is not None:
            return found
    line = config.text("cli_command") or record.at("run_info").text("cli_command") or ""
    options = {name: re.search(OPTION.format(name), line) for name in ("request-rate", "concurrency")}
    said = {name.replace("-", "_"): match.group(1) for name, match in options.items() if match}
    return offered(replace(config, where=f"{config.where} cli_command", values=said), RATE, CONCURRENCY)


def _phase(config: Record) -> Record:
    """The profiling phase; warm-up is another."""
    phases = config.values.get("phases")
    every = [one for one in phases if isinstance(one, Mapping)] if isinstance(phases, list) else []
    counted = [one for one in every if not one.get("exclude_from_results")]
    return replace(config, where=f"{config.where} phases", values=counted[-1] if len(counted) == 1 else {})


def _setting(record: Record, config: Record) -> Setting:
    models = config.at("models").values.get("items")
    first = models[0] if isinstance(models, list) and models and isinstance(models[0], Mapping) else {}
    named = config.at("endpoint").text("model_names") or replace(config, values=first).text("name")
    return Setting(
        model=named or config.text("formatted_model_name", "model", "model_names"),
        engine=config.at("endpoint").text("backend") or config.text("backend"),
        date=record.text("start_time"),
    )
