"""Which replicas are in which pool now: a row of ``Cluster.pools`` each, in the order of ``router_ties``."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers
from simcore.engine.fast.loads import enter_loads, leave_loads
from simcore.engine.fast.names import DECODE_ROLE, MIXED_ROLE, PREFILL_ROLE
from simcore.engine.fast.replica_state import Replica, replica_at
from simcore.engine.fast.state import NONE, Cluster, pool_of

ROLE_OF_POOL = ("prefill", "decode", "mixed")
PREFILL_POOL, DECODE_POOL, MIXED_POOL = range(3)


@step
def take_out(cluster: Cluster, index: int) -> None:
    """Remove a replica from the pool that it is in, keeping the order."""
    pool = replica_at(cluster, index).pool
    leave_loads(cluster, index)
    numbers(cluster.pool_sizes)[pool] -= 1
    place = 0
    while pool_of(cluster, pool)[place] != index:
        place += 1
    for i in range(place, numbers(cluster.pool_sizes)[pool]):
        pool_of(cluster, pool)[i] = pool_of(cluster, pool)[i + 1]


@step
def put(cluster: Cluster, pool: int, index: int) -> None:
    """By index, or with ``router_ties`` ``pool_order`` at the end."""
    place = numbers(cluster.pool_sizes)[pool]
    if cluster.pool_order == 0:
        while place > 0 and pool_of(cluster, pool)[place - 1] > index:
            pool_of(cluster, pool)[place] = pool_of(cluster, pool)[place - 1]
            place -= 1
    pool_of(cluster, pool)[place] = index
    numbers(cluster.pool_sizes)[pool] += 1
    enter_loads(cluster, index, pool)


@step
def turn_mixed(cluster: Cluster, index: int) -> None:
    """Move a machine to the mixed pool; it comes back when it has no requests (``return_home``)."""
    if index != NONE:
        take_out(cluster, index)
        put(cluster, MIXED_POOL, index)


@step
def return_home(cluster: Cluster, replica: Replica) -> None:
    """A prefill or decode machine that turned mixed and has no requests left goes back to its pool."""
    if replica.role != MIXED_ROLE and replica.pool == MIXED_POOL:
        take_out(cluster, replica.index)
        join_home(cluster, replica)


@step
def join_home(cluster: Cluster, replica: Replica) -> None:
    """Into the pool of its role."""
    if replica.role == PREFILL_ROLE:
        put(cluster, PREFILL_POOL, replica.index)
    elif replica.role == DECODE_ROLE:
        put(cluster, DECODE_POOL, replica.index)
    else:
        put(cluster, MIXED_POOL, replica.index)


@step
def leave_pool(cluster: Cluster, replica: Replica) -> None:
    """Out of whichever pool it is in: nothing new is routed there."""
    take_out(cluster, replica.index)
