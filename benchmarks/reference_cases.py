"""The reference cases of other simulators as cases of ours: the settings that the data's README states, nothing else.

A case folder holds config.json, trace.csv and requests.csv (each request's times). Two simulators: splitwise-sim and
Vidur.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simcore.spec import Case, decode_case
from simcore.traces import Trace, read_trace

MACHINES = {"a100-80gb": "dgx-a100", "h100-80gb": "dgx-h100", "h100-80gb-pcap": "dgx-h100-pcap"}
NOT_OURS = {
    "bug_": "shows a fault of the simulator",
    "lightllm": "for comparison only",
    "orca_h100x4_jsq": "its router counts requests, not tokens",
    "a30real": "driven by prediction tables, not by a curve",
}
KINDS = {"faster_transformer": "request_level"}
"""Vidur's names of our kinds, where they differ."""


@dataclass(frozen=True)
class ReferenceTimes:
    """What the other simulator says of one request, in seconds."""

    ttft_s: float
    e2e_s: float
    queue_s: float


@dataclass(frozen=True)
class ReferenceCase:
    """One case, ready to run."""

    name: str
    case: Case
    trace: Trace
    times: tuple[ReferenceTimes, ...]


def case_folders(reference: Path) -> list[Path]:
    """Every case of both simulators."""
    return sorted(config.parent for config in reference.glob("*/*/config.json"))


def skip_reason(folder: Path) -> str | None:
    """Why a case is not run; None: it is."""
    return next((reason for part, reason in NOT_OURS.items() if part in folder.name), None)


def load_case(folder: Path) -> ReferenceCase:
    """The case with the settings that make it comparable."""
    config = json.loads((folder / "config.json").read_text())
    trace, _ = read_trace(folder / "trace.csv")
    settings = vidur_settings(config, trace) if folder.parent.name == "vidur" else splitwise_settings(config, folder)
    with (folder / "requests.csv").open(newline="") as file:
        times = tuple(reference_times(row) for row in csv.DictReader(file))
    return ReferenceCase(folder.name, decode_case(settings), trace, times)


def reference_times(row: dict[str, str]) -> ReferenceTimes:
    """One row of requests.csv, of either simulator."""
    queue = row["queue_s"] if "queue_s" in row else str(float(row["first_scheduled_s"]) - float(row["arrival_s"]))
    return ReferenceTimes(float(row["ttft_s"]), float(row["e2e_s"]), float(queue))


def splitwise_settings(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """splitwise-sim: measured times by its own key, KV in tokens, polled transfers, its ageing and its decode runs."""
    constants = config["constants"]
    llama = "llama70b" in folder.name
    size = constants["llama2_70b" if llama else "bloom176b"]
    kv_tokens = (constants["gpu_memory_bytes"] * constants["gpus_per_machine"] - size["weights_bytes"]) // size[
        "kv_bytes_per_token"
    ]
    link = constants["kv_link"]
    return {
        "model": "llama2-70b" if llama else "bloom-176b",
        "pools": splitwise_pools(config),
        "scheduler": {
            "kind": "splitwise" if "mixed_pool" in config["command"] else "splitwise_baseline",
            "ageing": "splitwise-sim",
            "decode_runs": "contiguous",
        },
        "kv_transfer": {
            "mode": "serialized",
            "bandwidth_bytes_per_s": link["bandwidth_bytes_per_s"],
            "contention": False,
            "retry_s": link["retry_delay_s"],
        },
        "memory": {
            "kv_tokens": kv_tokens,
            "kv_bytes_per_token": size["kv_bytes_per_token"],
            "block_tokens": 1,
            "reservation": "output_at_decode",
            "watermark": 0,
        },
        "latency": {
            "source": "measured",
            "decode_key": "prompt_tokens",
            "hybrid_factor": 1.1,
            "path": str(folder.parents[2] / "measured" / "splitwise_step_times.csv"),
        },
        "router_ties": "pool_order",
    }


def splitwise_pools(config: dict[str, Any]) -> list[dict[str, Any]]:
    """Prompt machines come first of H100s; token machines are those of another kind, or the last of one kind."""
    instances: list[str] = config["summary"]["instances"]
    if "mixed_pool" not in config["command"]:
        return [pool("mixed", instances[0], len(instances))]
    if len(set(instances)) > 1:
        prompt, token = "h100-80gb", instances[0]
        return [pool("prefill", prompt, instances.count(prompt)), pool("decode", token, instances.count(token))]
    prompts = int(config["command"].split("prompt.num_instances=")[1].split()[0])
    return [pool("prefill", instances[0], prompts), pool("decode", instances[0], len(instances) - prompts)]


def pool(role: str, hardware: str, machines: int) -> dict[str, Any]:
    """Whole machines of 8 accelerators."""
    return {"role": role, "machine": MACHINES[hardware], "machines": machines, "tensor_parallel": 8}


def vidur_scheduler(config: dict[str, Any]) -> dict[str, Any]:
    """Its batch rules as options. Orca and FasterTransformer run no more at once than its memory planner lets them."""
    kind, size = config["scheduler"], config["batch_size_cap"]
    if kind == "vllm":
        options = {"padded_prompts": True, "preempt_when_full": True, "max_batch_tokens": config["max_tokens_in_batch"]}
    elif kind == "sarathi":
        options = {"token_budget": config["chunk_size"], "preempt_when_full": True}
    else:
        size = min(size, config["max_batch_size"])
        options = {"pad_compute": False, "keep_finished": False}
    return {"kind": KINDS.get(kind, kind), "max_batch_size": size, **options}


def vidur_settings(config: dict[str, Any], trace: Trace) -> dict[str, Any]:
    """Vidur: its stub's closed form as a curve, its batch rules as options."""
    scheduler = vidur_scheduler(config)
    whole = scheduler["kind"] in ("orca", "request_level")
    return {
        "model": "llama2-70b" if "70b" in config["model"] else "llama2-7b",
        "pools": [
            {
                "role": "mixed",
                "machine": "dgx-a100",
                "replicas": config["replicas"],
                "tensor_parallel": config["tp"],
                "pipeline_parallel": config["pp"],
            }
        ],
        "scheduler": scheduler,
        "router": {"lor": "least_waiting"}.get(config["global_scheduler"], config["global_scheduler"]),
        "memory": {
            "kv_tokens": config["num_blocks"] * config["block_size"],
            "block_tokens": config["block_size"],
            "watermark": 0 if whole else config["watermark"],
            "reservation": "max_length" if whole else None,
            "max_model_tokens": config["max_model_len"],
        },
        "latency": vidur_curve(config, most_batch_tokens(config, scheduler, trace)),
    }


def most_batch_tokens(config: dict[str, Any], scheduler: dict[str, Any], trace: Trace) -> int:
    """No batch is larger: a budget and decodes, or with Orca and FasterTransformer as many of the longest prompts as
    run at once."""
    if scheduler["kind"] in ("orca", "request_level"):
        return int(np.sort(trace.prompt_tokens)[-scheduler["max_batch_size"] :].sum())
    longest = max(config["chunk_size"], config["max_tokens_in_batch"], config["max_model_len"])
    return int(longest + config["batch_size_cap"])


def vidur_curve(config: dict[str, Any], most: int) -> dict[str, Any]:
    """The stub: t0 + max(weights read, FLOPs of tokens rounded up to 8) + attention of chunks + KV read by decodes.

    One knot a token. Its chunk attention is c*(p + c/2), ours c*p + c(c+1)/2: a*n/2 is taken off all three tables.
    Its decode reads the token being processed as well: s = b + a/2.
    """
    stub = config["stub"]
    attention = 4 * stub["layers_per_stage"] * stub["q_heads"] * stub["head_dim"] / stub["attn_flops_per_s"]
    context = 4 * stub["kv_heads"] * stub["head_dim"] * stub["layers_per_stage"] / stub["kv_bytes_per_s"]
    weights = 2 * stub["params_per_device"] / stub["weight_bytes_per_s"]
    token = 2 * stub["params_per_device"] / stub["linear_flops_per_s"]
    tokens = list(range(most + 1))
    base = [stub["t0"] + max(weights, token * -(-n // 8) * 8) - attention * n / 2 for n in tokens]
    return {
        "source": "curve",
        "tokens": tokens,
        "prefill_s": base,
        "decode_s": base,
        "hybrid_s": base,
        "attention_s": attention,
        "context_s": context,
        "decode_seq_s": context + attention / 2,
    }
