"""Which waiting work a replica may start, and how many examples are tried."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from simcore.engine.oracle.blocks import chunk_blocks, growth_blocks, room_to_admit
from simcore.engine.oracle.preemption import fits, has_place
from simcore.engine.oracle.selection import select
from simcore.engine.oracle.state import Cluster, Replica
from simcore.engine.oracle.vllm_v1 import next_chunk
from tests.invariants.strategies import SPLITWISE

EXAMPLES = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def admissible(cluster: Cluster, replica: Replica) -> bool:
    """Whether a batch could be formed here now."""
    kind = cluster.inputs.scheduler.kind
    if cluster.inputs.scheduler.chunked:
        return chunked_admissible(cluster, replica)
    if kind in SPLITWISE:
        return bool(select(cluster, replica))
    if replica.running or replica.batches or not replica.waiting:
        return bool(replica.running or replica.batches)
    head = replica.waiting[0]
    if kind != "vllm_v1":
        return fits(cluster, replica, head)
    chunk = next_chunk(cluster, head, [])
    return has_place(cluster, replica) and room_to_admit(replica, chunk_blocks(head, chunk, cluster.inputs.scheduler))


def chunked_admissible(cluster: Cluster, replica: Replica) -> bool:
    """A prefill in progress, a decode whose blocks fit or that may join; if no decode lacks blocks, a prompt."""
    decodes = [request for request in replica.running if request.done_tokens == request.target_tokens]
    lacking = [r for r in decodes if growth_blocks(r, cluster.inputs.scheduler) > replica.free_blocks]
    if len(lacking) < len(replica.running):
        return True
    if replica.joining and replica.admitted < cluster.inputs.scheduler.max_batch_size:
        return True
    return not lacking and bool(replica.waiting) and fits(cluster, replica, replica.waiting[0])
