"""Admission and preemption where there are a waiting queue and a running list: who gets KV blocks, who loses them."""

from __future__ import annotations

from simcore.engine.inputs import UNDIVIDED_KINDS
from simcore.engine.oracle.blocks import admission_tokens, blocks_of, give_back, growth_blocks, room_to_admit, take
from simcore.engine.oracle.state import Cluster, Replica, Request


def micro_batch_size(cluster: Cluster, replica: Replica) -> int:
    """A micro-batch's share of max_batch_size, at least one; with ``orca`` and ``request_level`` all of it."""
    scheduler = cluster.inputs.scheduler
    if scheduler.kind in UNDIVIDED_KINDS:
        return scheduler.max_batch_size
    return max(scheduler.max_batch_size // replica.inputs.stages, 1)


def has_place(cluster: Cluster, replica: Replica) -> bool:
    """Whether fewer than max_batch_size are admitted; with ``orca`` and ``request_level`` only memory limits them."""
    scheduler = cluster.inputs.scheduler
    return scheduler.kind in UNDIVIDED_KINDS or replica.admitted < scheduler.max_batch_size


def fits(cluster: Cluster, replica: Replica, request: Request) -> bool:
    """Whether a waiting request may be admitted: a place, and the blocks of its reservation beyond the watermark."""
    scheduler = cluster.inputs.scheduler
    blocks = blocks_of(admission_tokens(request, scheduler), scheduler)
    return has_place(cluster, replica) and room_to_admit(replica, blocks)


def admit(cluster: Cluster, replica: Replica) -> Request:
    """Take the head of the waiting queue in, with the blocks of its reservation."""
    scheduler = cluster.inputs.scheduler
    return admit_with(replica, blocks_of(admission_tokens(replica.waiting[0], scheduler), scheduler))


def admit_with(replica: Replica, blocks: int) -> Request:
    """Take the head of the waiting queue in, with so many blocks."""
    request = replica.waiting.popleft()
    request.blocks = blocks
    take(replica, blocks)
    replica.admitted += 1
    replica.admissions += 1
    request.admission = replica.admissions
    return request


def admit_prompts(cluster: Cluster, replica: Replica, members: list[Request], new_tokens: list[int]) -> None:
    """Whole prompts join from the front of the waiting queue while there is a place in the micro-batch and KV."""
    size = micro_batch_size(cluster, replica)
    while replica.waiting and len(members) < size and fits(cluster, replica, replica.waiting[0]):
        request = admit(cluster, replica)
        members.append(request)
        new_tokens.append(request.target_tokens - request.done_tokens)


def grow_or_preempt(cluster: Cluster, replica: Replica, request: Request) -> bool:
    """Give a decode the blocks of its next token, preempting from the end of the running list while there are too few.

    With nobody left to preempt the request itself is preempted: False. ``preempt_when_full`` asks for a free block
    even if none is needed.
    """
    scheduler = cluster.inputs.scheduler
    blocks = growth_blocks(request, scheduler)
    wanted = max(blocks, int(scheduler.preempt_when_full))
    while replica.free_blocks < wanted:
        victim = replica.running.pop() if replica.running else request
        preempt(replica, victim)
        if victim is request:
            return False
    request.blocks += blocks
    take(replica, blocks)
    return True


def preempt(replica: Replica, request: Request) -> None:
    """Free all its blocks; it waits in front and computes its prompt and its generated tokens again."""
    give_back(replica, request)
    replica.admitted -= 1
    start_over(request)
    replica.waiting.appendleft(request)


def start_over(request: Request) -> None:
    """Its KV is lost: prompt and generated tokens are computed again, after the cached ones."""
    request.target_tokens = request.prompt_tokens + request.generated
    request.done_tokens = request.cached_tokens
    request.preemptions += 1
