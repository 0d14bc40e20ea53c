"""Small files of each kind, as the tools write them."""

import json
from typing import Any


def mooncake(*rows: tuple[Any, Any, Any]) -> bytes:
    """Requests as Mooncake's traces have them."""
    lines = [
        {"timestamp": at, "input_length": prompt, "output_length": output, "hash_ids": [0, 1]}
        for at, prompt, output in rows
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def aiperf_record(start_ns: int, prompt: int, output: int, **changes: Any) -> dict[str, Any]:
    """One finished request of profile_export.jsonl; changes by key replace what is there (None: as null)."""
    record: dict[str, Any] = {
        "metadata": {
            "session_num": 0,
            "request_start_ns": start_ns,
            "request_end_ns": start_ns + 400_000_000,
            "benchmark_phase": "profiling",
            "was_cancelled": False,
            "cancellation_time_ns": None,
        },
        "metrics": {
            "input_sequence_length": {"value": prompt, "unit": "tokens"},
            "time_to_first_token": {"value": 25.5, "unit": "ms"},
            "output_sequence_length": {"value": output, "unit": "tokens"},
            "inter_chunk_latency": {"value": [4.8, 5.3], "unit": "ms"},
        },
        "error": None,
    }
    record["metadata"] |= changes.pop("metadata", {})
    return record | changes


def aiperf(*records: dict[str, Any]) -> bytes:
    """A profile_export.jsonl."""
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def vllm(**changes: Any) -> dict[str, Any]:
    """A detailed result of ``vllm bench serve`` with four requests, 2 requests/s; changes by key, None removes one."""
    run: dict[str, Any] = {
        "date": "20260302-101500",
        "backend": "vllm",
        "num_prompts": 4,
        "request_rate": 2.0,
        "burstiness": 1.0,
        "max_concurrency": None,
        "duration": 3.5,
        "completed": 4,
        "failed": 0,
        "request_throughput": 1.14,
        "input_lens": [100, 200, 300, 400],
        "output_lens": [10, 20, 30, 40],
        "ttfts": [0.1, 0.1, 0.1, 0.1],
        "itls": [[0.01], [], [0.02, 0.03], [0.01]],
        "start_times": [16_000_000.25, 16_000_000.75, 16_000_001.5, 16_000_001.75],
        "generated_texts": ["a", "b, NaN, c", "d", "e"],
        "errors": ["", "", "", ""],
        "mean_ttft_ms": 100.0,
    }
    return {key: value for key, value in (run | changes).items() if value is not None or key == "max_concurrency"}


def document(value: Any, **options: Any) -> bytes:
    """As JSON."""
    return json.dumps(value, **options).encode()
