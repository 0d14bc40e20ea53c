"""A whole cluster, event by event: what happens when, and in which order within one instant.

**Order within one instant t.** Both engines follow it to the letter.

1. *Iteration ends* at t, by replica, then in the order in which the micro-batches were formed. Members are handled in
   the batch's order: tokens appear, finished requests free their KV, transfers of ended prompts begin (or queue).
   Then transfers that wait for room on that replica are started, first come first. The replica becomes *due*.
2. *Transfer ends* at t, in the order in which the transfers were started: the source frees its KV (and starts transfers
   that wait for room on it), the request joins its decode replica, which is woken; then the source is woken.
3. *Polls* of transfers without room (``retry_ps``), in the order in which they were set.
4. *Changes of availability* at t, by replica; then the requests that lost a replica are queued again
   (``availability.py``).
5. *Arrivals* at t, in trace order: routed, queued; their replicas are woken. An arrival at a boundary has arrived.
6. *Due replicas* form batches, lowest index first.

A replica that is woken becomes due; with ``simultaneous_arrivals`` ``one_by_one`` it forms its batch at once instead
(unless it is due already), so that the next event of the instant sees it busy. What an instant brings forth at the same
t (an iteration of no length) is a new round of 1 to 6.

Ties: in every minimum over replicas the lowest index wins, or with ``router_ties`` ``pool_order`` the first of the
pool's order. "By arrival" is the order in which requests were routed: that of the
trace, but that one which is queued again has arrived again.

**When a replica is woken** (with the splitwise kinds only an idle one looks): see ``replica.py`` and ``splitwise.py``.
**The end**: nothing is left to do, or only polls, every one of which has failed since anything last happened. While a
request is unfinished, changes of availability are waited for.
"""

from __future__ import annotations

import heapq

from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle.availability import change_availability
from simcore.engine.oracle.replica import arrive, end_iteration, end_transfer, start_iterations
from simcore.engine.oracle.results import run_result
from simcore.engine.oracle.router import could_ever_hold, route
from simcore.engine.oracle.setup import build_cluster
from simcore.engine.oracle.state import TRANSFER_END, Cluster, MicroBatch
from simcore.engine.oracle.transfer import poll_transfer
from simcore.engine.outputs import REFUSED, UNFINISHED, RunResult


def run(inputs: ClusterInputs) -> RunResult:
    """Simulate every request from arrival to finish; see the module's docstring for the order of things."""
    cluster = build_cluster(inputs)
    arrived = 0
    while is_going_on(cluster, arrived):
        now = next_instant(cluster, arrived)
        handle_events(cluster, now)
        change_availability(cluster, now)
        arrived = handle_arrivals(cluster, arrived, now)
        start_due(cluster, now)
    return run_result(cluster)


def is_going_on(cluster: Cluster, arrived: int) -> bool:
    """Whether anything can happen that changes what becomes of a request, and the run is not given up."""
    if cluster.gave_up:
        return False
    if arrived < len(cluster.requests) or (cluster.events and not given_up(cluster, arrived)):
        return True
    return bool(cluster.changes) and any(request.status == UNFINISHED for request in cluster.requests)


def next_instant(cluster: Cluster, arrived: int) -> int:
    """Time of the earliest event, change of availability or arrival; at least one is left."""
    times = [queue[0][0] for queue in (cluster.events, cluster.changes) if queue]
    if arrived < len(cluster.requests):
        times.append(cluster.requests[arrived].arrival_ps)
    return min(times)


def handle_events(cluster: Cluster, now: int) -> None:
    """Steps 1 to 3: everything in the queue for this instant, by class, key and sequence."""
    while cluster.events and cluster.events[0][0] == now:
        _, kind, _, _, replica, what = heapq.heappop(cluster.events)
        if isinstance(what, MicroBatch):
            end_iteration(cluster, cluster.replicas[replica], what, now)
        elif kind == TRANSFER_END:
            end_transfer(cluster, what, now)
        else:
            poll_transfer(cluster, what, now)


def handle_arrivals(cluster: Cluster, arrived: int, now: int) -> int:
    """Step 5. Returns the number of requests that have arrived by now."""
    while arrived < len(cluster.requests) and cluster.requests[arrived].arrival_ps == now:
        request = cluster.requests[arrived]
        arrived += 1
        if route(cluster, request):
            arrive(cluster, request, now)
        elif could_ever_hold(cluster, request):
            cluster.unrouted.append(request)
        else:
            request.status = REFUSED
    return arrived


def start_due(cluster: Cluster, now: int) -> None:
    """Step 6."""
    for index in sorted(cluster.due):
        start_iterations(cluster, cluster.replicas[index], now)
    cluster.due.clear()


def given_up(cluster: Cluster, arrived: int) -> bool:
    """Only polls are left and each has failed since anything last happened: no room will ever come."""
    nothing_to_come = arrived == len(cluster.requests) and cluster.active == 0 and not cluster.changes
    return nothing_to_come and cluster.failed_polls >= len(cluster.events)
