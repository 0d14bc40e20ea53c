"""The batch of a splitwise machine: its group (``group.py``), or with pipeline stages the tasks listed in ``running``.

The oracle has this in ``splitwise.py``.
"""

from __future__ import annotations

from simcore.engine.fast.blocks import take
from simcore.engine.fast.group import cut_group, join_group
from simcore.engine.fast.group_state import group_at, slots_of
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers
from simcore.engine.fast.lists import (
    dequeue,
    end_wait,
    enqueue,
    insert_ready_near,
    insert_waiting,
    remove_ready,
    remove_waiting,
)
from simcore.engine.fast.names import CONTIGUOUS
from simcore.engine.fast.queues import count_waiting_blocks
from simcore.engine.fast.replica_state import Replica, running_of
from simcore.engine.fast.request_state import request_at
from simcore.engine.fast.running import append_running
from simcore.engine.fast.selection import task_blocks
from simcore.engine.fast.state import DECODE, PROMPT, Cluster


@step
def is_contiguous(cluster: Cluster) -> bool:
    """Whether decode-only batches are interrupted by the simulator's rules."""
    return cluster.decode_runs == CONTIGUOUS


@step
def has_group(replica: Replica) -> bool:
    """Whether the decodes of the batch are a group."""
    return replica.stages == 1


@step
def batch_size(cluster: Cluster, replica: Replica) -> int:
    """Tasks of the batch that are not in flight: between two iterations the decodes of the group and what is listed."""
    return replica.running + (group_at(cluster, replica.free_flight).members if replica.in_flight == 0 else 0)


@step
def install(cluster: Cluster, replica: Replica) -> None:
    """Make the selection the batch: decodes left out are interrupted (keeping their KV), new tasks take their KV. Every
    next task of a request here that is neither in the batch nor in flight was passed over."""
    kept, started = cluster.chosen_of_batch, cluster.chosen_tasks - cluster.chosen_of_batch
    if kept < batch_size(cluster, replica):
        put_out_from(cluster, replica, kept)
    for i in range(started):
        start_task(cluster, replica, numbers(cluster.chosen)[i])
        join(cluster, replica, numbers(cluster.chosen)[i])
    if kept + started > 0 or is_contiguous(cluster):
        replica.selections += 1


@step
def join(cluster: Cluster, replica: Replica, task: int) -> None:
    """A task is in the batch: a decode in the group, where there is one. With a group, prompts are behind all decodes:
    what the tasks of one batch do when it ends does not depend on one another."""
    if task & 1 == DECODE and has_group(replica):
        join_group(cluster, group_at(cluster, replica.free_flight), task >> 1)
    else:
        append_running(cluster, replica, task)


@step
def put_out_from(cluster: Cluster, replica: Replica, kept: int) -> None:
    """The decodes of the batch behind the first so many are interrupted."""
    near = replica.last_ready
    if has_group(replica):
        group = group_at(cluster, replica.free_flight)
        for place in range(kept, group.members):
            near = put_out(cluster, replica, 2 * slots_of(cluster, group)[place] + DECODE, near)
        cut_group(cluster, group, kept)
    else:
        for i in range(kept, replica.running):
            near = put_out(cluster, replica, running_of(cluster, replica)[i], near)
        replica.running = kept


@step
def put_out(cluster: Cluster, replica: Replica, task: int, near: int) -> int:
    """A decode of the batch is interrupted; its place by arrival is looked for from another's on. Returns the task."""
    insert_waiting(cluster, replica, task)
    insert_ready_near(cluster, replica, task, near)
    enqueue(cluster, replica, task)
    return task


@step
def start_task(cluster: Cluster, replica: Replica, task: int) -> None:
    """Out of the queues, and its blocks taken."""
    request = request_at(cluster, task >> 1)
    remove_waiting(cluster, replica, task)
    dequeue(cluster, replica, task)
    if task & 1 == PROMPT:
        end_wait(cluster, replica, task)
        count_waiting_blocks(cluster, replica, request, -1)
    else:
        remove_ready(cluster, replica, task)
    blocks = task_blocks(cluster, request, task & 1)
    request.blocks += blocks
    take(replica, blocks)
