"""KV memory: how many blocks a request needs and when, taking them, giving them back.

A replica's capacity counts tokens whose KV is kept in every layer. A windowed layer keeps a request's last
``window_tokens`` only, so a request of more tokens holds, over all layers, the KV of fewer (``held_tokens``): that
many are reserved, sent and counted by the router.
"""

from __future__ import annotations

from simcore.engine.inputs import SchedulerInputs
from simcore.engine.oracle.state import Cluster, Replica, Request


def held_tokens(tokens: int, scheduler: SchedulerInputs) -> int:
    """What one request's so many tokens hold, in tokens of all layers, rounded up: full layers hold all of them,
    windowed ones at most ``window_tokens``."""
    layers = scheduler.full_layers + scheduler.windowed_layers
    kept = scheduler.full_layers * tokens + scheduler.windowed_layers * min(tokens, scheduler.window_tokens)
    return -(-kept // layers)


def blocks_of(tokens: int, scheduler: SchedulerInputs) -> int:
    """Whole blocks that one request's so many tokens take."""
    return -(-held_tokens(tokens, scheduler) // scheduler.block_tokens)


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
        return request.target_tokens + 1
    return lifetime_tokens(request, scheduler)


def routed_tokens(request: Request, scheduler: SchedulerInputs) -> int:
    """What the router counts on the decode replica: what the request will have reserved there in the end."""
    return held_tokens(lifetime_tokens(request, scheduler), scheduler)


def routed_prompt_tokens(request: Request, scheduler: SchedulerInputs) -> int:
    """What the router counts on a prefill replica whose request decodes elsewhere: prompt and first token."""
    return held_tokens(request.target_tokens + 1, scheduler)


def decode_tokens(request: Request, scheduler: SchedulerInputs) -> int:
    """What a request must hold to decode its next token (``on_demand``: the token being read included)."""
    if scheduler.reservation == "on_demand":
        return request.prompt_tokens + request.generated
    return lifetime_tokens(request, scheduler)


def chunk_tokens(request: Request, new_tokens: int, scheduler: SchedulerInputs) -> int:
    """What a request must hold for its next chunk (``on_demand``: up to the chunk's end); 0 new tokens: a decode."""
    if not new_tokens:
        return decode_tokens(request, scheduler)
    if scheduler.reservation == "on_demand":
        return request.done_tokens + new_tokens
    return admission_tokens(request, scheduler)


def chunk_blocks(request: Request, new_tokens: int, scheduler: SchedulerInputs) -> int:
    """Blocks that a request lacks for its next chunk, or decode."""
    return max(blocks_of(chunk_tokens(request, new_tokens, scheduler), scheduler) - request.blocks, 0)


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
