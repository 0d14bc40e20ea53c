"""Where an arriving request goes: one replica, or with kind ``splitwise`` one for its prefill and one for its decode.

Only replicas that are up and could hold the request, if they held nothing else, are looked at. With none it is refused
if no replica of the case could ever hold it; else it waits until one that can is up (``availability.py``).
"""

from __future__ import annotations

from bisect import insort

from simcore.engine.oracle.blocks import (
    blocks_of,
    held_tokens,
    lifetime_tokens,
    routed_prompt_tokens,
    routed_tokens,
    waiting_blocks,
)
from simcore.engine.oracle.state import Cluster, Replica, Request

MASK = (1 << 64) - 1


def route(cluster: Cluster, request: Request) -> bool:
    """Assign the request; False: no replica that is up could hold it."""
    if is_too_long(cluster, request):
        return False
    if cluster.inputs.scheduler.kind != "splitwise":
        pair = choose_one(cluster, request)
    elif has_two_stages(cluster):
        pair = choose_two_stages(cluster, request)
    else:
        pair = choose_by_role(cluster, request)
    if pair is None:
        return False
    assign(cluster, request, *pair)
    return True


def has_two_stages(cluster: Cluster) -> bool:
    """Whether Splitwise's own router is asked, which moves machines between the pools."""
    scheduler = cluster.inputs.scheduler
    return scheduler.kind == "splitwise" and scheduler.router == "jsq" and scheduler.mixed_pool


def is_too_long(cluster: Cluster, request: Request) -> bool:
    """Over max_model_tokens."""
    most = cluster.inputs.scheduler.max_model_tokens
    return most > 0 and request.prompt_tokens + request.output_limit > most


def could_ever_hold(cluster: Cluster, request: Request) -> bool:
    """Whether the router would find a place if every replica were up and in its own pool. Else it is refused."""
    prefill, decode, mixed = (home_of_role(cluster, role) for role in ("prefill", "decode", "mixed"))
    tokens = lifetime_tokens(request, cluster.inputs.scheduler)
    if is_too_long(cluster, request):
        return False
    if has_two_stages(cluster):
        return bool(holding(cluster, prefill + decode + mixed, tokens))
    if prefill and decode:
        return bool(holding(cluster, prefill, request.target_tokens + 1) and holding(cluster, decode, tokens))
    return bool(holding(cluster, mixed, tokens))


def home_of_role(cluster: Cluster, role: str) -> list[int]:
    """The replicas of a role, wherever they are now."""
    return [replica.index for replica in cluster.replicas if replica.inputs.role == role]


def assign(cluster: Cluster, request: Request, prefill: int, decode: int) -> None:
    """Note what the router counts: pending tokens, and the KV that the request will reserve."""
    request.prefill_replica, request.decode_replica = prefill, decode
    request.order = cluster.routed
    cluster.routed += 1
    source, destination = cluster.replicas[prefill], cluster.replicas[decode]
    scheduler = cluster.inputs.scheduler
    source.pending_tokens += request.target_tokens
    destination.pending_tokens += 1
    destination.reserved_tokens += routed_tokens(request, scheduler)
    if prefill != decode:
        source.reserved_tokens += routed_prompt_tokens(request, scheduler)


def choose_one(cluster: Cluster, request: Request) -> tuple[int, int] | None:
    """One replica for both phases."""
    tokens = lifetime_tokens(request, cluster.inputs.scheduler)
    chosen = choose(cluster, cluster.mixed_pool, tokens, request, 0)
    return None if chosen is None else (chosen, chosen)


def choose_by_role(cluster: Cluster, request: Request) -> tuple[int, int] | None:
    """Each phase in its own pool, nothing moves; without both pools, one replica of the mixed pool."""
    if not cluster.prefill_pool or not cluster.decode_pool:
        return choose_one(cluster, request)
    prefill = choose(cluster, cluster.prefill_pool, request.target_tokens + 1, request, 0)
    decode = choose(cluster, cluster.decode_pool, lifetime_tokens(request, cluster.inputs.scheduler), request, 1)
    return None if prefill is None or decode is None else (prefill, decode)


def choose(cluster: Cluster, pool: list[int], tokens: int, request: Request, stage: int) -> int | None:
    """A replica of the pool by the case's router. ``stage``: 0 prefill (or both phases), 1 decode."""
    router = cluster.inputs.scheduler.router
    if router == "round_robin":
        return next_in_turn(cluster, pool, tokens, stage)
    candidates = holding(cluster, pool, tokens)
    if not candidates:
        return None
    if router == "random":
        return candidates[draw(cluster.inputs.scheduler.seed, request.index, stage) % len(candidates)]
    if router == "least_waiting":
        return min(candidates, key=lambda i: waiting(cluster.replicas[i]))
    if router == "least_kv":
        return min(candidates, key=lambda i: kv_blocks(cluster, cluster.replicas[i]))
    if stage == 1:
        return min(candidates, key=lambda i: cluster.replicas[i].reserved_tokens)
    return min(candidates, key=lambda i: cluster.replicas[i].pending_tokens)


def holding(cluster: Cluster, pool: list[int], tokens: int) -> list[int]:
    """The replicas of a pool that could hold so many tokens, if they held nothing else."""
    blocks = blocks_of(tokens, cluster.inputs.scheduler)
    return [index for index in pool if cluster.replicas[index].inputs.kv_blocks >= blocks]


def next_in_turn(cluster: Cluster, pool: list[int], tokens: int, stage: int) -> int | None:
    """Round robin over the pool, passing by those that could not hold the request."""
    blocks = blocks_of(tokens, cluster.inputs.scheduler)
    for step in range(len(pool)):
        place = (cluster.next_in_turn[stage] + step) % len(pool)
        if cluster.replicas[pool[place]].inputs.kv_blocks >= blocks:
            cluster.next_in_turn[stage] = place + 1
            return pool[place]
    return None


def draw(seed: int, request: int, stage: int) -> int:
    """The (2 x request + stage)th number of the splitmix64 sequence that starts at ``seed``."""
    z = (seed + (2 * request + stage + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def waiting(replica: Replica) -> int:
    """Length of a replica's waiting queue; chunked: decodes that have no place yet, and what was left over, too."""
    return len(replica.waiting) + len(replica.tasks) + len(replica.joining) + replica.left_over


def kv_blocks(cluster: Cluster, replica: Replica) -> int:
    """Blocks held, and those that the prompts waiting there will take."""
    return replica.inputs.kv_blocks - replica.free_blocks + waiting_blocks(cluster, replica)


def choose_two_stages(cluster: Cluster, request: Request) -> tuple[int, int] | None:
    """Splitwise: prefill by pending tokens, decode by reserved KV; what is too much goes to the mixed pool, then moves
    a machine there.

    With neither, both phases go to the replica with the fewest pending tokens of all.
    """
    tokens = lifetime_tokens(request, cluster.inputs.scheduler)
    if not holding(cluster, cluster.prefill_pool + cluster.mixed_pool + cluster.decode_pool, tokens):
        return None
    prefill = find_prefill(cluster, request)
    decode = find_decode(cluster, tokens)
    if prefill is None:
        prefill = least_pending(cluster, holding(cluster, cluster.decode_pool, request.target_tokens + 1))
        turn_mixed(cluster, prefill, cluster.decode_pool)
    if decode is None:
        decode = least_reserved(cluster, holding(cluster, cluster.prefill_pool, tokens))
        turn_mixed(cluster, decode, cluster.prefill_pool)
    if prefill is None or decode is None:
        everywhere = cluster.prefill_pool + cluster.mixed_pool + cluster.decode_pool
        if cluster.inputs.scheduler.router_ties == "index":
            everywhere.sort()
        prefill = decode = least_pending(cluster, holding(cluster, everywhere, tokens))
    return None if prefill is None or decode is None else (prefill, decode)


def find_prefill(cluster: Cluster, request: Request) -> int | None:
    """The prefill replica with the fewest pending tokens, unless its queue is long; else the same in the mixed pool."""
    for pool in (cluster.prefill_pool, cluster.mixed_pool):
        best = least_pending(cluster, holding(cluster, pool, request.target_tokens + 1))
        if best is not None and not is_queue_long(cluster, cluster.replicas[best], request):
            return best
    return None


def is_queue_long(cluster: Cluster, replica: Replica, request: Request) -> bool:
    """Something waits there, and the prompt would make its pending tokens exceed the limit."""
    pending = replica.pending_tokens + request.target_tokens
    return waiting(replica) > 0 and pending > cluster.inputs.scheduler.prompt_pending_limit


def find_decode(cluster: Cluster, tokens: int) -> int | None:
    """The decode replica with the least reserved KV, unless that would fill it; else the same in the mixed pool."""
    for pool in (cluster.decode_pool, cluster.mixed_pool):
        best = least_reserved(cluster, holding(cluster, pool, tokens))
        if best is not None and not is_kv_full(cluster, cluster.replicas[best], tokens):
            return best
    return None


def is_kv_full(cluster: Cluster, replica: Replica, tokens: int) -> bool:
    """Its reservations and this one reach its capacity."""
    capacity = replica.inputs.kv_blocks * cluster.inputs.scheduler.block_tokens
    return replica.reserved_tokens + held_tokens(tokens, cluster.inputs.scheduler) >= capacity


def least_pending(cluster: Cluster, candidates: list[int]) -> int | None:
    """The first of those with the fewest pending tokens."""
    return min(candidates, key=lambda i: cluster.replicas[i].pending_tokens, default=None)


def least_reserved(cluster: Cluster, candidates: list[int]) -> int | None:
    """The first of those with the least reserved KV."""
    return min(candidates, key=lambda i: cluster.replicas[i].reserved_tokens, default=None)


def turn_mixed(cluster: Cluster, index: int | None, pool: list[int]) -> None:
    """Move a machine to the mixed pool; it comes back when it has no requests (``return_home``)."""
    if index is not None:
        pool.remove(index)
        put(cluster, index, cluster.mixed_pool)


def return_home(cluster: Cluster, replica: Replica) -> None:
    """A prefill or decode machine that turned mixed and has no requests left goes back to its pool."""
    if replica.inputs.role != "mixed" and replica.index in cluster.mixed_pool:
        cluster.mixed_pool.remove(replica.index)
        join_home(cluster, replica)


def join_home(cluster: Cluster, replica: Replica) -> None:
    """Into the pool of its role."""
    homes = {"prefill": cluster.prefill_pool, "decode": cluster.decode_pool, "mixed": cluster.mixed_pool}
    put(cluster, replica.index, homes[replica.inputs.role])


def leave_pool(cluster: Cluster, replica: Replica) -> None:
    """Out of whichever pool it is in: nothing new is routed there."""
    for pool in (cluster.prefill_pool, cluster.decode_pool, cluster.mixed_pool):
        if replica.index in pool:
            pool.remove(replica.index)


def put(cluster: Cluster, index: int, pool: list[int]) -> None:
    """By index, or with ``router_ties`` ``pool_order`` at the end."""
    if cluster.inputs.scheduler.router_ties == "pool_order":
        pool.append(index)
    else:
        insort(pool, index)
