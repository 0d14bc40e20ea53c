"""A machine of the splitwise kinds: prompts, decodes or both, in as many micro-batches as it has stages.

What is in the batch next is chosen in ``selection.py``; here: when it is chosen, and what happens around it. A
*selection* counts a pass for the next task of every request here that is neither chosen nor in flight. A batch with
prompts, and one of which a member has finished, is followed by a selection. A decode-only batch goes on unchanged
otherwise, until (``decode_runs``)

- ``stepwise``: at an iteration's end a selection would add a task to it;
- ``contiguous``: it was interrupted: by an arriving request whose decode stays here; by an arriving prompt of at most
  max_batch_tokens; by a decode whose KV has come, while the batch is below max_batch_size; by the end of an outgoing
  transfer while anything waits. Room for KV is not looked at.

A machine with fewer micro-batches in flight than stages looks whenever something comes or an outgoing transfer ends,
and after a micro-batch was formed again; with ``contiguous`` only if what came (after a transfer: the first of the
waiting list) would fit by itself, and then a selection of nothing counts passes too. What is left of two micro-batches
that ended goes on only through a selection.
"""

from __future__ import annotations

from bisect import insort

from simcore.engine.oracle.blocks import (
    admission_tokens,
    blocks_of,
    decode_tokens,
    give_back,
    room_to_admit,
    routed_prompt_tokens,
    take,
)
from simcore.engine.oracle.displaced import end_displaced
from simcore.engine.oracle.idle import settle_idle
from simcore.engine.oracle.micro_batch import launch
from simcore.engine.oracle.router import return_home
from simcore.engine.oracle.selection import next_task, passes, select, task_blocks, task_tokens
from simcore.engine.oracle.state import DECODE, PROMPT, Cluster, MicroBatch, Replica, Request
from simcore.engine.oracle.tokens import emit_token, end_prefill, forget_decode
from simcore.engine.oracle.transfer import finish_transfer, send_by_layer, send_whole, start_waiting_transfers


def is_contiguous(cluster: Cluster) -> bool:
    """Whether decode-only batches are interrupted by the simulator's rules."""
    return cluster.inputs.scheduler.decode_runs == "contiguous"


def arrive(cluster: Cluster, request: Request, now: int) -> None:
    """A routed request joins its prefill replica: its prompt, and its decode too if that stays here."""
    replica = cluster.replicas[request.prefill_replica]
    stays = request.decode_replica == replica.index
    settle_idle(replica, now)
    if stays or task_tokens(request, PROMPT) <= cluster.inputs.scheduler.max_batch_tokens:
        replica.reselect |= is_contiguous(cluster)
    wake(cluster, replica, add_task(cluster, replica, request, PROMPT), now)
    if stays:
        wake(cluster, replica, add_task(cluster, replica, request, DECODE), now)


def end_transfer(cluster: Cluster, request: Request, now: int) -> None:
    """KV has come: the request joins its decode replica; then the source, with room again, is woken."""
    finish_transfer(cluster, request, now)
    replica = cluster.replicas[request.decode_replica]
    if len(replica.batch) + replica.tasks_in_flight < cluster.inputs.scheduler.max_batch_size:
        replica.reselect |= is_contiguous(cluster)
    wake(cluster, replica, add_task(cluster, replica, request, DECODE), now)
    source = cluster.replicas[request.prefill_replica]
    if source.tasks:
        source.reselect |= is_contiguous(cluster)
        wake(cluster, source, source.tasks[0], now)


def wake(cluster: Cluster, replica: Replica, task: int, now: int) -> None:
    """Have a replica with a free stage look for a batch because of a task: at the end of this instant, or at once."""
    if replica.in_flight == replica.inputs.stages or replica.index in cluster.due:
        return
    if is_contiguous(cluster) and not fits_alone(cluster, replica, task):
        return
    if cluster.inputs.scheduler.simultaneous_arrivals == "one_by_one":
        start_iterations(cluster, replica, now)
    else:
        cluster.due.add(replica.index)


def fits_alone(cluster: Cluster, replica: Replica, task: int) -> bool:
    """Whether there is KV for the task, if nothing else is asked. A decode whose prompt waits asks for its output."""
    scheduler = cluster.inputs.scheduler
    request = cluster.requests[task // 2]
    prompt_blocks = blocks_of(admission_tokens(request, scheduler), scheduler)
    if task % 2 == PROMPT:
        return room_to_admit(replica, prompt_blocks)
    held = request.blocks or prompt_blocks
    return blocks_of(decode_tokens(request, scheduler), scheduler) - held <= replica.free_blocks


def start_iterations(cluster: Cluster, replica: Replica, now: int) -> None:
    """Go on with the batch, or select one, while fewer micro-batches than stages are in flight."""
    settle_idle(replica, now)
    while replica.in_flight < replica.inputs.stages:
        if not replica.batch or replica.reselect or would_add(cluster, replica):
            install(cluster, replica, select(cluster, replica))
        replica.reselect = False
        if not replica.batch:
            break
        run_batch(cluster, replica, now)
    if not replica.present:
        return_home(cluster, replica)


def would_add(cluster: Cluster, replica: Replica) -> bool:
    """Whether something that could be selected waits (asked of a decode-only batch at its iteration's end)."""
    if is_contiguous(cluster) or not replica.tasks:
        return False
    return any(task not in replica.batch for task in select(cluster, replica))


def run_batch(cluster: Cluster, replica: Replica, now: int) -> None:
    """One iteration of the batch, in its order. (A decode's prompt is done: it has no new tokens.)"""
    members = [cluster.requests[task // 2] for task in replica.batch]
    new_tokens = [request.target_tokens - request.done_tokens for request in members]
    for request in members:
        request.in_flight = True
    replica.tasks_in_flight += len(members)
    replica.batch = []
    send_by_layer(cluster, launch(cluster, replica, members, new_tokens, now), now)


def install(cluster: Cluster, replica: Replica, chosen: list[int]) -> None:
    """Make the selection the batch: decodes left out are interrupted (keeping their KV), new tasks take their KV."""
    kept = [task for task in replica.batch if task in chosen]
    for task in replica.batch:
        if task not in chosen:
            insert_waiting(cluster, replica, task)
            replica.interrupted.append(task)
    started = [task for task in chosen if task not in replica.batch]
    for task in started:
        start_task(cluster, replica, task)
    replica.batch = kept + started
    if chosen or is_contiguous(cluster):
        count_passes(cluster, replica)


def start_task(cluster: Cluster, replica: Replica, task: int) -> None:
    """Out of the queues, and its blocks taken."""
    request = cluster.requests[task // 2]
    replica.tasks.remove(task)
    if task in replica.interrupted:
        replica.interrupted.remove(task)
    if task % 2 == PROMPT:
        replica.prompts.remove(task)
    blocks = task_blocks(request, task % 2, cluster.inputs.scheduler)
    request.blocks += blocks
    take(replica, blocks)


def count_passes(cluster: Cluster, replica: Replica) -> None:
    """A selection passes over the next task of every request here that is neither in the batch nor in flight."""
    batch = set(replica.batch)
    for index in replica.present:
        task = next_task(cluster, replica, index)
        if task not in batch and not cluster.requests[index].in_flight:
            cluster.requests[index].passes[task % 2] += 1


def add_task(cluster: Cluster, replica: Replica, request: Request, phase: int) -> int:
    """A task waits here from now on."""
    task = 2 * request.index + phase
    if request.index not in replica.present:
        insort(replica.present, request.index, key=lambda index: cluster.requests[index].order)
    insert_waiting(cluster, replica, task)
    if phase == PROMPT:
        replica.prompts.append(task)
    return task


def insert_waiting(cluster: Cluster, replica: Replica, task: int) -> None:
    """The waiting list is ordered by arrival, a prompt before its decode.

    ``ageing`` ``splitwise-sim``: by (passes, arrival) as they are now, after equal ones, found by bisection in a list
    that later passes have put out of order.
    """
    if cluster.inputs.scheduler.ageing == "splitwise-sim":
        insort(replica.tasks, task, key=lambda other: (passes(cluster, other), order_of(cluster, other)))
    else:
        insort(replica.tasks, task, key=lambda other: order_of(cluster, other))


def order_of(cluster: Cluster, task: int) -> int:
    """What waiting tasks are ordered by: arrival, then phase."""
    return 2 * cluster.requests[task // 2].order + task % 2


def end_iteration(cluster: Cluster, replica: Replica, batch: MicroBatch, now: int) -> None:
    """Tokens appear, in the batch's order; ended prompts go on their way; what was freed goes to waiting transfers."""
    replica.tasks_in_flight -= len(batch.members)
    replica.reselect |= bool(replica.batch)
    for request, new in zip(batch.members, batch.new_tokens, strict=True):
        request.in_flight = False
        if request.displaced:
            replica.reselect = True
            end_displaced(cluster, replica, request, new, now)
        elif new:
            request.done_tokens += new
            replica.reselect = True
            end_prompt(cluster, replica, request, now)
        elif emit_token(cluster, request, now):
            replica.reselect = True
            leave(cluster, replica, request)
        else:
            replica.batch.append(2 * request.index + DECODE)
    start_waiting_transfers(cluster, replica, now)


def end_prompt(cluster: Cluster, replica: Replica, request: Request, now: int) -> None:
    """The first token; then the request is done, or decodes here, or its KV is sent."""
    end_prefill(cluster, request)
    stays = request.decode_replica == replica.index
    finished = emit_token(cluster, request, now)
    if finished:
        if stays:
            replica.tasks.remove(2 * request.index + DECODE)
        else:
            replica.reserved_tokens -= routed_prompt_tokens(request, cluster.inputs.scheduler)
        leave(cluster, replica, request)
    elif not stays:
        replica.present.remove(request.index)
        send_whole(cluster, request, now)


def leave(cluster: Cluster, replica: Replica, request: Request) -> None:
    """A finished request frees its KV."""
    replica.present.remove(request.index)
    give_back(replica, request)
    forget_decode(cluster, request)
