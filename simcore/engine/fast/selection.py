"""Which tasks a machine of the splitwise kinds would run next (the six rules: the oracle's).

Nothing is changed here but ``Cluster.chosen``, where the tasks are put, and the marks on their requests.
"""

from __future__ import annotations

from simcore.engine.fast.blocks import admission_tokens, blocks_of, growth_blocks
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers
from simcore.engine.fast.names import CONTIGUOUS, NO_AGEING, SPLITWISE_SIM
from simcore.engine.fast.preemption import micro_batch_size
from simcore.engine.fast.state import DECODE, NONE, PROMPT, Cluster, Replica, Request, request_at, running_of, task_at

MOST_PASSES = 4
ADDED, CHOSEN_BEFORE, FULL, NO_ROOM = 0, 1, 2, 3


@step
def select(cluster: Cluster, replica: Replica) -> int:
    """Puts the tasks of the next batch in ``Cluster.chosen``, in the order of the rules; returns how many."""
    cluster.chosen_tasks, cluster.chosen_tokens, cluster.chosen_free_blocks = 0, 0, replica.free_blocks
    cluster.selection += 1
    add_aged(cluster, replica)
    add_queue(cluster, replica, replica.first_prompt)
    add_queue(cluster, replica, replica.first_interrupted)
    add_batch(cluster, replica)
    add_present(cluster, replica)
    if cluster.chosen_tasks == 0 and cluster.decode_runs != CONTIGUOUS:
        add_decodes_here(cluster, replica)
    return cluster.chosen_tasks


@step
def add_aged(cluster: Cluster, replica: Replica) -> None:
    """Rule 1, in the order of the waiting list. ``ageing`` ``splitwise-sim`` stops at the first below the limit."""
    ageing = cluster.ageing
    task = NONE if ageing == NO_AGEING else replica.first_task
    while task != NONE:
        if task_at(cluster, task).passes >= MOST_PASSES:
            if try_add(cluster, replica, task) == FULL:
                return
        elif ageing == SPLITWISE_SIM:
            return
        task = task_at(cluster, task).next_waiting


@step
def add_queue(cluster: Cluster, replica: Replica, first: int) -> None:
    """Rules 2 and 3: prompts, then interrupted decodes, up to the first misfit."""
    task = first
    while task != NONE:
        if try_add(cluster, replica, task) >= FULL:
            return
        task = task_at(cluster, task).next_queued


@step
def add_batch(cluster: Cluster, replica: Replica) -> None:
    """Rule 4."""
    for i in range(replica.running):
        if try_add(cluster, replica, running_of(cluster, replica)[i]) >= FULL:
            return


@step
def add_present(cluster: Cluster, replica: Replica) -> None:
    """Rule 5, of what is not in flight."""
    slot = replica.first_present
    while slot != NONE:
        request = request_at(cluster, slot)
        if request.in_flight == 0 and try_add(cluster, replica, next_task(cluster, replica, slot)) >= FULL:
            return
        slot = request.next_present


@step
def add_decodes_here(cluster: Cluster, replica: Replica) -> None:
    """Rule 6."""
    slot = replica.first_present
    while slot != NONE:
        request = request_at(cluster, slot)
        task = next_task(cluster, replica, slot)
        if request.in_flight == 0 and task & 1 == DECODE and try_add(cluster, replica, task) == FULL:
            return
        slot = request.next_present


@step
def try_add(cluster: Cluster, replica: Replica, task: int) -> int:
    """Add a task to the batch if its request is not in it yet, and there is a place, tokens and KV for it."""
    request = request_at(cluster, task >> 1)
    if cluster.chosen_tasks == micro_batch_size(cluster, replica):
        return FULL
    if request.chosen == cluster.selection:
        return CHOSEN_BEFORE
    tokens = task_tokens(request, task & 1)
    if cluster.chosen_tasks > 0 and cluster.chosen_tokens + tokens > cluster.max_batch_tokens:
        return FULL
    blocks = task_blocks(cluster, request, task & 1)
    if blocks > room(cluster, replica, task & 1):
        return NO_ROOM
    numbers(cluster.chosen)[cluster.chosen_tasks] = task
    request.chosen = cluster.selection
    cluster.chosen_tasks += 1
    cluster.chosen_tokens += tokens
    cluster.chosen_free_blocks -= blocks
    return ADDED


@step
def room(cluster: Cluster, replica: Replica, phase: int) -> int:
    """Blocks that a task may take: for a prompt what is above the watermark (a replica that holds nothing has none)."""
    if phase == DECODE or cluster.chosen_free_blocks == replica.kv_blocks:
        return cluster.chosen_free_blocks
    return max(cluster.chosen_free_blocks - replica.watermark_blocks, 0)


@step
def task_tokens(request: Request, phase: int) -> int:
    """What a task counts against max_batch_tokens."""
    return request.target_tokens - request.done_tokens if phase == PROMPT else 1


@step
def task_blocks(cluster: Cluster, request: Request, phase: int) -> int:
    """Blocks to take when the task starts; 0 for a decode that holds all it needs."""
    if phase == PROMPT:
        return blocks_of(admission_tokens(request, cluster), cluster)
    return growth_blocks(request, cluster)


@step
def next_task(cluster: Cluster, replica: Replica, slot: int) -> int:
    """A request's task that is next on this replica: its prompt until that has ended here."""
    request = request_at(cluster, slot)
    prompt_is_next = request.prefill_ended == 0 and request.prefill_replica == replica.index
    return 2 * slot + (PROMPT if prompt_is_next else DECODE)
