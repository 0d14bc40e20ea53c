"""FasterTransformer: a batch is formed once, of waiting requests, and runs until all of them are finished (rules: the
oracle's).

From its second iteration on, a batch is the group of its micro-batch, and what its finished members leave to it. There
is one a stage at most: of those not in flight, the one that the oracle looks for is in the row that is taken next.
"""

from __future__ import annotations

from simcore.engine.fast.flight_state import flight_at, members_of, new_tokens_of
from simcore.engine.fast.group import end_step, join_group, leave_replica
from simcore.engine.fast.group_state import Group, group_at
from simcore.engine.fast.jit import step
from simcore.engine.fast.preemption import admit_prompts
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.request_state import request_at
from simcore.engine.fast.state import Cluster
from simcore.engine.fast.tokens import advance


@step
def form(cluster: Cluster, replica: Replica, flight: int) -> int:
    """Put the next micro-batch's members in place; returns how many."""
    going_on = group_at(cluster, flight).members
    flight_at(cluster, flight).grouped = going_on
    return going_on if going_on > 0 else admit_prompts(cluster, replica, flight, 0)


@step
def end_iteration(cluster: Cluster, replica: Replica, flight: int, now: int) -> None:
    """Tokens appear; the batch goes on, or is dissolved where all its members are finished."""
    batch, group = flight_at(cluster, flight), group_at(cluster, flight)
    if batch.grouped > 0:
        end_step(cluster, replica, group, now)
    for i in range(batch.first, batch.first + batch.members):
        slot = members_of(cluster, flight)[i]
        request = request_at(cluster, slot)
        request.done_tokens += new_tokens_of(cluster, flight)[i]
        if advance(cluster, request, now):
            leave_replica(cluster, replica, group, slot)
        else:
            join_group(cluster, group, slot)
    if group.members == 0:
        end_batch(replica, group)


@step
def end_batch(replica: Replica, group: Group) -> None:
    """All of the batch's KV is freed."""
    replica.free_blocks += group.kept_blocks
    group.kept = group.kept_contexts = group.kept_blocks = 0
