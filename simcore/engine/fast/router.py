"""Where an arriving request goes (rules: the oracle's).

Only replicas that are up and could hold the request are looked at; with none it waits, or is refused.
"""

from __future__ import annotations

import numpy as np

from simcore.engine.fast.blocks import (
    blocks_of,
    held_tokens,
    lifetime_tokens,
    routed_prompt_tokens,
    routed_tokens,
)
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers, smalls
from simcore.engine.fast.loads import (
    KV_BLOCKS,
    PENDING,
    RESERVED,
    WAITING,
    add_pending,
    add_reserved,
    is_kept,
    least_loaded,
    load_of,
    waiting,
)
from simcore.engine.fast.names import (
    DECODE_ROLE,
    JSQ,
    LEAST_KV,
    LEAST_WAITING,
    MIXED_ROLE,
    PREFILL_ROLE,
    RANDOM,
    ROUND_ROBIN,
    SPLITWISE,
)
from simcore.engine.fast.pools import DECODE_POOL, MIXED_POOL, PREFILL_POOL, turn_mixed
from simcore.engine.fast.replica_state import Replica, replica_at
from simcore.engine.fast.request_state import Request
from simcore.engine.fast.state import FOREVER, NONE, Cluster, pool_of

ANY_ROLE = -1


@step
def route(cluster: Cluster, request: Request) -> bool:
    """Assign the request; False: no replica that is up could hold it."""
    if is_too_long(cluster, request):
        return False
    if cluster.kind != SPLITWISE:
        prefill, decode = choose_one(cluster, request)
    elif has_two_stages(cluster):
        prefill, decode = choose_two_stages(cluster, request)
    else:
        prefill, decode = choose_by_role(cluster, request)
    if prefill == NONE or decode == NONE:
        return False
    assign(cluster, request, prefill, decode)
    return True


@step
def has_two_stages(cluster: Cluster) -> bool:
    """Whether Splitwise's own router is asked, which moves machines between the pools."""
    return cluster.kind == SPLITWISE and cluster.router == JSQ and cluster.mixed_pool > 0


@step
def is_too_long(cluster: Cluster, request: Request) -> bool:
    """Over max_model_tokens."""
    return 0 < cluster.max_model_tokens < request.prompt_tokens + request.output_limit


@step
def could_ever_hold(cluster: Cluster, request: Request) -> bool:
    """Whether the router would find a place if every replica were up and in its own pool. Else it is refused."""
    tokens = lifetime_tokens(request, cluster)
    if is_too_long(cluster, request):
        return False
    if has_two_stages(cluster):
        return any_of_role(cluster, ANY_ROLE, tokens)
    if any_of_role(cluster, PREFILL_ROLE, 0) and any_of_role(cluster, DECODE_ROLE, 0):
        prefill = any_of_role(cluster, PREFILL_ROLE, request.target_tokens + 1)
        return prefill and any_of_role(cluster, DECODE_ROLE, tokens)
    return any_of_role(cluster, MIXED_ROLE, tokens)


@step
def any_of_role(cluster: Cluster, role: int, tokens: int) -> bool:
    """Whether a replica of the role, wherever it is now, could hold so many tokens, if it held nothing else."""
    blocks = blocks_of(tokens, cluster)
    for index in range(cluster.replica_count):
        replica = replica_at(cluster, index)
        if (role == ANY_ROLE or replica.role == role) and replica.kv_blocks >= blocks:
            return True
    return False


@step
def assign(cluster: Cluster, request: Request, prefill: int, decode: int) -> None:
    """Note what the router counts: pending tokens, and the KV that the request will reserve."""
    request.prefill_replica, request.decode_replica = prefill, decode
    request.order = cluster.routed
    cluster.routed += 1
    smalls(cluster.prefill_replica)[request.index], smalls(cluster.decode_replica)[request.index] = prefill, decode
    source, destination = replica_at(cluster, prefill), replica_at(cluster, decode)
    add_pending(cluster, source, request.target_tokens)
    add_pending(cluster, destination, 1)
    add_reserved(cluster, destination, routed_tokens(request, cluster))
    if prefill != decode:
        add_reserved(cluster, source, routed_prompt_tokens(request, cluster))


@step
def choose_one(cluster: Cluster, request: Request) -> tuple[int, int]:
    """One replica for both phases."""
    tokens = lifetime_tokens(request, cluster)
    chosen = choose(cluster, MIXED_POOL, tokens, request, 0)
    return chosen, chosen


@step
def choose_by_role(cluster: Cluster, request: Request) -> tuple[int, int]:
    """Each phase in its own pool, nothing moves; without both pools, one replica of the mixed pool."""
    if numbers(cluster.pool_sizes)[PREFILL_POOL] == 0 or numbers(cluster.pool_sizes)[DECODE_POOL] == 0:
        return choose_one(cluster, request)
    prefill = choose(cluster, PREFILL_POOL, request.target_tokens + 1, request, 0)
    decode = choose(cluster, DECODE_POOL, lifetime_tokens(request, cluster), request, 1)
    return prefill, decode


@step
def choose(cluster: Cluster, pool: int, tokens: int, request: Request, stage: int) -> int:
    """A replica of the pool by the case's router. ``stage``: 0 prefill (or both phases), 1 decode."""
    router = cluster.router
    if router == ROUND_ROBIN:
        return next_in_turn(cluster, pool, tokens, stage)
    if router == RANDOM:
        return drawn(cluster, pool, tokens, request, stage)
    if router == LEAST_WAITING:
        return least(cluster, pool, tokens, WAITING)
    if router == LEAST_KV:
        return least(cluster, pool, tokens, KV_BLOCKS)
    return least(cluster, pool, tokens, RESERVED if stage == 1 else PENDING)


@step
def least(cluster: Cluster, pool: int, tokens: int, measure: int) -> int:
    """The first replica of a pool with the least of something, among those that could hold so many tokens."""
    blocks = blocks_of(tokens, cluster)
    if is_kept(cluster, measure):
        best = least_loaded(cluster, pool, measure)
        if best == NONE or replica_at(cluster, best).kv_blocks >= blocks:
            return best
    return least_of_those_that_hold(cluster, pool, blocks, measure)


@step
def least_of_those_that_hold(cluster: Cluster, pool: int, blocks: int, measure: int) -> int:
    """The same, looked up one by one."""
    best, least_load = NONE, FOREVER
    for place in range(numbers(cluster.pool_sizes)[pool]):
        replica = replica_at(cluster, pool_of(cluster, pool)[place])
        load = load_of(replica, measure)
        if replica.kv_blocks >= blocks and load < least_load:
            best, least_load = replica.index, load
    return best


@step
def next_in_turn(cluster: Cluster, pool: int, tokens: int, stage: int) -> int:
    """Round robin over the pool, passing by those that could not hold the request."""
    blocks = blocks_of(tokens, cluster)
    size = numbers(cluster.pool_sizes)[pool]
    for passed_by in range(size):
        place = (numbers(cluster.next_in_turn)[stage] + passed_by) % size
        index = pool_of(cluster, pool)[place]
        if replica_at(cluster, index).kv_blocks >= blocks:
            numbers(cluster.next_in_turn)[stage] = place + 1
            return index
    return NONE


@step
def drawn(cluster: Cluster, pool: int, tokens: int, request: Request, stage: int) -> int:
    """One of those of the pool that could hold so many tokens, by lot."""
    blocks = blocks_of(tokens, cluster)
    if blocks <= cluster.smallest_kv_blocks:
        size = numbers(cluster.pool_sizes)[pool]
        return pool_of(cluster, pool)[draw(cluster.seed, request.index, stage, size)] if size > 0 else NONE
    candidates = 0
    for place in range(numbers(cluster.pool_sizes)[pool]):
        candidates += int(replica_at(cluster, pool_of(cluster, pool)[place]).kv_blocks >= blocks)
    if candidates == 0:
        return NONE
    lot = draw(cluster.seed, request.index, stage, candidates)
    for place in range(numbers(cluster.pool_sizes)[pool]):
        index = pool_of(cluster, pool)[place]
        lot -= int(replica_at(cluster, index).kv_blocks >= blocks)
        if lot < 0:
            return index
    return NONE


@step
def draw(seed: int, request: int, stage: int, candidates: int) -> int:
    """The (2 x request + stage)th number of the splitmix64 sequence that starts at ``seed``, modulo the candidates."""
    z = np.uint64(seed) + np.uint64(2 * request + stage + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int((z ^ (z >> np.uint64(31))) % np.uint64(candidates))


@step
def choose_two_stages(cluster: Cluster, request: Request) -> tuple[int, int]:
    """Splitwise: prefill by pending tokens, decode by reserved KV; what is too much goes to the mixed pool, then moves
    a machine there.

    With neither, both phases go to the replica with the fewest pending tokens of all.
    """
    tokens = lifetime_tokens(request, cluster)
    if not could_be_held(cluster, tokens):
        return NONE, NONE
    prefill = find_prefill(cluster, request)
    decode = find_decode(cluster, tokens)
    if prefill == NONE:
        prefill = least(cluster, DECODE_POOL, request.target_tokens + 1, PENDING)
        turn_mixed(cluster, prefill)
    if decode == NONE:
        decode = least(cluster, PREFILL_POOL, tokens, RESERVED)
        turn_mixed(cluster, decode)
    if prefill == NONE or decode == NONE:
        everywhere = least_pending_anywhere(cluster, tokens)
        return everywhere, everywhere
    return prefill, decode


@step
def could_be_held(cluster: Cluster, tokens: int) -> bool:
    """Whether any replica that is up could hold so many tokens, if it held nothing else."""
    return blocks_of(tokens, cluster) <= cluster.largest_kv_blocks_up


@step
def find_prefill(cluster: Cluster, request: Request) -> int:
    """The prefill replica with the fewest pending tokens, unless its queue is long; else the same in the mixed pool."""
    for pool in (PREFILL_POOL, MIXED_POOL):
        best = least(cluster, pool, request.target_tokens + 1, PENDING)
        if best != NONE and not is_queue_long(cluster, replica_at(cluster, best), request):
            return best
    return NONE


@step
def is_queue_long(cluster: Cluster, replica: Replica, request: Request) -> bool:
    """Something waits there, and the prompt would make its pending tokens exceed the limit."""
    pending = replica.pending_tokens + request.target_tokens
    return waiting(replica) > 0 and pending > cluster.prompt_pending_limit


@step
def find_decode(cluster: Cluster, tokens: int) -> int:
    """The decode replica with the least reserved KV, unless that would fill it; else the same in the mixed pool."""
    for pool in (DECODE_POOL, MIXED_POOL):
        best = least(cluster, pool, tokens, RESERVED)
        if best != NONE and not is_kv_full(cluster, replica_at(cluster, best), tokens):
            return best
    return NONE


@step
def is_kv_full(cluster: Cluster, replica: Replica, tokens: int) -> bool:
    """Its reservations and this one reach its capacity."""
    return replica.reserved_tokens + held_tokens(tokens, cluster) >= replica.kv_blocks * cluster.block_tokens


@step
def least_pending_anywhere(cluster: Cluster, tokens: int) -> int:
    """The replica with the fewest pending tokens; of equal ones the first of the prefill, mixed, decode pools."""
    best, best_value = NONE, FOREVER
    for pool in (PREFILL_POOL, MIXED_POOL, DECODE_POOL):
        index = least(cluster, pool, tokens, PENDING)
        if index == NONE:
            continue
        value = replica_at(cluster, index).pending_tokens
        by_index = cluster.pool_order == 0 and value == best_value and index < best
        if value < best_value or by_index:
            best, best_value = index, value
    return best
