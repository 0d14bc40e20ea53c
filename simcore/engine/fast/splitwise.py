"""A machine of the splitwise kinds: prompts, decodes or both, a micro-batch a stage (rules: the oracle's).

What is in the batch next is chosen in ``selection.py``; here: when it is chosen, and what happens around it.
"""

from __future__ import annotations

from simcore.engine.fast.blocks import (
    admission_tokens,
    blocks_of,
    decode_tokens,
    give_back,
    room_to_admit,
    routed_prompt_tokens,
    take,
)
from simcore.engine.fast.displaced import end_displaced
from simcore.engine.fast.due import make_due
from simcore.engine.fast.idle import settle_idle
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers
from simcore.engine.fast.lists import (
    dequeue,
    enqueue,
    insert_present,
    insert_waiting,
    remove_present,
    remove_waiting,
)
from simcore.engine.fast.loads import add_reserved
from simcore.engine.fast.micro_batch import launch, next_flight
from simcore.engine.fast.names import CONTIGUOUS
from simcore.engine.fast.pools import return_home
from simcore.engine.fast.preemption import join_batch
from simcore.engine.fast.queues import free_slot
from simcore.engine.fast.running import append_running
from simcore.engine.fast.runs import stretch
from simcore.engine.fast.selection import next_task, select, task_blocks, task_tokens
from simcore.engine.fast.state import (
    DECODE,
    NONE,
    PROMPT,
    Cluster,
    Replica,
    flight_at,
    members_of,
    new_tokens_of,
    replica_at,
    request_at,
    running_of,
    task_at,
)
from simcore.engine.fast.tokens import emit_token, end_prefill, forget_decode
from simcore.engine.fast.transfer import finish_transfer, send_by_layer, send_whole, start_waiting_transfers


@step
def is_contiguous(cluster: Cluster) -> bool:
    """Whether decode-only batches are interrupted by the simulator's rules."""
    return cluster.decode_runs == CONTIGUOUS


@step
def arrive(cluster: Cluster, slot: int, now: int) -> None:
    """A routed request joins its prefill replica: its prompt, and its decode too if that stays here."""
    request = request_at(cluster, slot)
    replica = replica_at(cluster, request.prefill_replica)
    stays = request.decode_replica == replica.index
    settle_idle(replica, now)
    if stays or task_tokens(request, PROMPT) <= cluster.max_batch_tokens:
        interrupt(cluster, replica)
    wake(cluster, replica, add_task(cluster, replica, slot, PROMPT), now)
    if stays:
        wake(cluster, replica, add_task(cluster, replica, slot, DECODE), now)


@step
def end_transfer(cluster: Cluster, slot: int, now: int) -> None:
    """KV has come: the request joins its decode replica; then the source, with room again, is woken."""
    request = request_at(cluster, slot)
    finish_transfer(cluster, request, now)
    replica, source = replica_at(cluster, request.decode_replica), replica_at(cluster, request.prefill_replica)
    if replica.running + replica.tasks_in_flight < cluster.max_batch_size:
        interrupt(cluster, replica)
    wake(cluster, replica, add_task(cluster, replica, slot, DECODE), now)
    if source.tasks > 0:
        interrupt(cluster, source)
        wake(cluster, source, source.first_task, now)


@step
def interrupt(cluster: Cluster, replica: Replica) -> None:
    """With ``contiguous``, the batch ends with the iteration that it is in."""
    if is_contiguous(cluster):
        replica.reselect = 1


@step
def wake(cluster: Cluster, replica: Replica, task: int, now: int) -> None:
    """Have a replica with a free stage look for a batch because of a task: at the end of this instant, or at once."""
    if replica.in_flight == replica.stages or replica.due > 0:
        return
    if is_contiguous(cluster) and not fits_alone(cluster, replica, task):
        return
    if cluster.one_by_one > 0:
        start_iterations(cluster, replica, now)
    else:
        make_due(cluster, replica)


@step
def fits_alone(cluster: Cluster, replica: Replica, task: int) -> bool:
    """Whether there is KV for the task, if nothing else is asked. A decode whose prompt waits asks for its output."""
    request = request_at(cluster, task >> 1)
    prompt_blocks = blocks_of(admission_tokens(request, cluster), cluster)
    if task & 1 == PROMPT:
        return room_to_admit(replica, prompt_blocks)
    held = request.blocks if request.blocks > 0 else prompt_blocks
    return blocks_of(decode_tokens(request, cluster), cluster) - held <= replica.free_blocks


@step
def start_iterations(cluster: Cluster, replica: Replica, now: int) -> None:
    """Go on with the batch, or select one, while fewer micro-batches than stages are in flight."""
    settle_idle(replica, now)
    while replica.in_flight < replica.stages:
        chosen_anew = replica.running == 0 or replica.reselect > 0
        if chosen_anew:
            install(cluster, replica, select(cluster, replica))
        elif replica.tasks > 0 and not is_contiguous(cluster):
            chosen_anew = add_what_waits(cluster, replica)
        replica.reselect = 0
        if replica.running == 0:
            break
        flight = run_batch(cluster, replica, now)
        if is_contiguous(cluster) or replica.tasks == 0 or not chosen_anew:
            stretch(cluster, replica, flight)
    if replica.first_present == NONE:
        return_home(cluster, replica)


@step
def add_what_waits(cluster: Cluster, replica: Replica) -> bool:
    """At a decode-only batch's iteration's end: a selection, if it would add a task to the batch; whether it did."""
    chosen = select(cluster, replica)
    for i in range(chosen):
        if task_at(cluster, numbers(cluster.chosen)[i]).in_batch == 0:
            install(cluster, replica, chosen)
            return True
    return False


@step
def run_batch(cluster: Cluster, replica: Replica, now: int) -> int:
    """One iteration of the batch, in its order. (A decode's prompt is done: it has no new tokens.) Returns the
    micro-batch's place in the ring."""
    flight, members = next_flight(replica), replica.running
    for i in range(members):
        slot = running_of(cluster, replica)[i] >> 1
        request = request_at(cluster, slot)
        request.in_flight = 1
        join_batch(cluster, replica, flight, i, slot, request.target_tokens - request.done_tokens)
    replica.tasks_in_flight += members
    replica.running = 0
    launch(cluster, replica, members, now)
    send_by_layer(cluster, replica, flight, now)
    return flight


@step
def install(cluster: Cluster, replica: Replica, chosen: int) -> None:
    """Make the selection the batch: decodes left out are interrupted (keeping their KV), new tasks take their KV."""
    number = cluster.selection
    kept = 0
    for i in range(replica.running):
        task = running_of(cluster, replica)[i]
        if request_at(cluster, task >> 1).chosen == number:
            running_of(cluster, replica)[kept] = task
            kept += 1
        else:
            task_at(cluster, task).in_batch = 0
            insert_waiting(cluster, replica, task)
            enqueue(cluster, replica, task)
    for i in range(chosen):
        task = numbers(cluster.chosen)[i]
        if task_at(cluster, task).in_batch == 0:
            start_task(cluster, replica, task)
            running_of(cluster, replica)[kept] = task
            kept += 1
    replica.running = kept
    if chosen > 0 or is_contiguous(cluster):
        count_passes(cluster, replica)


@step
def start_task(cluster: Cluster, replica: Replica, task: int) -> None:
    """Out of the queues, and its blocks taken."""
    request = request_at(cluster, task >> 1)
    remove_waiting(cluster, replica, task)
    dequeue(cluster, replica, task)
    task_at(cluster, task).in_batch = 1
    if task & 1 == PROMPT:
        replica.waiting_blocks -= blocks_of(request.target_tokens, cluster)
    blocks = task_blocks(cluster, request, task & 1)
    request.blocks += blocks
    take(replica, blocks)


@step
def count_passes(cluster: Cluster, replica: Replica) -> None:
    """A selection passes over the next task of every request here that is neither in the batch nor in flight."""
    slot = replica.first_present
    while slot != NONE:
        task = task_at(cluster, next_task(cluster, replica, slot))
        if task.in_batch == 0:
            task.passes += 1
        slot = request_at(cluster, slot).next_present


@step
def add_task(cluster: Cluster, replica: Replica, slot: int, phase: int) -> int:
    """A task waits here from now on."""
    task = 2 * slot + phase
    request = request_at(cluster, slot)
    if phase == PROMPT or request.prefill_replica != request.decode_replica:
        insert_present(cluster, replica, slot)
    insert_waiting(cluster, replica, task)
    if phase == PROMPT:
        enqueue(cluster, replica, task)
        replica.waiting_blocks += blocks_of(request.target_tokens, cluster)
    return task


@step
def end_iteration(cluster: Cluster, replica: Replica, flight: int, now: int) -> None:
    """Tokens appear, in the batch's order; ended prompts go on their way; what was freed goes to waiting transfers."""
    members = flight_at(cluster, replica, flight).members
    replica.tasks_in_flight -= members
    if replica.running > 0:
        replica.reselect = 1
    for i in range(members):
        slot = members_of(cluster, replica, flight)[i]
        request = request_at(cluster, slot)
        new = new_tokens_of(cluster, replica, flight)[i]
        request.in_flight = 0
        if request.displaced > 0:
            replica.reselect = 1
            task_at(cluster, 2 * slot + PROMPT).in_batch = 0
            end_displaced(cluster, replica, slot, new, now)
        elif new > 0:
            request.done_tokens += new
            replica.reselect = 1
            task_at(cluster, 2 * slot + PROMPT).in_batch = 0
            end_prompt(cluster, replica, slot, now)
        elif emit_token(cluster, request, now):
            replica.reselect = 1
            leave(cluster, replica, slot)
        else:
            append_running(cluster, replica, 2 * slot + DECODE)
    start_waiting_transfers(cluster, replica, now)


@step
def end_prompt(cluster: Cluster, replica: Replica, slot: int, now: int) -> None:
    """The first token; then the request is done, or decodes here, or its KV is sent."""
    request = request_at(cluster, slot)
    end_prefill(cluster, request)
    stays = request.decode_replica == replica.index
    if emit_token(cluster, request, now):
        if stays:
            remove_waiting(cluster, replica, 2 * slot + DECODE)
        else:
            add_reserved(cluster, replica, -routed_prompt_tokens(request, cluster))
        leave(cluster, replica, slot)
    elif not stays:
        remove_present(cluster, replica, slot)
        send_whole(cluster, slot, now)


@step
def leave(cluster: Cluster, replica: Replica, slot: int) -> None:
    """A finished request frees its KV."""
    request = request_at(cluster, slot)
    remove_present(cluster, replica, slot)
    give_back(replica, request)
    forget_decode(cluster, request)
    free_slot(cluster, slot)
