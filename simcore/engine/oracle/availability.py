"""When a replica may serve: its availability schedule, and what becomes of the requests of one that fails.

- ``up``: in its own pool; requests are routed there and batches run.
- ``draining``: in no pool, so that nothing new is routed there; what it has, or was promised, goes on.
- ``starting``, ``failed``: in no pool, and nothing runs there. Going there from up or draining loses all it had.

Before its first change a replica is up. One that turned mixed comes up again in its own pool.

**A loss.** Micro-batches of the replica end at once without a token (``micro_batch.cut_short``) and its KV is gone. Its
requests, those whose prompt had not ended or whose KV had not been sent off there, and those that decode there or were
to, are *displaced*: what they hold elsewhere is freed, their transfers are off (``transfer.cancel_transfer``), and they
are queued again. One that is in a micro-batch of a healthy replica just then (its prompt, promised to the one that
fails) first sees that through: its tokens appear when it ends.

**Queued again**, in trace order: a request keeps the tokens it has generated, recomputes them with its prompt as after
a preemption, counts as preempted, and is routed like one that arrives. Requests for which no replica is up wait for one
in the order in which they came, those who have waited before in front; each looks for a place at every change.
"""

from __future__ import annotations

from collections import deque

from simcore.engine.oracle.displaced import look_again, release, withdraw
from simcore.engine.oracle.idle import settle_idle
from simcore.engine.oracle.micro_batch import cut_short
from simcore.engine.oracle.replica import arrive
from simcore.engine.oracle.router import join_home, leave_pool, route
from simcore.engine.oracle.setup import empty
from simcore.engine.oracle.state import Cluster, MicroBatch, Replica, Request
from simcore.engine.oracle.tokens import forget_decode, is_finished
from simcore.engine.oracle.transfer import cancel_transfer, drop_events, start_waiting_transfers
from simcore.spec import AvailabilityState

DOWN = ("starting", "failed")


def change_availability(cluster: Cluster, now: int) -> None:
    """The changes of this instant; then those displaced are queued again, and all that wait look for a place."""
    changed = False
    while cluster.changes and cluster.changes[0][0] == now:
        _, index, state = cluster.changes.popleft()
        enter(cluster, cluster.replicas[index], state, now)
        changed = True
    if changed or cluster.displaced:
        for index in sorted(cluster.due):
            start_waiting_transfers(cluster, cluster.replicas[index], now)
        queue_again(cluster)
        find_places(cluster, now)


def enter(cluster: Cluster, replica: Replica, state: AvailabilityState, now: int) -> None:
    """A replica's new state."""
    before = replica.state
    if before == "up" and state != "up":
        leave_pool(cluster, replica)
    if before not in DOWN and state in DOWN:
        lose(cluster, replica, now)
    if before != "up" and state == "up":
        join_home(cluster, replica)
    replica.state = state
    cluster.failed_polls = 0


def lose(cluster: Cluster, replica: Replica, now: int) -> None:
    """All that the replica had is gone, the KV of finished requests that waited for their batch too."""
    settle_idle(replica, now)
    cut_micro_batches(cluster, replica, now)
    for request in cluster.requests:
        if depends_on(request, replica) and is_finished(request):
            request.blocks = 0
        elif depends_on(request, replica):
            displace(cluster, request, replica, now)
    empty(cluster, replica)


def cut_micro_batches(cluster: Cluster, replica: Replica, now: int) -> None:
    """Those in flight, in the order in which they were formed."""
    batches = [event[5] for event in sorted(cluster.events, key=lambda event: event[3]) if event[4] == replica.index]
    for batch in batches:
        if isinstance(batch, MicroBatch):
            cut_short(cluster, replica, batch, now)
            drop_events(cluster, batch)


def depends_on(request: Request, replica: Replica) -> bool:
    """Whether the request has anything to lose there: its decode, or its prompt until the KV has been sent off."""
    prefills_here = request.prefill_replica == replica.index and not request.moved
    return prefills_here or request.decode_replica == replica.index


def displace(cluster: Cluster, request: Request, failed: Replica, now: int) -> None:
    """Take the request off the failed replica and, where its KV has not moved yet, off the other one it was given."""
    prefill, decode = cluster.replicas[request.prefill_replica], cluster.replicas[request.decode_replica]
    if prefill is not decode and not request.moved:
        cancel_transfer(cluster, request, now)
        if prefill is failed:
            forget_decode(cluster, request)
            look_again(cluster, decode)
        elif is_in_flight(cluster, prefill, request):
            request.decode_replica, request.displaced = prefill.index, True
            return
        else:
            settle_idle(prefill, now)
            withdraw(cluster, prefill, request)
            look_again(cluster, prefill)
    release(cluster, request)


def is_in_flight(cluster: Cluster, replica: Replica, request: Request) -> bool:
    """Whether the request is in a micro-batch of the replica."""
    batches = [event[5] for event in cluster.events if event[4] == replica.index]
    return any(isinstance(batch, MicroBatch) and request in batch.members for batch in batches)


def queue_again(cluster: Cluster) -> None:
    """Those displaced in this instant, in trace order, behind those that wait already."""
    cluster.unrouted.extend(sorted(cluster.displaced, key=lambda request: request.index))
    cluster.displaced.clear()


def find_places(cluster: Cluster, now: int) -> None:
    """Each that waits for a replica, in order, is routed if one is up that could hold it."""
    waiting, cluster.unrouted = cluster.unrouted, deque()
    for request in waiting:
        if route(cluster, request):
            arrive(cluster, request, now)
        else:
            cluster.unrouted.append(request)
