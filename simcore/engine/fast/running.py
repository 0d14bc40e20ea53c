"""A replica's running list, of whatever kind: a row of ``Cluster.running``."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.replica_state import Replica, running_of
from simcore.engine.fast.request_state import request_at
from simcore.engine.fast.state import Cluster


@step
def append_running(cluster: Cluster, replica: Replica, slot: int) -> None:
    """At the end of the running list."""
    running_of(cluster, replica)[replica.running] = slot
    replica.running += 1


@step
def sort_by_arrival(cluster: Cluster, replica: Replica) -> None:
    """By when they were routed; of one instant as they stand. By insertion: the list is mostly in order already."""
    for i in range(1, replica.running):
        slot = running_of(cluster, replica)[i]
        routed_ps = request_at(cluster, slot).routed_ps
        place = i
        while place > 0 and request_at(cluster, running_of(cluster, replica)[place - 1]).routed_ps > routed_ps:
            running_of(cluster, replica)[place] = running_of(cluster, replica)[place - 1]
            place -= 1
        running_of(cluster, replica)[place] = slot


@step
def sort_by_admission(cluster: Cluster, replica: Replica) -> None:
    """In the order in which they were admitted, by insertion too."""
    for i in range(1, replica.running):
        slot = running_of(cluster, replica)[i]
        admission = request_at(cluster, slot).admission
        place = i
        while place > 0 and request_at(cluster, running_of(cluster, replica)[place - 1]).admission > admission:
            running_of(cluster, replica)[place] = running_of(cluster, replica)[place - 1]
            place -= 1
        running_of(cluster, replica)[place] = slot


@step
def remove_running(cluster: Cluster, replica: Replica, slot: int) -> int:
    """Out of the running list; returns where in it."""
    place = 0
    while running_of(cluster, replica)[place] != slot:
        place += 1
    for i in range(place + 1, replica.running):
        running_of(cluster, replica)[i - 1] = running_of(cluster, replica)[i]
    replica.running -= 1
    return place


@step
def drop_front(cluster: Cluster, replica: Replica, looked_at: int) -> None:
    """Take what was looked at from the front of the list."""
    for i in range(looked_at, replica.running):
        running_of(cluster, replica)[i - looked_at] = running_of(cluster, replica)[i]
    replica.running -= looked_at
