"""The waiting queue of a replica: slots linked through ``Request.next_waiting``; and the stack of free slots."""

from __future__ import annotations

from simcore.engine.fast.blocks import blocks_of
from simcore.engine.fast.jit import inlined, step
from simcore.engine.fast.layout import numbers
from simcore.engine.fast.loads import WAITING, note_load
from simcore.engine.fast.names import LEAST_KV
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.request_state import Request, request_at
from simcore.engine.fast.state import NONE, Cluster


@inlined
def push_waiting(cluster: Cluster, replica: Replica, slot: int) -> None:
    """At the end of the waiting queue."""
    request = request_at(cluster, slot)
    request.next_waiting = NONE
    if replica.waiting == 0:
        replica.first_waiting = slot
    else:
        request_at(cluster, replica.last_waiting).next_waiting = slot
    replica.last_waiting = slot
    replica.waiting += 1
    note_load(cluster, replica, WAITING)
    count_waiting_blocks(cluster, replica, request, 1)


@step
def push_waiting_front(cluster: Cluster, replica: Replica, slot: int) -> None:
    """At the front of the waiting queue."""
    request = request_at(cluster, slot)
    request.next_waiting = replica.first_waiting
    if replica.waiting == 0:
        replica.last_waiting = slot
    replica.first_waiting = slot
    replica.waiting += 1
    note_load(cluster, replica, WAITING)
    count_waiting_blocks(cluster, replica, request, 1)


@step
def count_waiting_blocks(cluster: Cluster, replica: Replica, request: Request, times: int) -> None:
    """The blocks that a waiting prompt will take, for the one router that asks."""
    if cluster.router == LEAST_KV:
        replica.waiting_blocks += times * blocks_of(request.target_tokens, cluster)


@step
def pop_waiting(cluster: Cluster, replica: Replica) -> int:
    """The head of the waiting queue, taken out."""
    slot = replica.first_waiting
    request = request_at(cluster, slot)
    replica.first_waiting = request.next_waiting
    replica.waiting -= 1
    note_load(cluster, replica, WAITING)
    count_waiting_blocks(cluster, replica, request, -1)
    return slot


@step
def push_joining(cluster: Cluster, replica: Replica, slot: int) -> None:
    """At the end of the decodes that have no place yet."""
    request_at(cluster, slot).next_waiting = NONE
    if replica.joining == 0:
        replica.first_joining = slot
    else:
        request_at(cluster, replica.last_joining).next_waiting = slot
    replica.last_joining = slot
    replica.joining += 1
    note_load(cluster, replica, WAITING)


@step
def pop_joining(cluster: Cluster, replica: Replica) -> int:
    """The first of the decodes that have no place yet, taken out."""
    slot = replica.first_joining
    replica.first_joining = request_at(cluster, slot).next_waiting
    replica.joining -= 1
    note_load(cluster, replica, WAITING)
    return slot


@step
def remove_waiting_request(cluster: Cluster, replica: Replica, slot: int) -> None:
    """Out of the waiting queue, wherever in it."""
    before, ahead = NONE, replica.first_waiting
    while ahead != slot:
        before, ahead = ahead, request_at(cluster, ahead).next_waiting
    request = request_at(cluster, slot)
    if before == NONE:
        replica.first_waiting = request.next_waiting
    else:
        request_at(cluster, before).next_waiting = request.next_waiting
    if replica.last_waiting == slot:
        replica.last_waiting = before
    replica.waiting -= 1
    note_load(cluster, replica, WAITING)
    count_waiting_blocks(cluster, replica, request, -1)


@step
def push_unrouted(cluster: Cluster, slot: int) -> None:
    """At the end of the requests that no replica which is up could hold."""
    request_at(cluster, slot).next_waiting = NONE
    if cluster.unrouted == 0:
        cluster.first_unrouted = slot
    else:
        request_at(cluster, cluster.last_unrouted).next_waiting = slot
    cluster.last_unrouted = slot
    cluster.unrouted += 1


@step
def take_slot(cluster: Cluster) -> int:
    """A free slot; ``cluster.advance`` made sure that there is one."""
    cluster.free_count -= 1
    return numbers(cluster.free_slots)[cluster.free_count]


@step
def free_slot(cluster: Cluster, slot: int) -> None:
    """Nobody refers to the slot any more."""
    request_at(cluster, slot).here = 0
    numbers(cluster.free_slots)[cluster.free_count] = slot
    cluster.free_count += 1
