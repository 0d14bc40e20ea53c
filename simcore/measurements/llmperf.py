"""llmperf's summary: one flat object, seconds, requests a minute, a closed loop.

Its inter-token latency spreads the whole request over all of its tokens, so TPOT is made from E2E and TTFT.
"""

from __future__ import annotations

from typing import Any

from simcore.measurements.definitions import without_first_token
from simcore.measurements.points import ServingPoint, Setting
from simcore.measurements.record import Record

FORMAT = "llmperf (JSON)"
MINUTE_S = 60.0


def is_ours(value: Any) -> bool:
    """Whether a JSON value is such a summary."""
    return (
        isinstance(value, dict) and "num_concurrent_requests" in value and any(k.startswith("results_") for k in value)
    )


def read(record: Record) -> ServingPoint:
    """The run as a point."""
    ttft, e2e = record.seconds("results_ttft_s_mean"), record.seconds("results_end_to_end_latency_s_mean")
    output = record.tokens("results_number_output_tokens_mean", "mean_output_tokens")
    spread = record.seconds("results_inter_token_latency_s_mean")
    per_minute = record.per_second("results_num_completed_requests_per_min")
    completed = record.count("results_num_completed_requests")
    concurrency = record.count("num_concurrent_requests", least=1)
    return ServingPoint(
        file=record.file,
        where=record.where,
        format=FORMAT,
        load="concurrency" if concurrency else None,
        concurrency=concurrency,
        rate_req_per_s=None,
        prompt_tokens=record.tokens("results_number_input_tokens_mean", "mean_input_tokens"),
        output_tokens=output,
        requests_per_s=per_minute / MINUTE_S if per_minute else None,
        output_tokens_per_s=record.per_second("results_mean_output_throughput_token_per_s"),
        ttft_s=ttft,
        ttft_median_s=record.seconds("results_ttft_s_quantiles_p50"),
        tpot_s=without_first_token(spread, ttft, e2e, output),
        itl_s=None,
        e2e_s=e2e,
        completed=completed,
        failed=record.count("results_number_errors"),
        duration_s=completed / per_minute * MINUTE_S if completed and per_minute else None,
        setting=Setting(model=record.text("model")),
        notes=("TPOT without the first token, from E2E and TTFT",),
    )
