"""The lists of a splitwise machine, doubly linked: tasks that wait, prompts and interrupted decodes, requests present.

A task's number is 2 x slot + phase. Its order is that of 2 x ``Request.order`` + phase: by arrival, a prompt first.
"""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.loads import WAITING, note_load
from simcore.engine.fast.names import SPLITWISE_SIM
from simcore.engine.fast.state import NONE, PROMPT, Cluster, Replica, request_at, task_at


@step
def order_of(cluster: Cluster, task: int) -> int:
    """What waiting tasks are ordered by."""
    return 2 * request_at(cluster, task >> 1).order + (task & 1)


@step
def insert_waiting(cluster: Cluster, replica: Replica, task: int) -> None:
    """The waiting list is in order of arrival, a prompt before its decode; or as ``place_by_passes`` says."""
    if cluster.ageing == SPLITWISE_SIM:
        before = place_by_passes(cluster, replica, task)
    else:
        before = replica.last_task
        order = order_of(cluster, task)
        while before != NONE and order_of(cluster, before) > order:
            before = task_at(cluster, before).previous_waiting
    link_waiting(cluster, replica, task, before)


@step
def place_by_passes(cluster: Cluster, replica: Replica, task: int) -> int:
    """The task after which another belongs by (passes, arrival) as they are now, found by bisection.

    Later passes have put the list out of order, so that the way the bisection takes matters; it walks the links.
    """
    low, high = 0, replica.tasks
    before, ahead = NONE, replica.first_task
    while low < high:
        middle = (low + high) >> 1
        probe = ahead
        for _ in range(middle - low):
            probe = task_at(cluster, probe).next_waiting
        if goes_before(cluster, task, probe):
            high = middle
        else:
            low, before, ahead = middle + 1, probe, task_at(cluster, probe).next_waiting
    return before


@step
def goes_before(cluster: Cluster, one: int, other: int) -> bool:
    """By (passes, arrival)."""
    if task_at(cluster, one).passes == task_at(cluster, other).passes:
        return request_at(cluster, one >> 1).order < request_at(cluster, other >> 1).order
    return task_at(cluster, one).passes < task_at(cluster, other).passes


@step
def link_waiting(cluster: Cluster, replica: Replica, task: int, before: int) -> None:
    """Put a task after another in the waiting list; after ``NONE``: in front."""
    after = replica.first_task if before == NONE else task_at(cluster, before).next_waiting
    task_at(cluster, task).previous_waiting, task_at(cluster, task).next_waiting = before, after
    if before == NONE:
        replica.first_task = task
    else:
        task_at(cluster, before).next_waiting = task
    if after == NONE:
        replica.last_task = task
    else:
        task_at(cluster, after).previous_waiting = task
    replica.tasks += 1
    note_load(cluster, replica, WAITING)


@step
def remove_waiting(cluster: Cluster, replica: Replica, task: int) -> None:
    """Out of the waiting list."""
    before, after = task_at(cluster, task).previous_waiting, task_at(cluster, task).next_waiting
    if before == NONE:
        replica.first_task = after
    else:
        task_at(cluster, before).next_waiting = after
    if after == NONE:
        replica.last_task = before
    else:
        task_at(cluster, after).previous_waiting = before
    replica.tasks -= 1
    note_load(cluster, replica, WAITING)


@step
def enqueue(cluster: Cluster, replica: Replica, task: int) -> None:
    """At the end of the prompts that wait, or of the interrupted decodes."""
    last = replica.last_prompt if task & 1 == PROMPT else replica.last_interrupted
    queued = task_at(cluster, task)
    queued.queued, queued.previous_queued, queued.next_queued = 1, last, NONE
    if last != NONE:
        task_at(cluster, last).next_queued = task
    elif task & 1 == PROMPT:
        replica.first_prompt = task
    else:
        replica.first_interrupted = task
    set_last_queued(replica, task, task)


@step
def dequeue(cluster: Cluster, replica: Replica, task: int) -> None:
    """Out of the queue that it is in, if any."""
    queued = task_at(cluster, task)
    if queued.queued == 0:
        return
    queued.queued = 0
    before, after = queued.previous_queued, queued.next_queued
    if before != NONE:
        task_at(cluster, before).next_queued = after
    elif task & 1 == PROMPT:
        replica.first_prompt = after
    else:
        replica.first_interrupted = after
    if after != NONE:
        task_at(cluster, after).previous_queued = before
    else:
        set_last_queued(replica, task, before)


@step
def set_last_queued(replica: Replica, task: int, last: int) -> None:
    """The new end of the queue for tasks of this phase."""
    if task & 1 == PROMPT:
        replica.last_prompt = last
    else:
        replica.last_interrupted = last


@step
def insert_present(cluster: Cluster, replica: Replica, slot: int) -> None:
    """A request with a task here, by arrival."""
    before = replica.last_present
    while before != NONE and request_at(cluster, before).order > request_at(cluster, slot).order:
        before = request_at(cluster, before).previous_present
    after = replica.first_present if before == NONE else request_at(cluster, before).next_present
    request = request_at(cluster, slot)
    request.previous_present, request.next_present = before, after
    if before == NONE:
        replica.first_present = slot
    else:
        request_at(cluster, before).next_present = slot
    if after == NONE:
        replica.last_present = slot
    else:
        request_at(cluster, after).previous_present = slot


@step
def remove_present(cluster: Cluster, replica: Replica, slot: int) -> None:
    """No task of the request is here any more."""
    before, after = request_at(cluster, slot).previous_present, request_at(cluster, slot).next_present
    if before == NONE:
        replica.first_present = after
    else:
        request_at(cluster, before).next_present = after
    if after == NONE:
        replica.last_present = before
    else:
        request_at(cluster, after).previous_present = before
