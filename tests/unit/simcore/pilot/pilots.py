"""Designs, their kits, and results of their runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from simcore.measurements import ServingPoint, Setting
from simcore.pilot import PilotRun, pilot_kit
from simcore.pilot.error import TimeRange
from simcore.spec import decode_case

CO_LOCATED: dict[str, Any] = {
    "model": "llama-3.1-70b",
    "pools": [{"role": "mixed", "machine": "dgx-h100", "machines": 10, "tensor_parallel": 4}],
    "scheduler": {"kind": "sarathi", "token_budget": 512},
    "slo": {"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 99, "limit": 60}]},
}


PAIR: dict[str, Any] = CO_LOCATED | {
    "pools": [
        {"role": "decode", "machine": "dgx-h100", "machines": 3, "tensor_parallel": 4},
        {"role": "prefill", "machine": "dgx-h100", "machines": 5, "tensor_parallel": 4},
    ],
    "scheduler": {"kind": "splitwise", "mixed_pool": False},
}


def kit_of(case: dict[str, Any], rate: float = 30, headroom: float = 1.15, error: float = 0.1) -> Any:
    ranges = {role: TimeRange(role, 1 - error, 1 + error, "points") for role in ("mixed", "prefill", "decode")}
    return pilot_kit(decode_case(case), 1020.4, 211.2, rate, headroom, ranges)


def measured(run: PilotRun, slower: float = 1.0, **other: Any) -> ServingPoint:
    """What the run would measure were all figures so many times as long."""
    bands = {band.figure: band.predicted for band in run.bands}
    point = ServingPoint(
        *("bench.json", "line 1", "vllm bench serve", "rate", None, run.req_per_s, run.prompt_tokens),
        output_tokens=run.output_tokens,
        requests_per_s=run.req_per_s * 0.98,
        output_tokens_per_s=None,
        ttft_s=bands["ttft_s"] * slower,
        ttft_median_s=None,
        tpot_s=bands["tpot_s"] * slower,
        itl_s=None,
        e2e_s=None,
        completed=run.requests,
        failed=0,
        duration_s=600,
        setting=Setting(),
    )
    return replace(point, **other)


def benchmark(run: PilotRun, served: float = 1.0, **changes: Any) -> dict[str, Any]:
    """What vllm bench serve saves of a run that serves such a share of what is offered."""
    completed, rate = 900, served * run.req_per_s
    whole = {"total_input_tokens": run.prompt_tokens * completed, "total_output_tokens": run.output_tokens * completed}
    times = {band.figure: band.predicted for band in run.bands}
    figures = {"mean_ttft_ms": times["ttft_s"] * 1e3, "mean_tpot_ms": times["tpot_s"] * 1e3}
    return {
        "model_id": "m",
        "num_prompts": completed,
        "request_rate": run.req_per_s,
        "max_concurrency": None,
        "duration": completed / rate,
        "completed": completed,
        "failed": 0,
        "request_throughput": rate,
        "output_throughput": rate * run.output_tokens,
        **whole,
        **figures,
        **changes,
    }


def command_line(tmp_path: Path) -> list[str]:
    case, trace = tmp_path / "case.json", tmp_path / "trace.csv"
    case.write_text(json.dumps(CO_LOCATED))
    trace.write_text("arrival_s,prompt_tokens,output_tokens\n0,1000,200\n1,1040,222\n")
    return ["pilot", str(case), "--trace", str(trace), "--rate", "30", "--capacity", "36"]


def result_of(run: PilotRun, seconds: dict[str, float]) -> ServingPoint:
    return measured(run, ttft_s=seconds["ttft_s"], tpot_s=seconds["tpot_s"], requests_per_s=run.req_per_s)
