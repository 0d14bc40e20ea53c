"""The running list of ``sarathi`` and ``vllm``: a row of ``Cluster.running``."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.state import Cluster, Replica


@step
def append_running(cluster: Cluster, replica: Replica, slot: int) -> None:
    """At the end of the running list."""
    cluster.running[replica.index, replica.running] = slot
    replica.running += 1


@step
def sort_by_arrival(cluster: Cluster, replica: Replica) -> None:
    """By place in the trace. By insertion: the list is mostly in order already."""
    for i in range(1, replica.running):
        slot = int(cluster.running[replica.index, i])
        index = cluster.requests[slot].index
        place = i
        while place > 0 and cluster.requests[cluster.running[replica.index, place - 1]].index > index:
            cluster.running[replica.index, place] = cluster.running[replica.index, place - 1]
            place -= 1
        cluster.running[replica.index, place] = slot


@step
def drop_front(cluster: Cluster, replica: Replica, looked_at: int) -> None:
    """Take what was looked at from the front of the list."""
    for i in range(looked_at, replica.running):
        cluster.running[replica.index, i - looked_at] = cluster.running[replica.index, i]
    replica.running -= looked_at
