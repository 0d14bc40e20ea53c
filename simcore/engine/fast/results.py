"""From the engine's tables to the arrays of ``RunResult``."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore.engine.fast.idle import settle_idle
from simcore.engine.fast.layout import Int64, column
from simcore.engine.fast.setup import merged_gaps
from simcore.engine.fast.state import Cluster
from simcore.engine.outputs import ReplicaResults, RequestResults, RunResult

PS_PER_S = 1_000_000_000_000
BATCH_KINDS = ("prefill", "decode", "hybrid")


def run_result(cluster: Cluster) -> RunResult:
    """Close the books at the last finish."""
    finish_ps = column(cluster.results, "finish_ps")
    end_ps = max(int(finish_ps.max(initial=0)), 0)
    for index in range(len(cluster.replicas)):
        settle_idle(cluster.replicas[index], end_ps)
    note_unfinished(cluster)
    gap_ps, gap_count = merged_gaps(cluster)
    return RunResult(request_results(cluster), replica_results(cluster), gap_ps, gap_count,
                     energy_series(cluster, end_ps), end_ps)


def note_unfinished(cluster: Cluster) -> None:
    """The longest gap of requests that are still here: of others it was noted when they finished."""
    results: Any = cluster.results
    requests: Any = cluster.requests
    progress: Any = cluster.progress
    here = np.ones(len(requests), dtype=bool)
    here[cluster.free_slots[: int(progress["free_slots"][0])]] = False
    results["max_gap_ps"][requests["index"][here]] = requests["max_gap_ps"][here]


def energy_series(cluster: Cluster, end_ps: int) -> Int64:
    """Through the second of the last finish, or of the last work if that is later."""
    progress: Any = cluster.progress
    used = int(progress["seconds"][0])
    length = max(used, end_ps // PS_PER_S + 1 if end_ps else 0)
    series = np.zeros(length, np.int64)
    series[:used] = cluster.energy_by_second_nj[:used]
    return series


def request_results(cluster: Cluster) -> RequestResults:
    """One entry a request."""
    results = cluster.results
    return RequestResults(
        status=column(results, "status"),
        first_scheduled_ps=column(results, "first_scheduled_ps"),
        first_token_ps=column(results, "first_token_ps"),
        finish_ps=column(results, "finish_ps"),
        max_gap_ps=column(results, "max_gap_ps"),
        prefill_replica=column(results, "prefill_replica"),
        decode_replica=column(results, "decode_replica"),
        preemptions=column(results, "preemptions"),
    )


def replica_results(cluster: Cluster) -> ReplicaResults:
    """One entry a replica."""
    replicas = cluster.replicas
    return ReplicaResults(
        busy_ps=by_kind(cluster, "busy_ps"),
        iterations=by_kind(cluster, "iterations"),
        blocked_ps=column(replicas, "blocked_ps"),
        transfer_wait_ps=column(replicas, "transfer_wait_ps"),
        nic_busy_ps=column(replicas, "nic_busy_ps"),
        prefill_tokens=column(replicas, "prefill_tokens"),
        decode_tokens=column(replicas, "decode_tokens"),
        prefill_pairs=column(replicas, "prefill_pairs"),
        chunk_read_tokens=column(replicas, "chunk_read_tokens"),
        context_tokens=column(replicas, "context_tokens"),
        kv_peak_tokens=column(replicas, "peak_blocks") * column(cluster.settings, "block_tokens"),
        energy_nj=column(replicas, "energy_nj"),
    )


def by_kind(cluster: Cluster, name: str) -> Int64:
    """[replica, BatchKind]."""
    return np.stack([column(cluster.replicas, f"{kind}_{name}") for kind in BATCH_KINDS], axis=1)
