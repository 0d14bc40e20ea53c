"""The cluster before its first event."""

from __future__ import annotations

from simcore.engine.inputs import ClusterInputs, ReplicaInputs
from simcore.engine.oracle.state import Cluster, Counters, Replica, Request
from simcore.engine.outputs import BubbleCause


def build_cluster(inputs: ClusterInputs) -> Cluster:
    """Every request not yet arrived, every replica empty."""
    replicas = [build_replica(index, replica, inputs) for index, replica in enumerate(inputs.replicas)]
    pools = {role: [r.index for r in replicas if r.inputs.role == role] for role in ("prefill", "decode", "mixed")}
    return Cluster(inputs, build_requests(inputs), replicas, pools["prefill"], pools["decode"], pools["mixed"])


def build_replica(index: int, replica: ReplicaInputs, inputs: ClusterInputs) -> Replica:
    """An empty replica; its watermark is rounded down to whole blocks."""
    watermark = int(inputs.scheduler.watermark_blocks_share * replica.kv_blocks)
    counters = Counters([[0] * len(BubbleCause) for _ in range(replica.stages)])
    return Replica(index, replica, replica.kv_blocks, watermark, [0] * replica.stages, counters)


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
