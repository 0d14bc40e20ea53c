"""When each replica's next iteration ends: a flat minimum (``flat_minimum.py``) at ``Cluster.next_ps``."""

from __future__ import annotations

from simcore.engine.fast.flat_minimum import change_number, change_only_number, first_with_least, least_number
from simcore.engine.fast.flight_state import flight_at
from simcore.engine.fast.jit import step
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.state import FOREVER, Cluster


@step
def set_next_end(cluster: Cluster, replica: Replica, end_ps: int) -> None:
    """When a replica's next iteration ends; FOREVER: none is in flight."""
    if cluster.replica_count == 1:
        change_only_number(cluster.next_ps, end_ps)
    else:
        change_number(cluster.next_ps, cluster.ranges, replica.index, end_ps)


@step
def note_next_end(cluster: Cluster, replica: Replica) -> None:
    """Micro-batches were launched or have ended: the oldest in flight ends first. Once for all of them, and for the run
    of iterations that one may stand for: a number that rises again costs most."""
    oldest = flight_at(cluster, replica.first_flight)
    set_next_end(cluster, replica, oldest.end_ps if replica.in_flight > 0 else FOREVER)


@step
def next_end_ps(cluster: Cluster) -> int:
    """Time of the earliest iteration end."""
    return least_number(cluster.next_ps)


@step
def first_ending(cluster: Cluster) -> int:
    """The first replica with an iteration that ends then."""
    return first_with_least(cluster.next_ps, cluster.ranges) if cluster.replica_count > 1 else 0
