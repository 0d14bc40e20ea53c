"""KV memory: how many blocks a request needs and when, taking them, giving them back."""

from __future__ import annotations

from simcore.engine.inputs import SchedulerInputs
from simcore.engine.oracle.state import Cluster, Replica, Request


def blocks_of(tokens: int, scheduler: SchedulerInputs) -> int:
    """Whole blocks that so many tokens' KV takes."""
    return -(-tokens // scheduler.block_tokens)


def lifetime_tokens(request: Request, scheduler: SchedulerInputs) -> int:
    """The most that one request may take of its decode replica: what has to fit, else it is refused."""
    if scheduler.reservation == "max_length":
        return scheduler.max_model_tokens
    return request.prompt_tokens + request.output_limit


def admission_tokens(request: Request, scheduler: SchedulerInputs) -> int:
    """Reserved before the first prompt token is processed. A prompt whose decode is elsewhere: prompt + 1."""
    if scheduler.reservation == "on_demand":
        return request.target_tokens
    if scheduler.reservation == "output_at_decode" or request.prefill_replica != request.decode_replica:
        return request.target_tokens + 1
    return lifetime_tokens(request, scheduler)


def transfer_tokens(request: Request, scheduler: SchedulerInputs) -> int:
    """Reserved at the destination of a KV transfer."""
    if scheduler.reservation == "output_at_decode":
        return request.prompt_tokens + 1
    return lifetime_tokens(request, scheduler)


def decode_tokens(request: Request, scheduler: SchedulerInputs) -> int:
    """What a request must hold to decode its next token (``on_demand``: the token being read included)."""
    if scheduler.reservation == "on_demand":
        return request.prompt_tokens + request.generated
    return lifetime_tokens(request, scheduler)


def growth_blocks(request: Request, scheduler: SchedulerInputs) -> int:
    """Blocks that a request lacks to decode its next token."""
    return max(blocks_of(decode_tokens(request, scheduler), scheduler) - request.blocks, 0)


def room_to_admit(replica: Replica, blocks: int) -> bool:
    """Whether so many blocks can be given to a newcomer.

    The watermark is kept free, except on a replica that holds nothing: else a request that fits only without it would
    wait for ever.
    """
    if replica.free_blocks == replica.inputs.kv_blocks:
        return blocks <= replica.free_blocks
    return replica.free_blocks - blocks >= replica.watermark_blocks


def take(replica: Replica, blocks: int) -> None:
    """Mark blocks as held; the caller notes them on the request."""
    replica.free_blocks -= blocks
    taken = replica.inputs.kv_blocks - replica.free_blocks
    replica.counters.peak_blocks = max(replica.counters.peak_blocks, taken)


def give_back(replica: Replica, request: Request) -> None:
    """Free what the request holds here."""
    replica.free_blocks += request.blocks
    request.blocks = 0


def waiting_blocks(cluster: Cluster, replica: Replica) -> int:
    """Blocks that the prompts waiting here will take (for the router ``least_kv``)."""
    scheduler = cluster.inputs.scheduler
    prompts = [cluster.requests[task // 2] for task in replica.prompts] + list(replica.waiting)
    return sum(blocks_of(request.target_tokens, scheduler) for request in prompts)
