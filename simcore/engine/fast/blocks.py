"""KV memory: how many blocks a request needs and when, taking them, giving them back."""

from __future__ import annotations

from simcore.engine.fast.jit import inlined, step
from simcore.engine.fast.layout import quotient
from simcore.engine.fast.names import MAX_LENGTH, ON_DEMAND, OUTPUT_AT_DECODE
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.request_state import Request
from simcore.engine.fast.state import Cluster


@step
def held_tokens(tokens: int, cluster: Cluster) -> int:
    """What one request's so many tokens hold, in tokens of all layers, rounded up: full layers hold all of them,
    windowed ones at most ``window_tokens``. Within the window, and without windowed layers, no division is made."""
    if cluster.windowed_layers == 0 or tokens <= cluster.window_tokens:
        return tokens
    layers = cluster.full_layers + cluster.windowed_layers
    kept = cluster.full_layers * tokens + cluster.windowed_layers * cluster.window_tokens
    return quotient(kept + layers - 1, layers)


@inlined
def blocks_of(tokens: int, cluster: Cluster) -> int:
    """Whole blocks that one request's so many tokens take."""
    return quotient(held_tokens(tokens, cluster) + cluster.block_tokens - 1, cluster.block_tokens)


@step
def lifetime_tokens(request: Request, cluster: Cluster) -> int:
    """The most that one request may take of its decode replica: what has to fit, else it is refused."""
    if cluster.reservation == MAX_LENGTH:
        return cluster.max_model_tokens
    return request.prompt_tokens + request.output_limit


@step
def admission_tokens(request: Request, cluster: Cluster) -> int:
    """Reserved before the first prompt token is processed. A prompt whose decode is elsewhere: prompt + 1."""
    if cluster.reservation == ON_DEMAND:
        return request.target_tokens
    if cluster.reservation == OUTPUT_AT_DECODE or request.prefill_replica != request.decode_replica:
        return request.target_tokens + 1
    return lifetime_tokens(request, cluster)


@step
def transfer_tokens(request: Request, cluster: Cluster) -> int:
    """Reserved at the destination of a KV transfer."""
    if cluster.reservation == OUTPUT_AT_DECODE:
        return request.target_tokens + 1
    return lifetime_tokens(request, cluster)


@step
def routed_tokens(request: Request, cluster: Cluster) -> int:
    """What the router counts on the decode replica: what the request will have reserved there in the end."""
    return held_tokens(lifetime_tokens(request, cluster), cluster)


@step
def routed_prompt_tokens(request: Request, cluster: Cluster) -> int:
    """What the router counts on a prefill replica whose request decodes elsewhere: prompt and first token."""
    return held_tokens(request.target_tokens + 1, cluster)


@step
def decode_tokens(request: Request, cluster: Cluster) -> int:
    """What a request must hold to decode its next token (``on_demand``: the token being read included)."""
    if cluster.reservation == ON_DEMAND:
        return request.prompt_tokens + request.generated
    return lifetime_tokens(request, cluster)


@step
def chunk_tokens(request: Request, new_tokens: int, cluster: Cluster) -> int:
    """What a request must hold for its next chunk (``on_demand``: up to the chunk's end); 0 new tokens: a decode."""
    if new_tokens == 0:
        return decode_tokens(request, cluster)
    if cluster.reservation == ON_DEMAND:
        return request.done_tokens + new_tokens
    return admission_tokens(request, cluster)


@step
def chunk_blocks(request: Request, new_tokens: int, cluster: Cluster) -> int:
    """Blocks that a request lacks for its next chunk, or decode."""
    return max(blocks_of(chunk_tokens(request, new_tokens, cluster), cluster) - request.blocks, 0)


@step
def growth_blocks(request: Request, cluster: Cluster) -> int:
    """Blocks that a request lacks to decode its next token."""
    tokens = held_tokens(decode_tokens(request, cluster), cluster)
    if tokens <= request.blocks * cluster.block_tokens:
        return 0
    return quotient(tokens + cluster.block_tokens - 1, cluster.block_tokens) - request.blocks


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
