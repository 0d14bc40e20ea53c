"""vLLM as of 2023: a prefill-only iteration whenever a waiting request fits, else decodes (rules: the oracle's)."""

from __future__ import annotations

from simcore.engine.fast.group import add_group, gather
from simcore.engine.fast.group_state import group_at
from simcore.engine.fast.jit import step
from simcore.engine.fast.preemption import admit, grow_or_preempt, head_fits, join_batch
from simcore.engine.fast.replica_state import Replica, running_of
from simcore.engine.fast.request_state import request_at
from simcore.engine.fast.running import drop_front, sort_by_arrival
from simcore.engine.fast.set_aside import bring_back, dissolve_aside, keeps_aside, set_aside
from simcore.engine.fast.state import Cluster


@step
def prepare(cluster: Cluster, replica: Replica) -> None:
    """With pipeline stages: have the next micro-batch find its decodes in the row that it takes."""
    if keeps_aside(cluster, replica):
        if head_fits(cluster, replica):
            set_aside(cluster, replica)
        else:
            bring_back(cluster, replica, replica.micro_batch_size)


@step
def form(cluster: Cluster, replica: Replica, flight: int) -> int:
    """Put the next micro-batch's members in place; returns how many."""
    members = add_prompts(cluster, replica, flight)
    if members == 0:
        members = add_decodes(cluster, replica, flight)
    if members == 0 and replica.in_flight == 0:
        members = add_prompts(cluster, replica, flight)
    return members


@step
def add_prompts(cluster: Cluster, replica: Replica, flight: int) -> int:
    """Admit from the front of the waiting queue, stopping before the first that is too much."""
    members, tokens, longest = 0, 0, 0
    first = group_at(cluster, flight).members
    size = replica.micro_batch_size
    while members < size and head_fits(cluster, replica):
        request = request_at(cluster, replica.first_waiting)
        new = request.target_tokens - request.done_tokens
        tokens, longest = tokens + new, max(longest, new)
        counted = longest * (members + 1) if cluster.padded_prompts > 0 else tokens
        if members > 0 and counted > cluster.max_batch_tokens:
            break
        join_batch(cluster, replica, flight, first + members, admit(cluster, replica), new)
        members += 1
    return members


@step
def add_decodes(cluster: Cluster, replica: Replica, flight: int) -> int:
    """One token for each running request, by arrival, each with its KV."""
    size = replica.micro_batch_size
    members, looked_at = add_group(cluster, replica, flight, size), 0
    if members == 0 and keeps_aside(cluster, replica):
        dissolve_aside(cluster, replica)
    sort_by_arrival(cluster, replica)
    while looked_at < replica.running and members < size:
        slot = running_of(cluster, replica)[looked_at]
        looked_at += 1
        if grow_or_preempt(cluster, replica, slot, looked_at):
            join_batch(cluster, replica, flight, members, slot, 0)
            members += 1
    drop_front(cluster, replica, looked_at)
    gather(cluster, flight, members)
    return members
