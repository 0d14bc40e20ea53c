"""KV memory: how many blocks a request needs and when, taking them, giving them back."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.names import MAX_LENGTH, ON_DEMAND, OUTPUT_AT_DECODE
from simcore.engine.fast.state import Replica, Request, Settings


@step
def blocks_of(tokens: int, settings: Settings) -> int:
    """Whole blocks that so many tokens' KV takes."""
    return (tokens + settings.block_tokens - 1) // settings.block_tokens


@step
def lifetime_tokens(request: Request, settings: Settings) -> int:
    """The most that one request may take of its decode replica: what has to fit, else it is refused."""
    if settings.reservation == MAX_LENGTH:
        return settings.max_model_tokens
    return request.prompt_tokens + request.output_limit


@step
def admission_tokens(request: Request, settings: Settings) -> int:
    """Reserved before the first prompt token is processed. A prompt whose decode is elsewhere: prompt + 1."""
    if settings.reservation == ON_DEMAND:
        return request.target_tokens
    if settings.reservation == OUTPUT_AT_DECODE or request.prefill_replica != request.decode_replica:
        return request.target_tokens + 1
    return lifetime_tokens(request, settings)


@step
def transfer_tokens(request: Request, settings: Settings) -> int:
    """Reserved at the destination of a KV transfer."""
    if settings.reservation == OUTPUT_AT_DECODE:
        return request.prompt_tokens + 1
    return lifetime_tokens(request, settings)


@step
def decode_tokens(request: Request, settings: Settings) -> int:
    """What a request must hold to decode its next token (``on_demand``: the token being read included)."""
    if settings.reservation == ON_DEMAND:
        return request.prompt_tokens + request.generated
    return lifetime_tokens(request, settings)


@step
def growth_blocks(request: Request, settings: Settings) -> int:
    """Blocks that a request lacks to decode its next token."""
    tokens = decode_tokens(request, settings)
    if tokens <= request.blocks * settings.block_tokens:
        return 0
    return blocks_of(tokens, settings) - request.blocks


@step
def room_to_admit(replica: Replica, blocks: int) -> bool:
    """Whether so many blocks can be given to a newcomer: the watermark is kept free, except where nothing is held."""
    if replica.free_blocks == replica.kv_blocks:
        return blocks <= replica.free_blocks
    return replica.free_blocks - blocks >= replica.watermark_blocks


@step
def take(replica: Replica, blocks: int) -> None:
    """Mark blocks as held; the caller notes them on the request."""
    replica.free_blocks -= blocks
    replica.peak_blocks = max(replica.peak_blocks, replica.kv_blocks - replica.free_blocks)


@step
def give_back(replica: Replica, request: Request) -> None:
    """Free what the request holds here."""
    replica.free_blocks += request.blocks
    request.blocks = 0
