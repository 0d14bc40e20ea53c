"""``vllm bench serve`` (and SGLang's ``bench_serving``, which keeps its names): one JSON object a run.

Summaries are in ms, a run's duration in s. TPOT is a mean over requests and without the first token, as ours; ITL is a
mean over pieces of the stream, which may hold several tokens. Neither hardware nor TP is a field of the file; people
add them with ``--metadata``. Under ``max_concurrency`` TTFT begins when the client lets a request go.
"""

from __future__ import annotations

from typing import Any

from simcore.measurements.loads import offered
from simcore.measurements.points import ServingPoint, Setting
from simcore.measurements.record import Record

FORMAT = "vllm bench serve (JSON)"
MS = 1e-3
OWN = ("mean_ttft_ms", "median_ttft_ms", "mean_tpot_ms", "median_tpot_ms", "p99_ttft_ms", "p99_tpot_ms")


def is_ours(value: Any) -> bool:
    """Whether a JSON value is such a run."""
    return isinstance(value, dict) and ("duration" in value or "completed" in value) and any(n in value for n in OWN)


def read(record: Record) -> ServingPoint:
    """The run as a point."""
    completed = record.count("completed")
    load, rate, concurrency = offered(record, ("request_rate",), ("max_concurrency",))
    return ServingPoint(
        file=record.file,
        where=record.where,
        format=FORMAT,
        load=load,
        concurrency=concurrency,
        rate_req_per_s=rate,
        prompt_tokens=_each(record, completed, "total_input_tokens", "total_input"),
        output_tokens=_each(record, completed, "total_output_tokens", "total_output"),
        requests_per_s=record.per_second("request_throughput"),
        output_tokens_per_s=record.per_second("output_throughput"),
        ttft_s=record.seconds("mean_ttft_ms", unit_s=MS),
        ttft_median_s=record.seconds("median_ttft_ms", unit_s=MS),
        tpot_s=record.seconds("mean_tpot_ms", "median_tpot_ms", unit_s=MS),
        itl_s=record.seconds("mean_itl_ms", unit_s=MS),
        e2e_s=record.seconds("mean_e2el_ms", "mean_e2e_latency_ms", unit_s=MS),
        completed=completed,
        failed=_failed(record, completed),
        duration_s=record.seconds("duration"),
        setting=setting(record),
    )


def setting(record: Record) -> Setting:
    """Where it was measured, from the file's own fields and what was added to them."""
    return Setting(
        model=record.text("model_id", "model", "model_name"),
        engine=record.text("backend", "endpoint_type", "engine"),
        engine_version=record.text("engine_version", "vllm_version", "version"),
        accelerator=record.text("gpu", "hw", "hardware", "accelerator", "gpu_name", "device"),
        tensor_parallel=record.count("tensor_parallel", "tensor_parallel_size", "tp", "tp_size", least=1),
        replicas=record.count("replicas", "data_parallel_size", "dp", least=1),
        precision=record.text("precision", "quantization"),
        date=record.text("date"),
    )


def _each(record: Record, completed: int | None, *names: str) -> float | None:
    total = record.count(*names)
    return total / completed if total and completed else None


def _failed(record: Record, completed: int | None) -> int | None:
    """Older files do not count what failed, but what was sent."""
    if record.has("failed"):
        return record.count("failed")
    sent = record.count("num_prompts")
    return sent - completed if sent is not None and completed is not None and sent >= completed else None
