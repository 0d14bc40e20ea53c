"""The lists of a splitwise machine, doubly linked. A task's number is 2 x slot + phase.

::

    prompts      p4 - p7 - p9    prompt tasks that wait, first come first: by arrival
    interrupted  d3 - d1         decodes put out of the batch, in that order
    ready        d1 - d3 - d6    decodes that wait and whose prompt has ended, interrupted or not, by arrival
    waiting      d3 - p4 - ...   ``ageing`` ``splitwise-sim`` alone: all tasks that wait, in the order it has them

A decode whose prompt waits, or is in a batch, waits too (``Replica.tasks`` counts it), but nothing looks for it. The
next task of every request here is in ``prompts`` or ``ready``, in the batch or in flight, so that no list of the
requests is needed, and those two give by arrival what may be selected.

Every selection that counts passes over all that is in ``prompts`` and ``ready`` after it. So nothing is walked for it:
``Replica.selections`` counts them, and a task knows how many there had been when it began to wait.
"""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.loads import WAITING, note_load
from simcore.engine.fast.names import SPLITWISE_SIM
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.request_state import request_at, task_at
from simcore.engine.fast.state import NONE, PROMPT, Cluster


@step
def order_of(cluster: Cluster, task: int) -> int:
    """Arrival: how many requests were routed before."""
    return request_at(cluster, task >> 1).order


@step
def passes(cluster: Cluster, replica: Replica, task: int) -> int:
    """How often a task that waits was passed over."""
    waits = task_at(cluster, task)
    return waits.passes + (replica.selections - waits.since if waits.since != NONE else 0)


@step
def begin_to_wait(cluster: Cluster, replica: Replica, task: int) -> None:
    """The task is the next of its request from now on: selections pass over it."""
    task_at(cluster, task).since = replica.selections


@step
def end_wait(cluster: Cluster, replica: Replica, task: int) -> None:
    """It was selected."""
    task_at(cluster, task).passes = passes(cluster, replica, task)
    task_at(cluster, task).since = NONE


@step
def insert_waiting(cluster: Cluster, replica: Replica, task: int) -> None:
    """One more task waits."""
    replica.tasks += 1
    note_load(cluster, replica, WAITING)
    if cluster.ageing == SPLITWISE_SIM:
        link_waiting(cluster, replica, task, place_by_passes(cluster, replica, task))


@step
def remove_waiting(cluster: Cluster, replica: Replica, task: int) -> None:
    """One task waits no more."""
    replica.tasks -= 1
    note_load(cluster, replica, WAITING)
    if cluster.ageing == SPLITWISE_SIM:
        unlink_waiting(cluster, replica, task)


@step
def place_by_passes(cluster: Cluster, replica: Replica, task: int) -> int:
    """The task after which another belongs by (passes, arrival) as they are now, found by bisection.

    Later passes have put the list out of order, so that the way the bisection takes matters; it walks the links.
    """
    low, high = 0, replica.tasks - 1
    before, ahead = NONE, replica.first_task
    while low < high:
        middle = (low + high) >> 1
        probe = ahead
        for _ in range(middle - low):
            probe = task_at(cluster, probe).next_waiting
        if goes_before(cluster, replica, task, probe):
            high = middle
        else:
            low, before, ahead = middle + 1, probe, task_at(cluster, probe).next_waiting
    return before


@step
def goes_before(cluster: Cluster, replica: Replica, one: int, other: int) -> bool:
    """By (passes, arrival)."""
    if passes(cluster, replica, one) == passes(cluster, replica, other):
        return order_of(cluster, one) < order_of(cluster, other)
    return passes(cluster, replica, one) < passes(cluster, replica, other)


@step
def link_waiting(cluster: Cluster, replica: Replica, task: int, before: int) -> None:
    """Put a task after another in the waiting list; after ``NONE``: in front."""
    after = replica.first_task if before == NONE else task_at(cluster, before).next_waiting
    task_at(cluster, task).previous_waiting, task_at(cluster, task).next_waiting = before, after
    if before == NONE:
        replica.first_task = task
    else:
        task_at(cluster, before).next_waiting = task
    if after != NONE:
        task_at(cluster, after).previous_waiting = task


@step
def unlink_waiting(cluster: Cluster, replica: Replica, task: int) -> None:
    """Out of the waiting list."""
    before, after = task_at(cluster, task).previous_waiting, task_at(cluster, task).next_waiting
    if before == NONE:
        replica.first_task = after
    else:
        task_at(cluster, before).next_waiting = after
    if after != NONE:
        task_at(cluster, after).previous_waiting = before


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
def insert_ready(cluster: Cluster, replica: Replica, task: int) -> None:
    """A decode is the next task of its request and waits, by arrival: mostly the youngest."""
    insert_ready_near(cluster, replica, task, replica.last_ready)


@step
def insert_ready_near(cluster: Cluster, replica: Replica, task: int, near: int) -> None:
    """The same, its place looked for from a decode of the list on, in either direction. A batch is put out in about the
    order of arrival: where thousands wait, each one's place is next to that of the one before."""
    before, order = near, order_of(cluster, task)
    while before != NONE and order_of(cluster, before) > order:
        before = task_at(cluster, before).previous_ready
    if before != NONE and before == near:
        before = last_ready_before(cluster, near, order)
    after = replica.first_ready if before == NONE else task_at(cluster, before).next_ready
    task_at(cluster, task).previous_ready, task_at(cluster, task).next_ready = before, after
    if before == NONE:
        replica.first_ready = task
    else:
        task_at(cluster, before).next_ready = task
    if after == NONE:
        replica.last_ready = task
    else:
        task_at(cluster, after).previous_ready = task
    begin_to_wait(cluster, replica, task)


@step
def last_ready_before(cluster: Cluster, task: int, order: int) -> int:
    """From a decode of the list on, the last that arrived before an order."""
    after = task_at(cluster, task).next_ready
    while after != NONE and order_of(cluster, after) < order:
        task, after = after, task_at(cluster, after).next_ready
    return task


@step
def remove_ready(cluster: Cluster, replica: Replica, task: int) -> None:
    """The decode was selected."""
    before, after = task_at(cluster, task).previous_ready, task_at(cluster, task).next_ready
    if before == NONE:
        replica.first_ready = after
    else:
        task_at(cluster, before).next_ready = after
    if after == NONE:
        replica.last_ready = before
    else:
        task_at(cluster, after).previous_ready = before
    end_wait(cluster, replica, task)


@step
def first_waiting_task(cluster: Cluster, replica: Replica) -> int:
    """The first of the tasks that wait on a machine with no micro-batch in flight; in the simulator's order if that
    is kept, else by arrival."""
    if cluster.ageing == SPLITWISE_SIM:
        return replica.first_task
    return earlier(cluster, replica.first_prompt, replica.first_ready)


@step
def earlier(cluster: Cluster, prompt: int, decode: int) -> int:
    """That of two tasks which arrived first; either may be ``NONE``."""
    if prompt == NONE or (decode != NONE and order_of(cluster, decode) < order_of(cluster, prompt)):
        return decode
    return prompt
