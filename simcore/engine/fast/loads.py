"""What the router compares replicas by, and the least of it in each pool.

Replicas of equal load are many, and only one is asked for: the first. So the loads that the case's router compares are
kept by pool in flat minima (``flat_minimum.py``), a row a measure and pool; a replica that is not in the pool has no
number there. Two things are looked up by walking the pool instead: KV blocks held (``least_kv``), which every block
taken anywhere changes, and pools in the order of ``pool_order``, whose places move.
"""

from __future__ import annotations

from simcore.engine.fast.flat_minimum import RANGE, first_least, flat_row, note_number, ranges_of
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import BYTES, Int64
from simcore.engine.fast.replica_state import Replica, replica_at
from simcore.engine.fast.state import FOREVER, NONE, Cluster
from simcore.engine.inputs import SchedulerInputs

PENDING, RESERVED, WAITING, KV_BLOCKS = range(4)
"""Measures of load, the first three of which have rows."""
MEASURES_KEPT = 3
POOLS = 3


def kept_loads(replicas: int, rules: SchedulerInputs) -> tuple[int, ...]:
    """The measures of load that the case's router compares, of which the least is kept; none for a lone replica."""
    if replicas == 1 or rules.router_ties == "pool_order":
        return ()
    if rules.router == "jsq":
        return (PENDING, RESERVED) if rules.kind == "splitwise" else (PENDING,)
    return (WAITING,) if rules.router == "least_waiting" else ()


def loads_at_start(pool: list[int], replicas: int) -> Int64:
    """The row of a pool none of whose replicas has any load."""
    ranges = ranges_of(replicas)
    row = flat_row(ranges)
    for index in pool:
        row[[0, 1 + index // RANGE, 1 + ranges + index]] = 0
    return row


@step
def load_of(replica: Replica, measure: int) -> int:
    """A replica's load by a measure."""
    if measure == PENDING:
        return replica.pending_tokens
    if measure == RESERVED:
        return replica.reserved_tokens
    if measure == KV_BLOCKS:
        return replica.kv_blocks - replica.free_blocks + replica.waiting_blocks
    return waiting(replica)


@step
def waiting(replica: Replica) -> int:
    """Length of a replica's waiting queue; chunked: decodes that have no place yet, and what was left over, too."""
    return replica.waiting + replica.tasks + replica.joining + replica.left_over


@step
def is_kept(cluster: Cluster, measure: int) -> bool:
    """Whether there are rows of the measure."""
    return (cluster.kept_loads >> measure) & 1 > 0


@step
def least_loaded(cluster: Cluster, pool: int, measure: int) -> int:
    """The first replica of a pool with the least load by a measure that is kept."""
    return first_least(row_of_loads(cluster, pool, measure), cluster.ranges)


@step
def row_of_loads(cluster: Cluster, pool: int, measure: int) -> int:
    """Where a pool's row is."""
    return cluster.loads + BYTES * cluster.flat_length * (POOLS * measure + pool)


@step
def note_load(cluster: Cluster, replica: Replica, measure: int) -> None:
    """A replica's load is another from now on."""
    if is_kept(cluster, measure) and replica.pool != NONE:
        row = row_of_loads(cluster, replica.pool, measure)
        note_number(row, cluster.ranges, replica.index, load_of(replica, measure))


@step
def enter_loads(cluster: Cluster, index: int, pool: int) -> None:
    """A replica is in the pool from now on."""
    replica = replica_at(cluster, index)
    replica.pool = pool
    for measure in (PENDING, RESERVED, WAITING):
        note_load(cluster, replica, measure)


@step
def leave_loads(cluster: Cluster, index: int) -> None:
    """A replica is in no pool from now on."""
    replica = replica_at(cluster, index)
    for measure in (PENDING, RESERVED, WAITING):
        if is_kept(cluster, measure):
            note_number(row_of_loads(cluster, replica.pool, measure), cluster.ranges, index, FOREVER)
    replica.pool = NONE


@step
def add_pending(cluster: Cluster, replica: Replica, tokens: int) -> None:
    """Prompt tokens, and one for each decode, that were routed to a replica; negative: that it has done."""
    replica.pending_tokens += tokens
    note_load(cluster, replica, PENDING)


@step
def add_reserved(cluster: Cluster, replica: Replica, tokens: int) -> None:
    """KV that requests routed to a replica will have reserved there in the end; negative: that it has given back."""
    replica.reserved_tokens += tokens
    note_load(cluster, replica, RESERVED)
