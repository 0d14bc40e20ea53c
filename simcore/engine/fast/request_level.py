"""FasterTransformer: a batch is formed once, of waiting requests, and runs until all of them are finished (rules: the
oracle's).

A batch that is not in flight is linked through ``Request.next_waiting``; its first member is in the running list.
"""

from __future__ import annotations

from simcore.engine.fast.blocks import give_back
from simcore.engine.fast.jit import step
from simcore.engine.fast.preemption import admit_prompts, join_batch
from simcore.engine.fast.queues import free_slot
from simcore.engine.fast.running import append_running, drop_front
from simcore.engine.fast.state import (
    NONE,
    Cluster,
    Replica,
    flight_at,
    members_of,
    new_tokens_of,
    request_at,
    running_of,
)
from simcore.engine.fast.tokens import advance, is_finished


@step
def form(cluster: Cluster, replica: Replica, flight: int) -> int:
    """Put the next micro-batch's members in place; returns how many."""
    if replica.running == 0:
        return admit_prompts(cluster, replica, flight, 0)
    slot = running_of(cluster, replica)[0]
    drop_front(cluster, replica, 1)
    members = 0
    while slot != NONE:
        join_batch(cluster, replica, flight, members, slot, 0)
        members += 1
        slot = request_at(cluster, slot).next_waiting
    return members


@step
def end_iteration(cluster: Cluster, replica: Replica, flight: int, now: int) -> None:
    """Tokens appear; the batch goes on, or is dissolved where all its members are finished."""
    for i in range(flight_at(cluster, replica, flight).members):
        request = request_at(cluster, members_of(cluster, replica, flight)[i])
        request.done_tokens += new_tokens_of(cluster, replica, flight)[i]
        if not is_finished(request):
            advance(cluster, request, now)
    heir = first_unfinished(cluster, replica, flight)
    if heir == NONE:
        dissolve(cluster, replica, flight)
        return
    if cluster.keep_finished == 0:
        hand_on_blocks(cluster, replica, flight, heir)
    append_running(cluster, replica, link_batch(cluster, replica, flight))


@step
def first_unfinished(cluster: Cluster, replica: Replica, flight: int) -> int:
    """The slot of the first member that goes on."""
    for i in range(flight_at(cluster, replica, flight).members):
        slot = members_of(cluster, replica, flight)[i]
        if not is_finished(request_at(cluster, slot)):
            return slot
    return NONE


@step
def dissolve(cluster: Cluster, replica: Replica, flight: int) -> None:
    """All of the batch's KV is freed."""
    for i in range(flight_at(cluster, replica, flight).members):
        slot = members_of(cluster, replica, flight)[i]
        give_back(replica, request_at(cluster, slot))
        replica.admitted -= 1
        free_slot(cluster, slot)


@step
def hand_on_blocks(cluster: Cluster, replica: Replica, flight: int, heir: int) -> None:
    """What finished members held stays with the batch: its first unfinished member holds it. They leave the batch."""
    left = 0
    for i in range(flight_at(cluster, replica, flight).members):
        slot = members_of(cluster, replica, flight)[i]
        request = request_at(cluster, slot)
        if is_finished(request):
            request_at(cluster, heir).blocks += request.blocks
            replica.admitted -= 1
            free_slot(cluster, slot)
        else:
            members_of(cluster, replica, flight)[left] = slot
            left += 1
    flight_at(cluster, replica, flight).members = left


@step
def link_batch(cluster: Cluster, replica: Replica, flight: int) -> int:
    """Link the members in their order; returns the first."""
    following = NONE
    for i in range(flight_at(cluster, replica, flight).members - 1, -1, -1):
        slot = members_of(cluster, replica, flight)[i]
        request_at(cluster, slot).next_waiting = following
        following = slot
    return following
