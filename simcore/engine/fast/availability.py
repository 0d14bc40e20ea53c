"""When a replica may serve, and what becomes of the requests of one that fails (rules: the oracle's)."""

from __future__ import annotations

from simcore.engine.fast.displaced import look_again, release, withdraw
from simcore.engine.fast.flight_state import flight_at, members_of
from simcore.engine.fast.group import dissolve_all
from simcore.engine.fast.idle import settle_idle
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers, smalls
from simcore.engine.fast.micro_batch import cut_short
from simcore.engine.fast.names import FAILED, STARTING, UP
from simcore.engine.fast.pools import join_home, leave_pool
from simcore.engine.fast.queues import push_unrouted
from simcore.engine.fast.replica import arrive, catch_up
from simcore.engine.fast.replica_state import Replica, empty, replica_at
from simcore.engine.fast.request_state import Request, request_at
from simcore.engine.fast.router import route
from simcore.engine.fast.state import FOREVER, Cluster
from simcore.engine.fast.tokens import forget_decode
from simcore.engine.fast.transfer import cancel_transfer, drop_cancelled, start_waiting_transfers


@step
def count_change(cluster: Cluster) -> None:
    """One more has been handled; when availability changes next is known."""
    cluster.changed += 1
    left = cluster.changed < cluster.change_count
    cluster.next_change_ps = numbers(cluster.changes)[3 * cluster.changed] if left else FOREVER


@step
def change_availability(cluster: Cluster, now: int) -> None:
    """The changes of this instant; then those displaced are queued again, and all that wait look for a place."""
    before = cluster.changed
    while cluster.next_change_ps == now:
        change = 3 * cluster.changed
        count_change(cluster)
        enter(
            cluster,
            replica_at(cluster, numbers(cluster.changes)[change + 1]),
            numbers(cluster.changes)[change + 2],
            now,
        )
    if cluster.changed > before or cluster.displaced_count > 0:
        for i in range(cluster.due_count):
            start_waiting_transfers(cluster, replica_at(cluster, numbers(cluster.due)[i]), now)
        queue_again(cluster)
        find_places(cluster, now)


@step
def is_down(state: int) -> bool:
    """Whether nothing runs in this state."""
    return state in (STARTING, FAILED)


@step
def enter(cluster: Cluster, replica: Replica, state: int, now: int) -> None:
    """A replica's new state."""
    before = replica.state
    if before == UP and state != UP:
        leave_pool(cluster, replica)
    if is_down(state) and not is_down(before):
        lose(cluster, replica, now)
    if before != UP and state == UP:
        join_home(cluster, replica)
    replica.state = state
    note_largest_up(cluster)
    cluster.failed_polls = 0


@step
def note_largest_up(cluster: Cluster) -> None:
    """The most KV that a replica which is up has."""
    cluster.largest_kv_blocks_up = 0
    for index in range(cluster.replica_count):
        if replica_at(cluster, index).state == UP:
            cluster.largest_kv_blocks_up = max(cluster.largest_kv_blocks_up, replica_at(cluster, index).kv_blocks)


@step
def lose(cluster: Cluster, replica: Replica, now: int) -> None:
    """All that the replica had is gone, the KV that finished requests have left to their batch too."""
    catch_up(cluster, replica, now)
    settle_idle(replica, now)
    cut_micro_batches(cluster, replica, now)
    dissolve_all(cluster, replica)
    for slot in range(cluster.slots):
        if depends_on(request_at(cluster, slot), replica):
            displace(cluster, slot, replica, now)
    drop_cancelled(cluster)
    empty(cluster, replica)


@step
def cut_micro_batches(cluster: Cluster, replica: Replica, now: int) -> None:
    """Those in flight, in the order in which they were formed."""
    while replica.in_flight > 0:
        cut_short(cluster, replica, now)


@step
def depends_on(request: Request, replica: Replica) -> bool:
    """Whether the request has anything to lose there: its decode, or its prompt until the KV has been sent off."""
    if request.here == 0:
        return False
    prefills_here = request.prefill_replica == replica.index and request.moved == 0
    return prefills_here or request.decode_replica == replica.index


@step
def displace(cluster: Cluster, slot: int, failed: Replica, now: int) -> None:
    """Take the request off the failed replica and, where its KV has not moved yet, off the other one it was given."""
    request = request_at(cluster, slot)
    prefill, decode = replica_at(cluster, request.prefill_replica), replica_at(cluster, request.decode_replica)
    if prefill.index != decode.index and request.moved == 0:
        cancel_transfer(cluster, slot, now)
        if prefill.index == failed.index:
            catch_up(cluster, decode, now)
            forget_decode(cluster, request)
            look_again(cluster, decode)
        elif is_in_flight(cluster, prefill, slot):
            request.decode_replica, request.displaced = prefill.index, 1
            smalls(cluster.decode_replica)[request.index] = prefill.index
            return
        else:
            catch_up(cluster, prefill, now)
            settle_idle(prefill, now)
            withdraw(cluster, prefill, slot)
            look_again(cluster, prefill)
    release(cluster, slot)


@step
def is_in_flight(cluster: Cluster, replica: Replica, slot: int) -> bool:
    """Whether the request is in a micro-batch of the replica."""
    flight = replica.first_flight
    for _ in range(replica.in_flight):
        batch = flight_at(cluster, flight)
        for i in range(batch.first, batch.first + batch.members):
            if members_of(cluster, flight)[i] == slot:
                return True
        flight = batch.following
    return False


@step
def queue_again(cluster: Cluster) -> None:
    """Those displaced in this instant, in trace order, behind those that wait already."""
    if cluster.displaced_count == 0:
        return
    for index in range(cluster.first_displaced, cluster.last_displaced + 1):
        slot = numbers(cluster.displaced)[index] - 1
        if slot >= 0:
            push_unrouted(cluster, slot)
            numbers(cluster.displaced)[index] = 0
    cluster.displaced_count = 0


@step
def find_places(cluster: Cluster, now: int) -> None:
    """Each that waits for a replica, in order, is routed if one is up that could hold it."""
    slot, waiting = cluster.first_unrouted, cluster.unrouted
    cluster.unrouted = 0
    for _ in range(waiting):
        following = request_at(cluster, slot).next_waiting
        if route(cluster, request_at(cluster, slot)):
            arrive(cluster, slot, now)
        else:
            push_unrouted(cluster, slot)
        slot = following
