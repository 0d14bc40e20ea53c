"""The cluster before its first event."""

from __future__ import annotations

from collections import deque
from dataclasses import fields

from simcore.engine.inputs import ClusterInputs, ReplicaInputs
from simcore.engine.oracle.state import Cluster, Counters, Replica, Request
from simcore.engine.outputs import BubbleCause
from simcore.spec import AvailabilityState


def build_cluster(inputs: ClusterInputs) -> Cluster:
    """Every request not yet arrived, every replica empty."""
    replicas = [build_replica(index, replica, inputs) for index, replica in enumerate(inputs.replicas)]
    pools = {role: [r.index for r in replicas if r.inputs.role == role] for role in ("prefill", "decode", "mixed")}
    return Cluster(
        inputs,
        build_requests(inputs),
        replicas,
        pools["prefill"],
        pools["decode"],
        pools["mixed"],
        changes=build_changes(inputs),
        misses=[0] * len(inputs.wait_limits),
    )


def build_changes(inputs: ClusterInputs) -> deque[tuple[int, int, AvailabilityState]]:
    """All replicas' changes of availability by time, then by replica, then as given."""
    changes = [
        (ps, index, state) for index, replica in enumerate(inputs.replicas) for ps, state in replica.availability
    ]
    return deque(sorted(changes, key=lambda change: change[:2]))


def build_replica(index: int, replica: ReplicaInputs, inputs: ClusterInputs) -> Replica:
    """An empty replica."""
    watermark = inputs.scheduler.watermark_blocks(replica.kv_blocks)
    counters = Counters([[0] * len(BubbleCause) for _ in range(replica.stages)])
    return Replica(index, replica, replica.kv_blocks, watermark, [0] * replica.stages, counters)


def empty(cluster: Cluster, replica: Replica) -> None:
    """A replica that has lost everything: as it was built, but for what was measured."""
    fresh = build_replica(replica.index, replica.inputs, cluster.inputs)
    for field in fields(Replica):
        if field.name not in ("counters", "idle_since_ps", "base_ps"):
            setattr(replica, field.name, getattr(fresh, field.name))


def build_requests(inputs: ClusterInputs) -> list[Request]:
    """The trace as records; a reservation counts ``max_output_tokens`` where given."""
    columns = (
        inputs.arrival_ps,
        inputs.prompt_tokens,
        inputs.output_tokens,
        inputs.cached_prompt_tokens,
        inputs.max_output_tokens,
    )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [
        Request(index, arrival, prompt, output, cached, limit or output, prompt, cached)
        for index, (arrival, prompt, output, cached, limit) in enumerate(rows)
    ]
