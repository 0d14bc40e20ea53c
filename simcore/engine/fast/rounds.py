"""Micro-batches of decodes that go round and round a pipeline: as long as nothing changes, each that ends is formed
again of its group, without the cluster's looking for what comes next.

The oracle takes up the events of all replicas in turn. But nothing that one replica does matters to others, or to the
router, before something arrives or becomes available; until then each may run ahead. It stops before an end at which a
member finishes or a block is lacking: then the scheduler's own rules run, at their time. Each round is a selection, as
it is in the oracle.
"""

from __future__ import annotations

from simcore.engine.fast.bubbles import count_bubbles
from simcore.engine.fast.energy import add_batch_energy
from simcore.engine.fast.flight_state import MicroBatch, flight_at
from simcore.engine.fast.gap_state import gaps_may_lack
from simcore.engine.fast.group import emit_tokens_of_group
from simcore.engine.fast.group_state import Group, group_at
from simcore.engine.fast.growth import grow_group, growing_next, takes_blocks_unseen
from simcore.engine.fast.iteration_log import log_iteration
from simcore.engine.fast.jit import step
from simcore.engine.fast.micro_batch import DECODE, launch, leave_flight
from simcore.engine.fast.names import REQUEST_LEVEL, SPLITWISE_BASELINE, VLLM_V1
from simcore.engine.fast.next_end import note_next_end
from simcore.engine.fast.preemption import has_place, head_fits
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.set_aside import keeps_aside
from simcore.engine.fast.state import Cluster


@step
def go_round(cluster: Cluster, replica: Replica) -> None:
    """At the end of an instant: up to the next one in which anything comes."""
    if replica.in_flight == 0 or not finds_only_groups(cluster, replica):
        return
    until_ps = min(cluster.next_arrival_ps, cluster.next_change_ps, cluster.second_room_ps)
    flight = replica.first_flight
    batch, group = flight_at(cluster, flight), group_at(cluster, flight)
    while batch.end_ps < until_ps and goes_on(cluster, replica, batch, group):
        end_and_launch(cluster, replica, batch, group)
        flight = replica.first_flight
        batch, group = flight_at(cluster, flight), group_at(cluster, flight)
    note_next_end(cluster, replica)


@step
def finds_only_groups(cluster: Cluster, replica: Replica) -> bool:
    """Whether whatever micro-batch is formed finds nobody but the members of the one that ended: nobody is in the
    running list or set aside, and nobody who waits can be admitted, which does not change while only blocks are taken.
    """
    if cluster.kind >= SPLITWISE_BASELINE or replica.running > 0 or takes_blocks_unseen(cluster):
        return False
    if keeps_aside(cluster, replica) and group_at(cluster, replica.aside).members > 0:
        return False
    if replica.waiting == 0 or (cluster.kind == REQUEST_LEVEL and replica.in_flight == replica.stages):
        return True
    return not has_place(cluster, replica) if cluster.kind == VLLM_V1 else not head_fits(cluster, replica)


@step
def goes_on(cluster: Cluster, replica: Replica, batch: MicroBatch, group: Group) -> bool:
    """Whether the micro-batch that ends next is formed again as it is."""
    if batch.kind != DECODE or group.next_finish == group.step + 1 or gaps_may_lack(cluster):
        return False
    return growing_next(cluster, group) + cluster.preempt_when_full <= replica.free_blocks


@step
def end_and_launch(cluster: Cluster, replica: Replica, batch: MicroBatch, group: Group) -> None:
    """The end of a micro-batch at which nobody finishes, and the next one of the same members."""
    now = batch.end_ps
    count_bubbles(cluster, replica, now)
    add_batch_energy(cluster, replica, leave_flight(cluster, replica), now)
    log_iteration(cluster, replica, batch, now)
    replica.idle_since_ps = now
    emit_tokens_of_group(cluster, group, 1, now, now, 0, 0)
    grow_group(cluster, replica, group)
    launch(cluster, replica, group.members, now)
