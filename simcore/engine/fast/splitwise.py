"""A machine of the splitwise kinds: prompts, decodes or both, a micro-batch a stage (rules: the oracle's).

What is in the batch next is chosen in ``selection.py``; here: when it is chosen, and what happens around it.
"""

from __future__ import annotations

from simcore.engine.fast.batch import batch_size, install, is_contiguous
from simcore.engine.fast.blocks import (
    admission_tokens,
    blocks_of,
    decode_tokens,
    give_back,
    room_to_admit,
    routed_prompt_tokens,
)
from simcore.engine.fast.displaced import end_displaced
from simcore.engine.fast.due import make_due
from simcore.engine.fast.flight_state import flight_at, members_of, new_tokens_of
from simcore.engine.fast.group import end_step
from simcore.engine.fast.group_state import group_at
from simcore.engine.fast.idle import settle_idle
from simcore.engine.fast.jit import step
from simcore.engine.fast.lists import (
    begin_to_wait,
    enqueue,
    first_waiting_task,
    insert_ready,
    insert_waiting,
    remove_waiting,
)
from simcore.engine.fast.loads import add_reserved
from simcore.engine.fast.micro_batch import launch, next_flight
from simcore.engine.fast.next_end import note_next_end
from simcore.engine.fast.pools import return_home
from simcore.engine.fast.preemption import join_batch
from simcore.engine.fast.queues import count_waiting_blocks, free_slot
from simcore.engine.fast.replica_state import Replica, replica_at, running_of
from simcore.engine.fast.request_state import request_at
from simcore.engine.fast.running import append_running
from simcore.engine.fast.runs import stretch
from simcore.engine.fast.selection import select, task_tokens
from simcore.engine.fast.state import DECODE, PROMPT, Cluster
from simcore.engine.fast.tokens import emit_token, end_prefill, forget_decode
from simcore.engine.fast.transfer import finish_transfer, send_by_layer, send_whole, start_waiting_transfers


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
    if batch_size(cluster, replica) + replica.tasks_in_flight < cluster.max_batch_size:
        interrupt(cluster, replica)
    wake(cluster, replica, add_task(cluster, replica, slot, DECODE), now)
    if source.tasks > 0:
        interrupt(cluster, source)
        wake(cluster, source, first_waiting_task(cluster, source), now)


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
        chosen_anew = choose_batch(cluster, replica)
        if batch_size(cluster, replica) == 0:
            break
        flight = run_batch(cluster, replica, now)
        if is_contiguous(cluster) or replica.tasks == 0 or not chosen_anew:
            stretch(cluster, replica, flight)
    note_next_end(cluster, replica)
    if replica.admitted == 0:
        return_home(cluster, replica)


@step
def choose_batch(cluster: Cluster, replica: Replica) -> bool:
    """A selection, where the batch may not simply go on, or, at the end of a decode-only batch's iteration, if it would
    add a task; whether there was one."""
    is_due = batch_size(cluster, replica) == 0 or replica.reselect > 0
    replica.reselect = 0
    if not is_due and (replica.tasks == 0 or is_contiguous(cluster)):
        return False
    select(cluster, replica)
    if not is_due and cluster.chosen_tasks == cluster.chosen_of_batch:
        return False
    install(cluster, replica)
    return True


@step
def run_batch(cluster: Cluster, replica: Replica, now: int) -> int:
    """One iteration of the batch. (A decode's prompt is done: it has no new tokens.) Returns the micro-batch's place in
    the ring."""
    flight = next_flight(replica)
    grouped, others = group_at(cluster, flight).members, replica.running
    flight_at(cluster, flight).grouped = grouped
    for i in range(others):
        slot = running_of(cluster, replica)[i] >> 1
        request = request_at(cluster, slot)
        join_batch(cluster, replica, flight, grouped + i, slot, request.target_tokens - request.done_tokens)
    replica.tasks_in_flight += grouped + others
    replica.running = 0
    launch(cluster, replica, grouped + others, now)
    send_by_layer(cluster, replica, flight, now)
    return flight


@step
def add_task(cluster: Cluster, replica: Replica, slot: int, phase: int) -> int:
    """A task waits here from now on."""
    task = 2 * slot + phase
    request = request_at(cluster, slot)
    insert_waiting(cluster, replica, task)
    if phase == PROMPT:
        replica.admitted += 1
        begin_to_wait(cluster, replica, task)
        enqueue(cluster, replica, task)
        count_waiting_blocks(cluster, replica, request, 1)
    elif request.prefill_replica != replica.index:
        replica.admitted += 1
        insert_ready(cluster, replica, task)
    return task


@step
def end_iteration(cluster: Cluster, replica: Replica, flight: int, now: int) -> None:
    """Tokens appear, in the batch's order; ended prompts go on their way; what was freed goes to waiting transfers."""
    batch = flight_at(cluster, flight)
    replica.tasks_in_flight -= batch.grouped + batch.members
    if replica.running > 0:
        replica.reselect = 1
    if batch.grouped > 0:
        group = group_at(cluster, flight)
        end_step(cluster, replica, group, now)
        if group.members < batch.grouped:
            replica.reselect = 1
    for i in range(batch.first, batch.first + batch.members):
        end_task(cluster, replica, members_of(cluster, flight)[i], new_tokens_of(cluster, flight)[i], now)
    start_waiting_transfers(cluster, replica, now)


@step
def end_task(cluster: Cluster, replica: Replica, slot: int, new: int, now: int) -> None:
    """A task that is not in a group has been in an iteration, with so many prompt tokens."""
    request = request_at(cluster, slot)
    if request.displaced > 0:
        replica.reselect = 1
        end_displaced(cluster, replica, slot, new, now)
    elif new > 0:
        request.done_tokens += new
        replica.reselect = 1
        end_prompt(cluster, replica, slot, now)
    elif emit_token(cluster, request, now):
        replica.reselect = 1
        leave(cluster, replica, slot)
    else:
        append_running(cluster, replica, 2 * slot + DECODE)


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
    elif stays:
        insert_ready(cluster, replica, 2 * slot + DECODE)
    else:
        replica.admitted -= 1
        send_whole(cluster, slot, now)


@step
def leave(cluster: Cluster, replica: Replica, slot: int) -> None:
    """A finished request frees its KV."""
    request = request_at(cluster, slot)
    replica.admitted -= 1
    give_back(replica, request)
    forget_decode(cluster, request)
    free_slot(cluster, slot)
