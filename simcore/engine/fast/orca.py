"""Orca: batches are made anew for each iteration, of whole prompts and decodes together (rules: the oracle's)."""

from __future__ import annotations

from simcore.engine.fast.blocks import growth_blocks
from simcore.engine.fast.group import add_group, gather
from simcore.engine.fast.jit import step
from simcore.engine.fast.preemption import admit_prompts, grow_or_preempt, join_batch
from simcore.engine.fast.replica_state import Replica, running_of
from simcore.engine.fast.request_state import request_at
from simcore.engine.fast.running import drop_front
from simcore.engine.fast.state import Cluster


@step
def form(cluster: Cluster, replica: Replica, flight: int) -> int:
    """Put the next micro-batch's members in place; returns how many."""
    members = add_decodes(cluster, replica, flight)
    return admit_prompts(cluster, replica, flight, members)


@step
def add_decodes(cluster: Cluster, replica: Replica, flight: int) -> int:
    """One token for each running request, as they stand in the list. One that lacks no block asks for none."""
    size = replica.micro_batch_size
    members, looked_at = add_group(cluster, replica, flight, size), 0
    while looked_at < replica.running and members < size:
        slot = running_of(cluster, replica)[looked_at]
        looked_at += 1
        if growth_blocks(request_at(cluster, slot), cluster) == 0 or grow_or_preempt(cluster, replica, slot, looked_at):
            join_batch(cluster, replica, flight, members, slot, 0)
            members += 1
    drop_front(cluster, replica, looked_at)
    gather(cluster, flight, members)
    return members
