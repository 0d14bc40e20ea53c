"""Sarathi-Serve: stall-free batches of decodes and chunked prefills under one token budget (rules: the oracle's)."""

from __future__ import annotations

from simcore.engine.fast.group import add_group, gather
from simcore.engine.fast.group_state import group_at
from simcore.engine.fast.jit import inlined, step
from simcore.engine.fast.preemption import admit, grow_or_preempt, head_fits, join_batch
from simcore.engine.fast.replica_state import Replica, running_of
from simcore.engine.fast.request_state import Request, request_at
from simcore.engine.fast.running import sort_by_arrival
from simcore.engine.fast.state import Cluster


@step
def form(cluster: Cluster, replica: Replica, flight: int) -> int:
    """Put the next micro-batch's members in place; returns how many."""
    members, looked_at, prefills = add_decodes(cluster, replica, flight)
    members, spent = add_prefills_in_progress(cluster, replica, flight, members, looked_at, prefills)
    return add_new_requests(cluster, replica, flight, members, spent)


@step
def add_decodes(cluster: Cluster, replica: Replica, flight: int) -> tuple[int, int, int]:
    """Take decodes from the front of the running list, each with its KV.

    Prefills passed on the way are gathered at the front of the list, safe from preemption in this selection. Returns
    the members, how much of the list was looked at, and how many prefills were passed.
    """
    size = replica.micro_batch_size
    members, looked_at, prefills = add_group(cluster, replica, flight, size), 0, 0
    in_front = group_at(cluster, flight).in_front if members > 0 else 0
    while looked_at < replica.running and (members < size or looked_at < in_front):
        slot = running_of(cluster, replica)[looked_at]
        looked_at += 1
        request = request_at(cluster, slot)
        if request.done_tokens < request.target_tokens:
            running_of(cluster, replica)[prefills] = slot
            prefills += 1
        elif grow_or_preempt(cluster, replica, slot, looked_at):
            join_batch(cluster, replica, flight, members, slot, 0)
            members += 1
    gather(cluster, flight, members)
    return members, looked_at, prefills


@inlined
def add_prefills_in_progress(
    cluster: Cluster, replica: Replica, flight: int, members: int, looked_at: int, prefills: int
) -> tuple[int, int]:
    """A chunk of each while the budget lasts; the others and what was not looked at are left over, by arrival.

    Returns the members and the tokens spent.
    """
    spent, left_over = members, 0
    for i in range(prefills):
        slot = running_of(cluster, replica)[i]
        chunk = next_chunk(cluster, request_at(cluster, slot), spent)
        if chunk > 0:
            join_batch(cluster, replica, flight, members, slot, chunk)
            members += 1
            spent += chunk
        else:
            running_of(cluster, replica)[left_over] = slot
            left_over += 1
    for i in range(looked_at, replica.running):
        running_of(cluster, replica)[left_over] = running_of(cluster, replica)[i]
        left_over += 1
    replica.running = left_over
    sort_by_arrival(cluster, replica)
    return members, spent


@inlined
def add_new_requests(cluster: Cluster, replica: Replica, flight: int, members: int, spent: int) -> int:
    """Admit from the front of the waiting queue; all blocks of a prompt are taken at once."""
    size = replica.micro_batch_size
    while members < size and head_fits(cluster, replica):
        chunk = next_chunk(cluster, request_at(cluster, replica.first_waiting), spent)
        if chunk == 0:
            break
        join_batch(cluster, replica, flight, members, admit(cluster, replica), chunk)
        members += 1
        spent += chunk
    return members


@step
def next_chunk(cluster: Cluster, request: Request, spent: int) -> int:
    """What is left of the prompt, or of the budget if that is less."""
    return max(min(request.target_tokens - request.done_tokens, cluster.token_budget - spent), 0)
