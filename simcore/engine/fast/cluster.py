"""A whole cluster, event by event, in the order within one instant that the oracle's ``cluster.py`` states.

``run`` is what Python calls; ``advance`` is the one compiled entry. It returns between two instants where a table is
too short, and goes on from there with a longer one.
"""

from __future__ import annotations

from dataclasses import replace

from simcore.engine.fast.availability import change_availability
from simcore.engine.fast.gap_record import GapRecord
from simcore.engine.fast.gap_state import gaps_may_lack
from simcore.engine.fast.group import dissolve_all
from simcore.engine.fast.idle import settle_idle
from simcore.engine.fast.iteration_log import FIRST_ROWS
from simcore.engine.fast.jit import entry, step
from simcore.engine.fast.layout import numbers, smalls
from simcore.engine.fast.next_end import first_ending, next_end_ps
from simcore.engine.fast.queues import free_slot, push_unrouted, take_slot
from simcore.engine.fast.replica import arrive, end_iteration, end_transfer, is_splitwise, start_iterations
from simcore.engine.fast.replica_state import replica_at
from simcore.engine.fast.request_state import request_at, task_at
from simcore.engine.fast.results import run_result
from simcore.engine.fast.room import MORE_GAPS, MORE_SECONDS, MORE_SLOTS, enlarge
from simcore.engine.fast.rounds import go_round
from simcore.engine.fast.router import could_ever_hold, route
from simcore.engine.fast.setup import begin, give_back
from simcore.engine.fast.state import DECODE, FOREVER, NONE, PROMPT, Cluster, cluster_row
from simcore.engine.fast.transfer import poll_transfer
from simcore.engine.fast.transfer_heap import pop_transfer
from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import NEVER, REFUSED, UNFINISHED, RunResult

DONE = 0


def run(inputs: ClusterInputs) -> RunResult:
    """Simulate every request from arrival to finish: equal to the oracle's ``run``, bit for bit."""
    return run_with_record(inputs, GapRecord())


def run_with_record(inputs: ClusterInputs, record: GapRecord, log_rows: int = FIRST_ROWS) -> RunResult:
    """``run`` with another record of the token gaps, and room for another number of rows of the log."""
    memory = begin(inputs, record, log_rows)
    lacking, now = advance(memory.address)
    while lacking != DONE:
        enlarge(memory, lacking, now)
        lacking, now = advance(memory.address)
    result = run_result(memory, lambda other: run_with_record(inputs, other).gaps)
    logged = memory.get("log_rows")
    give_back(memory, inputs)
    if logged > log_rows:
        return replace(result, log=run_with_record(inputs, GapRecord(), logged).log)
    return result


@entry
def advance(address: int) -> tuple[int, int]:
    """Go on to the end (``DONE``), or until a table is too short. Returns which, and the time of the instant."""
    cluster = cluster_row(address, 0)
    while is_going_on(cluster):
        now = next_instant(cluster)
        if now >= cluster.second_room_ps:
            return MORE_SECONDS, now
        if not handle_events(cluster, now):
            return MORE_GAPS, now
        if cluster.next_change_ps == now or cluster.displaced_count > 0:
            if gaps_of_changes_may_lack(cluster):
                return MORE_GAPS, now
            change_availability(cluster, now)
        if cluster.next_arrival_ps == now:
            lacking = handle_arrivals(cluster, now)
            if lacking != DONE:
                return lacking, now
        start_due(cluster, now)
    close_books(cluster)
    return DONE, cluster.end_ps


@step
def is_going_on(cluster: Cluster) -> bool:
    """Whether anything can happen that changes what becomes of a request, and the run is not given up."""
    if cluster.gave_up != 0:
        return False
    if cluster.next_arrival_ps != FOREVER or (cluster.active + cluster.polling > 0 and not given_up(cluster)):
        return True
    return cluster.changed < cluster.change_count and cluster.free_count < cluster.slots


@step
def close_books(cluster: Cluster) -> None:
    """Account for the replicas' idle time up to the end of the last micro-batch, and for decodes that never end."""
    for index in range(cluster.replica_count):
        settle_idle(replica_at(cluster, index), cluster.busy_until_ps)
        dissolve_all(cluster, replica_at(cluster, index))


@step
def next_instant(cluster: Cluster) -> int:
    """Time of the earliest event, change of availability or arrival; at least one is left."""
    now = min(next_end_ps(cluster), cluster.next_transfer_ps, cluster.next_poll_ps, cluster.next_change_ps)
    return min(now, cluster.next_arrival_ps)


@step
def gaps_of_changes_may_lack(cluster: Cluster) -> bool:
    """The same of a change of availability, which may end a run on each replica."""
    return cluster.gap_runs + 2 * (cluster.most_members + 1) * (cluster.replica_count + 1) > cluster.gap_room


@step
def handle_events(cluster: Cluster, now: int) -> bool:
    """Steps 1 to 3: iteration ends, transfer ends and polls of this instant, in that order at every turn.

    False: there may be no room for the gaps of the next event; nothing of it has been done.
    """
    while True:
        iteration_ends, transfer_ends = next_end_ps(cluster) == now, cluster.next_transfer_ps == now
        if not iteration_ends and not transfer_ends and cluster.next_poll_ps != now:
            return True
        if gaps_may_lack(cluster):
            return False
        if iteration_ends:
            end_iteration(cluster, replica_at(cluster, first_ending(cluster)), now)
        elif transfer_ends:
            end_transfer(cluster, pop_transfer(cluster), now)
        else:
            poll_transfer(cluster, now)


@step
def handle_arrivals(cluster: Cluster, now: int) -> int:
    """Step 5. Returns which table is too short, before the next one is handled, as with ``handle_events``."""
    while cluster.next_arrival_ps == now:
        if gaps_may_lack(cluster):
            return MORE_GAPS
        if cluster.free_count == 0:
            return MORE_SLOTS
        slot = take_slot(cluster)
        take_in(cluster, slot, cluster.arrived)
        count_arrival(cluster)
        if route(cluster, request_at(cluster, slot)):
            arrive(cluster, slot, now)
        elif could_ever_hold(cluster, request_at(cluster, slot)):
            push_unrouted(cluster, slot)
        else:
            smalls(cluster.status)[request_at(cluster, slot).index] = REFUSED
            free_slot(cluster, slot)
    return DONE


@step
def count_arrival(cluster: Cluster) -> None:
    """One more has arrived; the next one is known."""
    cluster.arrived += 1
    left = cluster.arrived < cluster.trace_requests
    cluster.next_arrival_ps = numbers(cluster.arrival_ps)[cluster.arrived] if left else FOREVER


@step
def take_in(cluster: Cluster, slot: int, index: int) -> None:
    """A slot for a request of the trace; a reservation counts ``max_output_tokens`` where given."""
    request = request_at(cluster, slot)
    request.index = index
    request.prompt_tokens = request.target_tokens = numbers(cluster.prompt_tokens)[index]
    request.cached_tokens = request.done_tokens = numbers(cluster.cached_prompt_tokens)[index]
    request.output_tokens = request.output_limit = numbers(cluster.output_tokens)[index]
    if numbers(cluster.max_output_tokens)[index] > 0:
        request.output_limit = numbers(cluster.max_output_tokens)[index]
    request.generated = request.blocks = request.inbound_blocks = request.max_gap_ps = 0
    request.prefill_ended = request.scheduled = request.sent_by_layer = request.chosen = 0
    request.sent_by_chunk = request.sent_tokens = 0
    request.sending = request.moved = request.displaced = 0
    request.here = 1
    request.last_token_ps = request.sent_ps = request.prefill_replica = request.decode_replica = NONE
    if is_splitwise(cluster):
        for phase in (PROMPT, DECODE):
            task = task_at(cluster, 2 * slot + phase)
            task.passes = task.queued = 0
            task.since = NONE
    begin_result(cluster, index)


@step
def begin_result(cluster: Cluster, index: int) -> None:
    """What is known of a request that has arrived."""
    numbers(cluster.first_scheduled_ps)[index] = numbers(cluster.first_token_ps)[index] = NEVER
    numbers(cluster.finish_ps)[index] = NEVER
    smalls(cluster.prefill_replica)[index] = smalls(cluster.decode_replica)[index] = NEVER
    smalls(cluster.status)[index] = UNFINISHED


@step
def start_due(cluster: Cluster, now: int) -> None:
    """Step 6."""
    for i in range(cluster.due_count):
        replica = replica_at(cluster, numbers(cluster.due)[i])
        start_iterations(cluster, replica, now)
        if replica.stages > 1:
            go_round(cluster, replica)
        replica.due = 0
    cluster.due_count = 0


@step
def given_up(cluster: Cluster) -> bool:
    """Only polls are left and each has failed since anything last happened: no room will ever come."""
    all_come = cluster.arrived == cluster.trace_requests and cluster.changed == cluster.change_count
    return all_come and cluster.active == 0 and cluster.failed_polls >= cluster.polling
