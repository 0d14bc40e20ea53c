"""Admission and preemption where there are a waiting queue and a running list: who gets KV blocks, who loses them."""

from __future__ import annotations

from simcore.engine.fast.blocks import (
    admission_tokens,
    blocks_of,
    give_back,
    growth_blocks,
    room_to_admit,
    take,
)
from simcore.engine.fast.flight_state import members_of, new_tokens_of
from simcore.engine.fast.jit import inlined, step
from simcore.engine.fast.layout import smalls
from simcore.engine.fast.names import ORCA, REQUEST_LEVEL
from simcore.engine.fast.queues import pop_waiting, push_waiting_front
from simcore.engine.fast.replica_state import Replica, running_of
from simcore.engine.fast.request_state import Request, request_at
from simcore.engine.fast.state import Cluster


@step
def is_undivided(cluster: Cluster) -> bool:
    """Whether the kind is one of ``inputs.UNDIVIDED_KINDS``."""
    return cluster.kind == ORCA or cluster.kind == REQUEST_LEVEL


@step
def has_place(cluster: Cluster, replica: Replica) -> bool:
    """Whether fewer than max_batch_size are admitted; with ``orca`` and ``request_level`` only memory limits them."""
    return is_undivided(cluster) or replica.admitted < cluster.max_batch_size


@inlined
def head_fits(cluster: Cluster, replica: Replica) -> bool:
    """Whether a request waits and may be admitted: a place, and its reservation's blocks beyond the watermark."""
    if replica.waiting == 0 or not has_place(cluster, replica):
        return False
    request = request_at(cluster, replica.first_waiting)
    return room_to_admit(replica, blocks_of(admission_tokens(request, cluster), cluster))


@inlined
def admit(cluster: Cluster, replica: Replica) -> int:
    """Take the head of the waiting queue in, with the blocks of its reservation; returns its slot."""
    request = request_at(cluster, replica.first_waiting)
    return admit_with(cluster, replica, blocks_of(admission_tokens(request, cluster), cluster))


@inlined
def admit_with(cluster: Cluster, replica: Replica, blocks: int) -> int:
    """Take the head of the waiting queue in, with so many blocks; returns its slot."""
    slot = pop_waiting(cluster, replica)
    request = request_at(cluster, slot)
    request.blocks = blocks
    take(replica, blocks)
    replica.admitted += 1
    replica.admissions += 1
    request.admission = replica.admissions
    return slot


@step
def admit_prompts(cluster: Cluster, replica: Replica, flight: int, joined: int) -> int:
    """Whole prompts join the members there from the front of the waiting queue while there is a place in the
    micro-batch and KV; returns the members."""
    members, size = joined, replica.micro_batch_size
    while members < size and head_fits(cluster, replica):
        slot = admit(cluster, replica)
        request = request_at(cluster, slot)
        join_batch(cluster, replica, flight, members, slot, request.target_tokens - request.done_tokens)
        members += 1
    return members


@step
def grow_or_preempt(cluster: Cluster, replica: Replica, slot: int, looked_at: int) -> bool:
    """Give a decode the blocks of its next token, preempting from the end of the running list while there are too few.

    ``looked_at``: how much of the front of the running list is gone. With nobody left to preempt the request itself is
    preempted: False. ``preempt_when_full`` asks for a free block even if none is needed.
    """
    request = request_at(cluster, slot)
    blocks = growth_blocks(request, cluster)
    wanted = max(blocks, cluster.preempt_when_full)
    while replica.free_blocks < wanted:
        if replica.running == looked_at:
            preempt(cluster, replica, slot)
            return False
        replica.running -= 1
        preempt(cluster, replica, running_of(cluster, replica)[replica.running])
    if blocks > 0:
        request.blocks += blocks
        take(replica, blocks)
    return True


@step
def preempt(cluster: Cluster, replica: Replica, slot: int) -> None:
    """Free all its blocks; it waits in front and computes its prompt and its generated tokens again."""
    request = request_at(cluster, slot)
    give_back(replica, request)
    replica.admitted -= 1
    replica.preempted += 1
    start_over(cluster, request)
    push_waiting_front(cluster, replica, slot)


@step
def start_over(cluster: Cluster, request: Request) -> None:
    """Its KV is lost: prompt and generated tokens are computed again, after the cached ones."""
    request.target_tokens = request.prompt_tokens + request.generated
    request.done_tokens = request.cached_tokens
    smalls(cluster.preemptions)[request.index] += 1


@step
def join_batch(cluster: Cluster, replica: Replica, flight: int, place: int, slot: int, new_tokens: int) -> None:
    """Make a request a member of the micro-batch that is formed; 0 new tokens: a decode."""
    members_of(cluster, flight)[place] = slot
    new_tokens_of(cluster, flight)[place] = new_tokens
