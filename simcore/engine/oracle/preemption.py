"""Admission and preemption of ``sarathi`` and ``vllm``: who may take KV blocks, and who gives theirs up."""

from __future__ import annotations

from simcore.engine.oracle.blocks import admission_tokens, blocks_of, give_back, growth_blocks, room_to_admit, take
from simcore.engine.oracle.state import Cluster, Replica, Request


def micro_batch_size(cluster: Cluster, replica: Replica) -> int:
    """A micro-batch's share of max_batch_size, at least one."""
    return max(cluster.inputs.scheduler.max_batch_size // replica.inputs.stages, 1)


def fits(cluster: Cluster, replica: Replica, request: Request) -> bool:
    """Whether a waiting request may be admitted: a place among max_batch_size, and blocks beyond the watermark."""
    scheduler = cluster.inputs.scheduler
    blocks = blocks_of(admission_tokens(request, scheduler), scheduler)
    return replica.admitted < scheduler.max_batch_size and room_to_admit(replica, blocks)


def admit(cluster: Cluster, replica: Replica) -> Request:
    """Take the head of the waiting queue in, with its blocks."""
    scheduler = cluster.inputs.scheduler
    request = replica.waiting.popleft()
    request.blocks = blocks_of(admission_tokens(request, scheduler), scheduler)
    take(replica, request.blocks)
    replica.admitted += 1
    return request


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
    request.target_tokens = request.prompt_tokens + request.generated
    request.done_tokens = request.cached_tokens
    request.preemptions += 1
    replica.waiting.appendleft(request)
