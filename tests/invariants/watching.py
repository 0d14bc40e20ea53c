"""The oracle, run instant by instant, so that a test can look inside between two instants."""

from __future__ import annotations

from collections.abc import Iterator

from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle.cluster import (
    change_availability,
    handle_arrivals,
    handle_events,
    is_going_on,
    next_instant,
    start_due,
)
from simcore.engine.oracle.setup import build_cluster
from simcore.engine.oracle.state import Cluster, MicroBatch, Replica


def instants(inputs: ClusterInputs) -> Iterator[tuple[int, Cluster]]:
    """(time, state) after everything of that instant has happened; the loop of ``oracle.cluster.run``."""
    cluster = build_cluster(inputs)
    arrived = 0
    while is_going_on(cluster, arrived):
        now = next_instant(cluster, arrived)
        handle_events(cluster, now)
        change_availability(cluster, now)
        arrived = handle_arrivals(cluster, arrived, now)
        start_due(cluster, now)
        yield now, cluster


def times_with_nothing_in_flight(inputs: ClusterInputs, until_ps: int) -> list[int]:
    """By replica, from time 0 until the given time."""
    empty_ps, last, was_empty = [0] * len(inputs.replicas), 0, [True] * len(inputs.replicas)
    for now, cluster in instants(inputs):
        for replica in cluster.replicas:
            empty_ps[replica.index] += (min(now, until_ps) - last) * was_empty[replica.index]
            was_empty[replica.index] = replica.in_flight == 0
        last = min(now, until_ps)
    return empty_ps


def in_flight(cluster: Cluster) -> list[tuple[Replica, MicroBatch]]:
    """Micro-batches that have been formed and not ended."""
    return [(cluster.replicas[event[4]], event[5]) for event in cluster.events if isinstance(event[5], MicroBatch)]


def present_requests(cluster: Cluster, replica: Replica) -> set[int]:
    """Requests that wait or run on a splitwise machine."""
    here = [*replica.waiting, *replica.joining, *replica.running]
    flying = [request for where, batch in in_flight(cluster) if where is replica for request in batch.members]
    return {*replica.present, *(request.index for request in here + flying)}


def held_blocks(cluster: Cluster) -> list[int]:
    """Blocks that requests hold, by replica: where they prefill, and from the start of a transfer where they decode."""
    held = [0] * len(cluster.replicas)
    for request in cluster.requests:
        if request.prefill_replica < 0:
            continue
        joined = request.index in present_requests(cluster, cluster.replicas[request.decode_replica])
        held[request.decode_replica if joined else request.prefill_replica] += request.blocks
        held[request.decode_replica] += request.inbound_blocks
    return held
