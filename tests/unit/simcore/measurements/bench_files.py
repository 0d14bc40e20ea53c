"""Benchmark files as each tool writes them, from one run in a steady state whose figures agree with each other.

Field names follow the tools' documentation and sources (research of 2026-11); the numbers are made up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Run:
    """So many in flight, each with these tokens and times."""

    concurrency: int = 32
    prompt_tokens: int = 1000
    output_tokens: int = 201
    ttft_s: float = 0.25
    tpot_s: float = 0.02
    completed: int = 640

    @property
    def e2e_s(self) -> float:
        return self.ttft_s + self.tpot_s * (self.output_tokens - 1)

    @property
    def requests_per_s(self) -> float:
        return self.concurrency / self.e2e_s

    @property
    def duration_s(self) -> float:
        return self.completed / self.requests_per_s


RUN = Run()


def vllm(run: Run = RUN, **changes: Any) -> dict[str, Any]:
    value: dict[str, Any] = {
        "date": "20260302-101500",
        "backend": "vllm",
        "model_id": "meta-llama/Llama-3.1-8B-Instruct",
        "num_prompts": run.completed,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": run.concurrency,
        "duration": run.duration_s,
        "completed": run.completed,
        "failed": 0,
        "total_input_tokens": run.prompt_tokens * run.completed,
        "total_output_tokens": run.output_tokens * run.completed,
        "request_throughput": run.requests_per_s,
        "output_throughput": run.requests_per_s * run.output_tokens,
        "mean_ttft_ms": run.ttft_s * 1e3,
        "median_ttft_ms": run.ttft_s * 950,
        "p99_ttft_ms": run.ttft_s * 3e3,
        "mean_tpot_ms": run.tpot_s * 1e3,
        "median_tpot_ms": run.tpot_s * 1e3,
        "p99_tpot_ms": run.tpot_s * 1.3e3,
        "mean_itl_ms": run.tpot_s * 1e3,
        "tp": "4",
        "gpu": "H100",
    }
    return {name: found for name, found in {**value, **changes}.items() if found != "absent"}


def inferencex(run: Run = RUN, **changes: Any) -> dict[str, Any]:
    """Lengths are nominal there: drawn ones are 0.9 of them."""
    gpus = 4
    output_per_s = run.requests_per_s * run.output_tokens
    value = {
        "hw": "h100",
        "conc": run.concurrency,
        "model": "meta-llama/Llama-3.1-8B-Instruct",
        "framework": "vllm",
        "image": "vllm/vllm-openai:v0.13.0",
        "precision": "bf16",
        "spec_decoding": "none",
        "disagg": False,
        "isl": run.prompt_tokens / 0.9,
        "osl": run.output_tokens / 0.9,
        "tp": gpus,
        "ep": 1,
        "dp_attention": "false",
        "tput_per_gpu": output_per_s * (1 + run.prompt_tokens / run.output_tokens) / gpus,
        "output_tput_per_gpu": output_per_s / gpus,
        "median_ttft": run.ttft_s,
        "mean_ttft": run.ttft_s,
        "mean_tpot": run.tpot_s,
        "median_intvty": 1 / run.tpot_s,
    }
    return {name: found for name, found in {**value, **changes}.items() if found != "absent"}


def _split(mean: float, median: float | None = None) -> dict[str, Any]:
    good = {"mean": mean, "median": median or mean, "std_dev": 0.1, "percentiles": {"p50": mean, "p99": 2 * mean}}
    none = {"mean": 0.0, "median": 0.0, "std_dev": 0.0, "percentiles": {}}
    return {"successful": good, "errored": none, "incomplete": none, "total": good}


def guidellm(run: Run = RUN, **metrics: Any) -> dict[str, Any]:
    values = {
        "request_totals": {"successful": run.completed, "errored": 0, "incomplete": 3, "total": run.completed + 3},
        "requests_per_second": _split(run.requests_per_s * 0.7),  # a sampled mean, not the rate
        "request_concurrency": _split(run.concurrency),
        "request_latency": _split(run.e2e_s),
        "prompt_token_count": _split(run.prompt_tokens),
        "output_token_count": _split(run.output_tokens),
        "time_to_first_token_ms": _split(run.ttft_s * 1e3),
        "time_per_output_token_ms": _split(run.e2e_s * 1e3 / run.output_tokens),
        "inter_token_latency_ms": _split(run.tpot_s * 1e3),
        "output_tokens_per_second": _split(run.requests_per_s * run.output_tokens),
        **metrics,
    }
    benchmark = {
        "type_": "generative_benchmark",
        "config": {
            "run_index": 0,
            "strategy": {"type_": "concurrent", "streams": run.concurrency, "max_concurrency": run.concurrency},
            "backend": {"target": "http://localhost:8000", "model": "meta-llama/Llama-3.1-8B-Instruct"},
        },
        "scheduler_metrics": {"measure_start_time": 1772470696.5, "measure_end_time": 1772470696.5 + run.duration_s},
        "metrics": {name: found for name, found in values.items() if found is not None},
    }
    return {"metadata": {"version": 1, "guidellm_version": "0.5.0"}, "args": {}, "benchmarks": [benchmark]}


def guidellm_csv(run: Run = RUN) -> str:
    def statistics(group: str, field: str, mean: float) -> list[tuple[str, str, str, str]]:
        rows = [(group, f"Successful {field}", name, repr(mean)) for name in ("Mean", "Median", "Std Dev")]
        return [*rows, (group, f"Successful {field}", "Percentiles", f'"[{", ".join([repr(mean)] * 11)}]"')]

    profile = json.dumps({"type_": "concurrent", "streams": [run.concurrency]}).replace('"', '""')
    columns = [
        ("Run Info", "Run Index", "", "0"),
        ("Run Info", "Profile", "", f'"{profile}"'),
        ("Benchmark", "Strategy", "", "concurrent"),
        ("Timings", "Duration", "Sec", repr(run.duration_s)),
        ("Request Counts", "Successful", "", str(run.completed)),
        ("Request Counts", "Errored", "", "0"),
        *statistics("Request Latency", "Sec", run.e2e_s),
        *statistics("Time to First Token", "ms", run.ttft_s * 1e3),
        *statistics("Time per Output Token", "ms", run.e2e_s * 1e3 / run.output_tokens),
        *statistics("Inter Token Latency", "ms", run.tpot_s * 1e3),
        *statistics("Server Throughput", "Requests/Sec", run.requests_per_s),
        *statistics("Server Throughput", "Concurrency", run.concurrency),
        *statistics("Token Metrics", "Input Tokens", run.prompt_tokens),
        *statistics("Token Metrics", "Output Tokens", run.output_tokens),
        *statistics("Token Throughput", "Output Tokens/Sec", run.requests_per_s * run.output_tokens),
    ]
    return "\r\n".join(",".join(column[i] for column in columns) for i in range(4)) + "\r\n"


def nvidia(run: Run = RUN, **changes: Any) -> dict[str, Any]:
    def metric(unit: str, mean: float) -> dict[str, Any]:
        return {"unit": unit, "avg": mean, "p50": mean, "p99": 2 * mean}

    value = {
        "request_throughput": metric("requests/sec", run.requests_per_s),
        "request_latency": metric("ms", run.e2e_s * 1e3),
        "time_to_first_token": metric("ms", run.ttft_s * 1e3),
        "inter_token_latency": metric("ms", run.tpot_s * 1e3),
        "output_token_throughput": metric("tokens/sec", run.requests_per_s * run.output_tokens),
        "output_sequence_length": metric("tokens", run.output_tokens),
        "input_sequence_length": metric("tokens", run.prompt_tokens),
        **changes,
    }
    return {name: found for name, found in value.items() if found != "absent"}


def aiperf(run: Run = RUN, **changes: Any) -> dict[str, Any]:
    own = {
        "aiperf_version": "0.10.0",
        "request_count": {"unit": "requests", "avg": float(run.completed)},
        "benchmark_duration": {"unit": "sec", "avg": run.duration_s},
        "was_cancelled": False,
        "error_summary": [{"error_details": {"code": 499}, "count": 4}],
        "start_time": "2026-07-03T05:21:36.274997",
        "input_config": {
            "models": {"items": [{"name": "llama-3.1-8b"}]},
            "phases": [
                {"name": "warmup", "exclude_from_results": True, "concurrency": 4},
                {"name": "profiling", "type": "concurrency", "concurrency": run.concurrency},
            ],
        },
    }
    return nvidia(run, **{**own, **changes})


def genai_perf(run: Run = RUN, **changes: Any) -> dict[str, Any]:
    own = {
        "request_count": {"unit": "count", "avg": float(run.completed)},
        "input_config": {
            "model_names": ["llama-3.1-8b"],
            "perf_analyzer": {"stimulus": {"concurrency": run.concurrency}},
        },
    }
    return nvidia(run, **{**own, **changes})


def genai_perf_csv(run: Run = RUN) -> str:
    def row(name: str, mean: float) -> str:
        cell = f"{mean:,.2f}"
        text = f'"{cell}"' if "," in cell else cell
        return f"{name},{text},{text},{text},{text},{text}"

    return "\n".join(
        [
            "Metric,avg,min,max,p99,p50",
            row("Time To First Token (ms)", run.ttft_s * 1e3),
            row("Request Latency (ms)", run.e2e_s * 1e3),
            row("Inter Token Latency (ms)", run.tpot_s * 1e3),
            row("Output Sequence Length (tokens)", run.output_tokens),
            row("Input Sequence Length (tokens)", run.prompt_tokens),
            "",
            "Metric,Value",
            f"Output Token Throughput (per sec),{run.requests_per_s * run.output_tokens:.2f}",
            f"Request Throughput (per sec),{run.requests_per_s:.3f}",
            f"Request Count (count),{run.completed}.00",
            "",
            "Endpoint,GPU_Index,Metric,avg",
            "localhost,0,GPU Power (W),412.00",
            "",
        ]
    )


def aiperf_csv(run: Run = RUN) -> str:
    body = genai_perf_csv(run).replace("Metric,avg,min,max,p99,p50", "Metric,avg,min,max,p50,std")
    return body.replace("Request Count (count)", f"Benchmark Duration (sec),{run.duration_s:.2f}\nRequest Count")


def aiperf_requests(run: Run = RUN) -> str:
    """Back to back in each of so many streams, after a warm-up, with one cancelled."""

    def record(start_s: float, phase: str, **changes: Any) -> dict[str, Any]:
        metadata = {
            "request_start_ns": round(start_s * 1e9),
            "request_end_ns": round((start_s + run.e2e_s) * 1e9),
            "turn_index": 0,
            "benchmark_phase": phase,
            "was_cancelled": False,
        }
        metrics = {
            "input_sequence_length": {"value": run.prompt_tokens, "unit": "tokens"},
            "output_sequence_length": {"value": run.output_tokens, "unit": "tokens"},
            "time_to_first_token": {"value": run.ttft_s * 1e3, "unit": "ms"},
            "inter_token_latency": {"value": run.tpot_s * 1e3, "unit": "ms"},
        }
        return {"metadata": {**metadata, **changes.pop("metadata", {})}, "metrics": metrics, "error": None, **changes}

    each = run.completed // run.concurrency
    records = [record(i * run.e2e_s, "profiling") for i in range(each) for _ in range(run.concurrency)]
    warm = [record(-10.0, "warmup") for _ in range(5)]
    lost = record(1.0, "profiling", metadata={"was_cancelled": True}, metrics={}, error={"code": 499})
    return "\n".join(json.dumps(one) for one in [*warm, *records, lost]) + "\n"


def llmperf(run: Run = RUN, **changes: Any) -> dict[str, Any]:
    return {
        "version": "2023-08-31",
        "model": "llama-3.1-8b",
        "mean_input_tokens": run.prompt_tokens,
        "num_concurrent_requests": run.concurrency,
        "results_ttft_s_mean": run.ttft_s,
        "results_ttft_s_quantiles_p50": run.ttft_s,
        "results_inter_token_latency_s_mean": run.e2e_s / run.output_tokens,
        "results_end_to_end_latency_s_mean": run.e2e_s,
        "results_number_input_tokens_mean": run.prompt_tokens,
        "results_number_output_tokens_mean": run.output_tokens,
        "results_num_completed_requests": run.completed,
        "results_num_completed_requests_per_min": run.requests_per_s * 60,
        "results_error_code_frequency": "{429: 2}",
        **changes,
    }
