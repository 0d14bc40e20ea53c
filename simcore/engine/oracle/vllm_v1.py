"""vLLM's V1 scheduler (2025 on): one token budget for decodes and partial prefills alike.

Running requests first, in order of admission: each takes what it lacks of its prompt, or what is left of the budget if
that is less, or one token as a decode, and the KV blocks for that (``on_demand``: up to the chunk's end). With too few
blocks the last running request is preempted, at the end the request itself, and then nothing further is looked at.
Then, if nobody was preempted, waiting requests, first come first, each with the KV of its first chunk. A spent budget
or a full micro-batch ends it.

With several stages a request in flight cannot be preempted. Where a request would have to give up its own KV while one
admitted after it is in flight, it waits for that one to end instead, and nobody new is admitted: otherwise two long
prompts could preempt themselves in turn for ever.
"""

from __future__ import annotations

from simcore.engine.oracle.blocks import chunk_blocks, room_to_admit, take
from simcore.engine.oracle.preemption import admit_with, has_place, micro_batch_size, preempt
from simcore.engine.oracle.state import Cluster, MicroBatch, Replica, Request


def form(cluster: Cluster, replica: Replica) -> tuple[list[Request], list[int]]:
    """The next micro-batch's members and each one's new prompt tokens (0: a decode)."""
    members: list[Request] = []
    new_tokens: list[int] = []
    replica.running.sort(key=lambda request: request.admission)
    if add_running(cluster, replica, members, new_tokens):
        add_new_requests(cluster, replica, members, new_tokens)
    return members, new_tokens


def add_running(cluster: Cluster, replica: Replica, members: list[Request], new_tokens: list[int]) -> bool:
    """A chunk or a token of each, while budget and places last; returns whether there was KV without preemption."""
    admitted = replica.admitted
    size = micro_batch_size(cluster, replica)
    while replica.running and len(members) < size and budget_left(cluster, new_tokens):
        request = replica.running.pop(0)
        chunk = next_chunk(cluster, request, new_tokens)
        if not grow_or_preempt_last(cluster, replica, request, chunk):
            return False
        members.append(request)
        new_tokens.append(chunk)
    return replica.admitted == admitted


def grow_or_preempt_last(cluster: Cluster, replica: Replica, request: Request, chunk: int) -> bool:
    """Give a request the blocks of its next chunk or token, preempting the last of the running list while there are
    too few. False: it was the last one itself, and was preempted or waits for one in flight.
    """
    blocks = chunk_blocks(request, chunk, cluster.inputs.scheduler)
    while replica.free_blocks < blocks:
        if replica.running:
            preempt(replica, replica.running.pop())
        elif newest_in_flight(cluster, replica) > request.admission:
            replica.running.append(request)
            return False
        else:
            preempt(replica, request)
            return False
    request.blocks += blocks
    take(replica, blocks)
    return True


def newest_in_flight(cluster: Cluster, replica: Replica) -> int:
    """The admission number of the last admitted of the requests in flight; 0: none is."""
    flights = [what for *_, index, what in cluster.events if index == replica.index and isinstance(what, MicroBatch)]
    return max((request.admission for batch in flights for request in batch.members), default=0)


def add_new_requests(cluster: Cluster, replica: Replica, members: list[Request], new_tokens: list[int]) -> None:
    """Admit from the front of the waiting queue, the last one chunked; a head that does not fit ends it."""
    size = micro_batch_size(cluster, replica)
    while replica.waiting and len(members) < size and has_place(cluster, replica):
        chunk = next_chunk(cluster, replica.waiting[0], new_tokens)
        blocks = chunk_blocks(replica.waiting[0], chunk, cluster.inputs.scheduler)
        if not chunk or not room_to_admit(replica, blocks):
            break
        members.append(admit_with(replica, blocks))
        new_tokens.append(chunk)


def next_chunk(cluster: Cluster, request: Request, new_tokens: list[int]) -> int:
    """What is left of the prompt, or of the budget if that is less; 0 of a request that decodes."""
    return min(request.target_tokens - request.done_tokens, budget_left(cluster, new_tokens))


def budget_left(cluster: Cluster, new_tokens: list[int]) -> int:
    """Of the token budget; a decode takes one."""
    return cluster.inputs.scheduler.token_budget - sum(new_tokens) - new_tokens.count(0)
