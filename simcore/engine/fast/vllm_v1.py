"""vLLM's V1 scheduler (2025 on): one token budget for decodes and partial prefills alike (rules: the oracle's)."""

from __future__ import annotations

from simcore.engine.fast.blocks import chunk_blocks, room_to_admit, take
from simcore.engine.fast.flight_state import flight_at, members_of, new_tokens_of
from simcore.engine.fast.group import add_group, dissolve, gather
from simcore.engine.fast.group_state import group_at
from simcore.engine.fast.jit import step
from simcore.engine.fast.preemption import admit_with, has_place, join_batch, preempt
from simcore.engine.fast.replica_state import Replica, running_of
from simcore.engine.fast.request_state import Request, request_at
from simcore.engine.fast.running import append_running, drop_front, sort_by_admission
from simcore.engine.fast.state import Cluster


@step
def form(cluster: Cluster, replica: Replica, flight: int) -> int:
    """Put the next micro-batch's members in place; returns how many."""
    group = group_at(cluster, flight)
    if group.in_front > 0:
        dissolve(cluster, replica, group)  # who was left over may have been admitted before some of the group
    most = min(replica.micro_batch_size, cluster.token_budget)
    decodes = add_group(cluster, replica, flight, most)
    sort_by_admission(cluster, replica)
    members, spent, enough = add_running(cluster, replica, flight, decodes)
    return add_new_requests(cluster, replica, flight, members, spent) if enough else members


@step
def add_running(cluster: Cluster, replica: Replica, flight: int, decodes: int) -> tuple[int, int, bool]:
    """A chunk or a token of each, while budget and places last; so many decodes are members already.

    Returns the members, the tokens spent, and whether there was KV without preemption.
    """
    admitted, size = replica.admitted, replica.micro_batch_size
    members, spent, looked_at, enough = decodes, decodes, 0, True
    while enough and looked_at < replica.running and members < size and spent < cluster.token_budget:
        slot = running_of(cluster, replica)[looked_at]
        looked_at += 1
        chunk = next_chunk(cluster, request_at(cluster, slot), spent)
        if grow_or_preempt_last(cluster, replica, slot, chunk, looked_at):
            if chunk == 0:
                make_place(cluster, replica, flight, decodes, members)
                join_batch(cluster, replica, flight, decodes, slot, 0)
                decodes += 1
            else:
                join_batch(cluster, replica, flight, members, slot, chunk)
            members += 1
            spent += max(chunk, 1)
        else:
            enough = False
    drop_front(cluster, replica, looked_at)
    gather(cluster, flight, decodes)
    return members, spent, enough and replica.admitted == admitted


@step
def make_place(cluster: Cluster, replica: Replica, flight: int, place: int, members: int) -> None:
    """For a decode among the first members, which are decodes: who was there goes to the end. It ended its prompt with
    its chunk, so that there was budget left, and in what order they are members is of no consequence."""
    join_batch(
        cluster,
        replica,
        flight,
        members,
        members_of(cluster, flight)[place],
        new_tokens_of(cluster, flight)[place],
    )


@step
def grow_or_preempt_last(cluster: Cluster, replica: Replica, slot: int, chunk: int, looked_at: int) -> bool:
    """Give a request the blocks of its next chunk or token, preempting the last of the running list while there are
    too few. False: it was the last one itself, and was preempted or waits for one in flight.
    """
    request = request_at(cluster, slot)
    blocks = chunk_blocks(request, chunk, cluster)
    while replica.free_blocks < blocks:
        if replica.running > looked_at:
            replica.running -= 1
            preempt(cluster, replica, running_of(cluster, replica)[replica.running])
        elif newest_in_flight(cluster, replica) > request.admission:
            append_running(cluster, replica, slot)
            return False
        else:
            preempt(cluster, replica, slot)
            return False
    request.blocks += blocks
    take(replica, blocks)
    return True


@step
def newest_in_flight(cluster: Cluster, replica: Replica) -> int:
    """The admission number of the last admitted of the requests in flight; 0: none is."""
    newest, flight = 0, replica.first_flight
    for _ in range(replica.in_flight):
        batch = flight_at(cluster, flight)
        for i in range(batch.first + batch.members):
            newest = max(newest, request_at(cluster, members_of(cluster, flight)[i]).admission)
        flight = batch.following
    return newest


@step
def add_new_requests(cluster: Cluster, replica: Replica, flight: int, members: int, spent: int) -> int:
    """Admit from the front of the waiting queue, the last one chunked; a head that does not fit ends it."""
    size = replica.micro_batch_size
    while replica.waiting > 0 and members < size and has_place(cluster, replica):
        request = request_at(cluster, replica.first_waiting)
        chunk = next_chunk(cluster, request, spent)
        blocks = chunk_blocks(request, chunk, cluster)
        if chunk == 0 or not room_to_admit(replica, blocks):
            break
        join_batch(cluster, replica, flight, members, admit_with(cluster, replica, blocks), chunk)
        members += 1
        spent += chunk
    return members


@step
def next_chunk(cluster: Cluster, request: Request, spent: int) -> int:
    """What is left of the prompt, or of the budget if that is less; 0 of a request that decodes."""
    return min(request.target_tokens - request.done_tokens, cluster.token_budget - spent)
