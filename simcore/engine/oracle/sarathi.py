"""Sarathi-Serve: stall-free batches of decodes and chunked prefills under one token budget.

Decodes first, one token each, never held back by the budget; then prefills in progress; then new requests, first come
first, within what is left of the budget, the last one chunked. A head that gets no token or does not fit ends it.
Prefills in progress may take a micro-batch beyond its size: only decodes and new requests ask for a place.
"""

from __future__ import annotations

from simcore.engine.oracle.preemption import admit, fits, grow_or_preempt, micro_batch_size
from simcore.engine.oracle.state import Cluster, Replica, Request


def form(cluster: Cluster, replica: Replica) -> tuple[list[Request], list[int]]:
    """The next micro-batch's members and each one's new prompt tokens (0: a decode)."""
    members: list[Request] = []
    new_tokens: list[int] = []
    prefills = add_decodes(cluster, replica, members, new_tokens)
    left_over = add_prefills_in_progress(cluster, prefills, members, new_tokens)
    replica.running = sorted(left_over + replica.running, key=lambda request: request.routed_ps)
    add_new_requests(cluster, replica, members, new_tokens)
    return members, new_tokens


def add_decodes(cluster: Cluster, replica: Replica, members: list[Request], new_tokens: list[int]) -> list[Request]:
    """Take decodes from the front of the running list, each with its KV; returns the prefills passed on the way.

    A prefill that was passed is safe from preemption in this selection; one further back is not.
    """
    prefills = []
    size = micro_batch_size(cluster, replica)
    while replica.running and len(members) < size:
        request = replica.running.pop(0)
        if request.done_tokens < request.target_tokens:
            prefills.append(request)
        elif grow_or_preempt(cluster, replica, request):
            members.append(request)
            new_tokens.append(0)
    return prefills


def add_prefills_in_progress(
    cluster: Cluster, prefills: list[Request], members: list[Request], new_tokens: list[int]
) -> list[Request]:
    """A chunk of each while the budget lasts; returns those that got none."""
    left_over = []
    for request in prefills:
        chunk = next_chunk(cluster, request, new_tokens)
        if chunk:
            members.append(request)
            new_tokens.append(chunk)
        else:
            left_over.append(request)
    return left_over


def add_new_requests(cluster: Cluster, replica: Replica, members: list[Request], new_tokens: list[int]) -> None:
    """Admit from the front of the waiting queue; all blocks of a prompt are taken at once."""
    size = micro_batch_size(cluster, replica)
    while replica.waiting and len(members) < size and fits(cluster, replica, replica.waiting[0]):
        chunk = next_chunk(cluster, replica.waiting[0], new_tokens)
        if not chunk:
            break
        members.append(admit(cluster, replica))
        new_tokens.append(chunk)


def next_chunk(cluster: Cluster, request: Request, new_tokens: list[int]) -> int:
    """What is left of the prompt, or of the budget if that is less; a decode counts one token."""
    spent = sum(new_tokens) + new_tokens.count(0)
    budget = cluster.inputs.scheduler.token_budget
    return max(min(request.target_tokens - request.done_tokens, budget - spent), 0)
