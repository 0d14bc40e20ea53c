"""Orca: batches are made anew for each iteration, of whole prompts and decodes together.

Running requests first, one token each, in the order of the running list (left over, then each ended micro-batch
appended); then waiting ones, first come first, whole prompts, while there is a place and KV for the reservation. A
micro-batch holds up to max_batch_size whatever the number of stages; only memory limits how many are admitted.

By default memory is reserved for the longest request, so that nobody is ever preempted. A reservation that leaves
something to be taken later preempts as ``sarathi`` and ``vllm`` do.
"""

from __future__ import annotations

from simcore.engine.oracle.blocks import growth_blocks
from simcore.engine.oracle.preemption import admit_prompts, grow_or_preempt, micro_batch_size
from simcore.engine.oracle.state import Cluster, Replica, Request


def form(cluster: Cluster, replica: Replica) -> tuple[list[Request], list[int]]:
    """The next micro-batch's members and each one's new prompt tokens (0: a decode)."""
    members = add_decodes(cluster, replica)
    new_tokens = [0] * len(members)
    admit_prompts(cluster, replica, members, new_tokens)
    return members, new_tokens


def add_decodes(cluster: Cluster, replica: Replica) -> list[Request]:
    """One token for each running request, as they stand in the list. One that lacks no block asks for none."""
    members: list[Request] = []
    size = micro_batch_size(cluster, replica)
    while replica.running and len(members) < size:
        request = replica.running.pop(0)
        if not growth_blocks(request, cluster.inputs.scheduler) or grow_or_preempt(cluster, replica, request):
            members.append(request)
    return members
