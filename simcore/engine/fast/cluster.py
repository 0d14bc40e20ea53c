"""A whole cluster, event by event, in the order within one instant that the oracle's ``cluster.py`` states.

``run`` is what Python calls; ``advance`` is the one compiled entry. It returns between two instants where a table is
too short, and goes on from there with a longer one.
"""

from __future__ import annotations

from simcore.engine.fast.jit import entry, step
from simcore.engine.fast.queues import free_slot, take_slot
from simcore.engine.fast.replica import arrive, end_iteration, start_iterations
from simcore.engine.fast.results import run_result
from simcore.engine.fast.router import route
from simcore.engine.fast.setup import MORE_GAPS, MORE_SECONDS, MORE_SLOTS, build_cluster, enlarge
from simcore.engine.fast.splitwise import end_transfer
from simcore.engine.fast.state import DECODE, FOREVER, NONE, PROMPT, Cluster
from simcore.engine.fast.transfer import next_poll_ps, poll_transfer
from simcore.engine.fast.transfer_heap import next_transfer_ps, pop_transfer
from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import REFUSED, RunResult

PS_PER_S = 1_000_000_000_000
DONE = 0


def run(inputs: ClusterInputs) -> RunResult:
    """Simulate every request from arrival to finish: equal to the oracle's ``run``, bit for bit."""
    cluster = build_cluster(inputs)
    lacking, now = advance(cluster)
    while lacking != DONE:
        cluster = enlarge(cluster, lacking, now // PS_PER_S)
        lacking, now = advance(cluster)
    return run_result(cluster)


@entry
def advance(cluster: Cluster) -> tuple[int, int]:
    """Go on to the end (``DONE``), or until a table is too short. Returns which, and the time of the instant."""
    arrivals = len(cluster.arrival_ps)
    progress = cluster.progress[0]
    while progress.arrived < arrivals or (progress.active + progress.polls > 0 and not given_up(cluster)):
        now = next_instant(cluster)
        lacking = lacks(cluster, now)
        if lacking != DONE:
            return lacking, now
        if not handle_events(cluster, now):
            return MORE_GAPS, now
        handle_arrivals(cluster, now)
        start_due(cluster, now)
    return DONE, 0


@step
def next_instant(cluster: Cluster) -> int:
    """Time of the earliest event or arrival; at least one is left."""
    now = min(first_end_ps(cluster), next_transfer_ps(cluster), next_poll_ps(cluster))
    arrived = cluster.progress[0].arrived
    return min(now, int(cluster.arrival_ps[arrived])) if arrived < len(cluster.arrival_ps) else now


@step
def first_end_ps(cluster: Cluster) -> int:
    """Time of the earliest iteration end."""
    first = FOREVER
    for index in range(len(cluster.next_ps)):
        first = min(first, int(cluster.next_ps[index]))
    return first


@step
def first_ending(cluster: Cluster, now: int) -> int:
    """The first replica with an iteration that ends now."""
    for index in range(len(cluster.next_ps)):
        if cluster.next_ps[index] == now:
            return index
    return NONE


@step
def lacks(cluster: Cluster, now: int) -> int:
    """Which table is too short for what may happen in this instant."""
    if now // PS_PER_S >= len(cluster.energy_by_second_nj):
        return MORE_SECONDS
    arrived, free = cluster.progress[0].arrived, cluster.progress[0].free_slots
    if arrived + free < len(cluster.arrival_ps) and cluster.arrival_ps[arrived + free] == now:
        return MORE_SLOTS
    return DONE


@step
def handle_events(cluster: Cluster, now: int) -> bool:
    """Steps 1 to 3: iteration ends, transfer ends and polls of this instant, in that order at every turn.

    False: there may be no room for the gaps of the next iteration that ends; nothing of it has been done.
    """
    most = cluster.members.shape[2]
    while True:
        index = first_ending(cluster, now)
        if index != NONE:
            if cluster.progress[0].gaps + most > len(cluster.gap_ps):
                return False
            end_iteration(cluster, cluster.replicas[index], now)
        elif next_transfer_ps(cluster) == now:
            end_transfer(cluster, pop_transfer(cluster), now)
        elif next_poll_ps(cluster) == now:
            poll_transfer(cluster, now)
        else:
            return True


@step
def handle_arrivals(cluster: Cluster, now: int) -> None:
    """Step 4."""
    progress = cluster.progress[0]
    while progress.arrived < len(cluster.arrival_ps) and cluster.arrival_ps[progress.arrived] == now:
        slot = take_slot(cluster)
        take_in(cluster, slot, progress.arrived)
        progress.arrived += 1
        if route(cluster, cluster.requests[slot]):
            arrive(cluster, slot, now)
        else:
            cluster.results[cluster.requests[slot].index].status = REFUSED
            free_slot(cluster, slot)


@step
def take_in(cluster: Cluster, slot: int, index: int) -> None:
    """A slot for a request of the trace; a reservation counts ``max_output_tokens`` where given."""
    request = cluster.requests[slot]
    request.index = index
    request.prompt_tokens = request.target_tokens = int(cluster.prompt_tokens[index])
    request.cached_tokens = request.done_tokens = int(cluster.cached_prompt_tokens[index])
    request.output_tokens = request.output_limit = int(cluster.output_tokens[index])
    if cluster.max_output_tokens[index] > 0:
        request.output_limit = int(cluster.max_output_tokens[index])
    request.generated = request.blocks = request.inbound_blocks = request.max_gap_ps = 0
    request.prefill_ended = request.scheduled = request.sent_by_layer = request.chosen = 0
    request.last_token_ps = NONE
    for phase in (PROMPT, DECODE):
        task = cluster.tasks[2 * slot + phase]
        task.passes = task.in_batch = task.queued = 0


@step
def start_due(cluster: Cluster, now: int) -> None:
    """Step 5."""
    progress = cluster.progress[0]
    for i in range(progress.due):
        start_iterations(cluster, cluster.replicas[cluster.due[i]], now)
    for i in range(progress.due):
        cluster.replicas[cluster.due[i]].due = 0
    progress.due = 0


@step
def given_up(cluster: Cluster) -> bool:
    """Only polls are left and each has failed since anything last happened: no room will ever come."""
    progress = cluster.progress[0]
    nothing_to_come = progress.arrived == len(cluster.arrival_ps) and progress.active == 0
    return nothing_to_come and progress.failed_polls >= progress.polls
