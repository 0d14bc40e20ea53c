"""Replicas that are looked at once an instant's events are handled."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.state import Cluster


@step
def make_due(cluster: Cluster, replica: Replica) -> None:
    """Put a replica on the list, which is kept by index, once."""
    if replica.due > 0:
        return
    replica.due = 1
    place = cluster.due_count
    while place > 0 and numbers(cluster.due)[place - 1] > replica.index:
        numbers(cluster.due)[place] = numbers(cluster.due)[place - 1]
        place -= 1
    numbers(cluster.due)[place] = replica.index
    cluster.due_count += 1
