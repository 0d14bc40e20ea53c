"""From the oracle's records to the arrays of ``RunResult``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

import numpy as np

from simcore.engine.oracle.idle import settle_idle
from simcore.engine.oracle.state import Cluster, Replica
from simcore.engine.outputs import (
    FINISHED,
    BubbleCause,
    CountedGaps,
    Int64,
    IterationLog,
    ReplicaResults,
    RequestResults,
    RunResult,
    log_in_order,
)

PS_PER_S = 1_000_000_000_000


def run_result(cluster: Cluster) -> RunResult:
    """Close the books at the end of the last micro-batch, which is the last finish unless requests are left over."""
    end_ps = max((request.finish_ps for request in cluster.requests), default=0)
    end_ps = max(end_ps, 0)
    for replica in cluster.replicas:
        settle_idle(replica, cluster.busy_until_ps)
    gaps = sorted(cluster.gaps.items())
    return RunResult(
        request_results(cluster),
        replica_results(cluster),
        CountedGaps(column(gap for gap, _ in gaps), column(count for _, count in gaps)),
        energy_series(cluster, end_ps),
        end_ps,
        cluster.busy_until_ps,
        events(cluster),
        gave_up=cluster.gave_up,
        log=log_of(cluster),
    )


def log_of(cluster: Cluster) -> IterationLog | None:
    """None where none was asked for."""
    if cluster.inputs.log_ps[0] >= cluster.inputs.log_ps[1]:
        return None
    return log_in_order(*(column(row[i] for row in cluster.log) for i in range(len(fields(IterationLog)))))


def events(cluster: Cluster) -> int:
    """Arrivals, micro-batches, finishes and transfers."""
    requests = cluster.requests
    batches = sum(sum(replica.counters.iterations) for replica in cluster.replicas)
    return len(requests) + batches + sum(r.status == FINISHED for r in requests) + cluster.transfers


def energy_series(cluster: Cluster, end_ps: int) -> Int64:
    """Through the second of the last finish, or of the last work if that is later."""
    series = cluster.energy_by_second_nj
    seconds = end_ps // PS_PER_S + 1 if end_ps else 0
    return column(series + [0] * (seconds - len(series)))


def request_results(cluster: Cluster) -> RequestResults:
    """One entry a request."""
    requests = cluster.requests
    return RequestResults(
        status=column(r.status for r in requests),
        first_scheduled_ps=column(r.first_scheduled_ps for r in requests),
        first_token_ps=column(r.first_token_ps for r in requests),
        finish_ps=column(r.finish_ps for r in requests),
        max_gap_ps=column(r.max_gap_ps for r in requests),
        prefill_replica=column(r.prefill_replica for r in requests),
        decode_replica=column(r.decode_replica for r in requests),
        preemptions=column(r.preemptions for r in requests),
    )


def replica_results(cluster: Cluster) -> ReplicaResults:
    """One entry a replica."""
    counters = [replica.counters for replica in cluster.replicas]
    block_tokens = cluster.inputs.scheduler.block_tokens
    return ReplicaResults(
        busy_ps=by_kind(c.busy_ps for c in counters),
        iterations=by_kind(c.iterations for c in counters),
        prefill_tokens=by_kind(c.prefill_tokens for c in counters),
        prompt_ends=by_kind(c.prompt_ends for c in counters),
        decode_tokens=by_kind(c.decode_tokens for c in counters),
        prefill_pairs=by_kind(c.prefill_pairs for c in counters),
        chunk_read_tokens=by_kind(c.chunk_read_tokens for c in counters),
        context_tokens=by_kind(c.context_tokens for c in counters),
        padding_tokens=by_kind(c.padding_tokens for c in counters),
        bubble_ps=bubbles(cluster.replicas),
        blocked_ps=column(c.blocked_ps for c in counters),
        transfer_wait_ps=column(c.transfer_wait_ps for c in counters),
        nic_busy_ps=column(c.nic_busy_ps for c in counters),
        kv_peak_tokens=column(c.peak_blocks * block_tokens for c in counters),
        energy_nj=column(c.energy_nj for c in counters),
    )


def by_kind(sums: Iterable[list[int]]) -> Int64:
    """[replica, BatchKind]."""
    return np.array(list(sums), dtype=np.int64)


def bubbles(replicas: list[Replica]) -> Int64:
    """[replica, stage, cause]: as many stages as the longest pipeline has, the others' rows zero."""
    stages = max(replica.inputs.stages for replica in replicas)
    table = np.zeros((len(replicas), stages, len(BubbleCause)), np.int64)
    for replica in replicas:
        table[replica.index, : replica.inputs.stages] = replica.counters.bubble_ps
    return table


def column(values: Iterable[int]) -> Int64:
    """Whole numbers as int64; one beyond its range is an error, never wrapped."""
    return np.array(list(values), dtype=np.int64)
