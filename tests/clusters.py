"""Clusters small enough to follow by hand: what the engines are given, without a catalogue."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simcore.engine.inputs import ClusterInputs, ReplicaInputs, SchedulerInputs, TransferInputs
from simcore.latency.curve import IterationCurve

NS = 1_000
"""Picoseconds in the unit of the times below."""
CURVE = IterationCurve(
    tokens=(0, 1_000_000),
    prefill_ps=(0, 1_000_000 * NS),
    decode_ps=(100 * NS, 100 * NS),
    hybrid_ps=(50 * NS, 1_000_050 * NS),
    attention=0,
    chunk_read_ps=0,
    context_ps=0,
    decode_seq_ps=0,
)
"""A prefill takes 1 ns a token, a decode step 100 ns, a hybrid 50 ns + 1 ns a token."""
SPLITWISE = {
    "token_budget": 512,
    "max_batch_tokens": 2048,
    "max_batch_size": 512,
    "watermark_blocks_share": 0.0,
    "reservation": "output_at_decode",
    "simultaneous_arrivals": "one_by_one",
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "sarathi": {"reservation": "on_demand", "simultaneous_arrivals": "together"},
    "vllm": {"reservation": "on_demand", "simultaneous_arrivals": "together"},
    "vllm_v1": {"reservation": "on_demand", "simultaneous_arrivals": "together"},
    "orca": {"reservation": "full_output", "simultaneous_arrivals": "together"},
    "request_level": {"reservation": "full_output", "simultaneous_arrivals": "together"},
    "splitwise": SPLITWISE,
    "splitwise_baseline": SPLITWISE,
    "chunked": {**SPLITWISE, "kind": "splitwise", "chunked": True},
}


def replica(role: str = "mixed", **changes: Any) -> ReplicaInputs:
    """A replica of one stage and 1,000 blocks whose power is 1 W above idle in every batch."""
    plain: dict[str, Any] = {
        "pool": 0,
        "role": role,
        "curve": CURVE,
        "stages": 1,
        "kv_blocks": 1000,
        "transfer_ps_per_token": NS,
        "power_mw": ((1000,), (1000,), (1000,)),
        "power_tokens": (1,),
    }
    return ReplicaInputs(**{**plain, **changes})


def scheduler(kind: str, **changes: Any) -> SchedulerInputs:
    """A policy with round numbers; blocks of 16 tokens. ``chunked`` is kind ``splitwise`` with that option."""
    plain: dict[str, Any] = {
        "kind": kind,
        "token_budget": 64,
        "max_batch_tokens": 2048,
        "max_batch_size": 8,
        "block_tokens": 16,
        "watermark_blocks_share": 0.0,
        "max_model_tokens": 0,
        "mixed_pool": True,
        "chunked": False,
        "prompt_pending_limit": 8192,
        "padded_prompts": False,
        "preempt_when_full": False,
        "pad_compute": False,
        "keep_finished": False,
        "ageing": "fair",
        "decode_runs": "stepwise",
        "router": "jsq",
        "router_ties": "index",
        "seed": 0,
    }
    return SchedulerInputs(**{**plain, **DEFAULTS[kind], **changes})


def transfer(**changes: Any) -> TransferInputs:
    """Serialized, with contention, at the slower NIC, no set-up, ten layers."""
    plain: dict[str, Any] = {
        "mode": "serialized",
        "ps_per_token": 0,
        "contention": True,
        "setup_ps": 0,
        "block_tokens": 0,
        "retry_ps": 0,
        "layers": 10,
    }
    return TransferInputs(**{**plain, **changes})


def cluster(
    policy: SchedulerInputs,
    requests: Sequence[tuple[int, int, int]],
    replicas: Sequence[ReplicaInputs] | None = None,
    sending: TransferInputs | None = None,
    cached: Sequence[int] | None = None,
    limits: Sequence[int] | None = None,
    window: tuple[int, int] | None = None,
) -> ClusterInputs:
    """Requests are (arrival in ns, prompt tokens, output tokens), in order of arrival."""
    columns = [np.array(column, np.int64) for column in zip(*requests, strict=True)]
    zeros = np.zeros(len(requests), np.int64)
    return ClusterInputs(
        replicas=tuple(replicas or [replica()]),
        scheduler=policy,
        transfer=sending or transfer(),
        arrival_ps=columns[0] * NS,
        prompt_tokens=columns[1],
        output_tokens=columns[2],
        cached_prompt_tokens=zeros if cached is None else np.array(cached, np.int64),
        max_output_tokens=zeros if limits is None else np.array(limits, np.int64),
        window=window or (0, len(requests)),
    )


def in_ns(times_ps: Any) -> list[float]:
    """Times of a result in the unit of ``cluster``; -1 stays -1."""
    return [-1 if t < 0 else int(t) / NS for t in times_ps]
