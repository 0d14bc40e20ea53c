"""Which replicas are in which pool now: a row of ``Cluster.pools`` each, in the order of ``router_ties``."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers
from simcore.engine.fast.state import Cluster, pool_of

PREFILL_POOL, DECODE_POOL, MIXED_POOL = 0, 1, 2


@step
def take_out(cluster: Cluster, pool: int, index: int) -> bool:
    """Remove a replica from a pool, keeping the order; False: it was not there."""
    size = numbers(cluster.pool_sizes)[pool]
    place = 0
    while place < size and pool_of(cluster, pool)[place] != index:
        place += 1
    if place == size:
        return False
    for i in range(place + 1, size):
        pool_of(cluster, pool)[i - 1] = pool_of(cluster, pool)[i]
    numbers(cluster.pool_sizes)[pool] = size - 1
    return True


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
