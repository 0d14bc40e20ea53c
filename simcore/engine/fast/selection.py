"""Which tasks a machine of the splitwise kinds would run next (the six rules: the oracle's), incrementally.

Nothing is changed here but ``Cluster.chosen``, where the tasks are put that the batch does not have yet, and the marks
on their requests. Of the batch itself its first ``Cluster.chosen_of_batch`` decodes stay: each takes one token and no
KV, for what a decode needs was taken when it started, and so all are chosen that there are places and tokens for. For
the same reason only prompts and decodes that have not started can lack KV.

What rules 1, 5 and 6 look for by arrival is in two lists that are kept so (``lists.py``): prompts and ready decodes.
"""

from __future__ import annotations

from simcore.engine.fast.blocks import admission_tokens, blocks_of, growth_blocks
from simcore.engine.fast.group_state import group_at
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers
from simcore.engine.fast.lists import earlier, passes
from simcore.engine.fast.names import CONTIGUOUS, NO_AGEING, SPLITWISE_SIM
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.request_state import Request, request_at, task_at
from simcore.engine.fast.state import DECODE, NONE, PROMPT, Cluster

MOST_PASSES = 4
ADDED, CHOSEN_BEFORE, FULL, NO_ROOM = 0, 1, 2, 3


@step
def select(cluster: Cluster, replica: Replica) -> None:
    """Puts the new tasks of the next batch in ``Cluster.chosen``, in the order of the rules. It has ``chosen_tasks``,
    with those that it keeps."""
    cluster.chosen_tasks, cluster.chosen_tokens, cluster.chosen_free_blocks = 0, 0, replica.free_blocks
    cluster.chosen_of_batch, cluster.most_chosen = 0, replica.micro_batch_size
    cluster.selection += 1
    if cluster.ageing == SPLITWISE_SIM:
        add_aged_in_front(cluster, replica)
    elif cluster.ageing != NO_AGEING:
        add_aged(cluster, replica)
    misfit = add_queue(cluster, replica, replica.first_prompt)
    add_queue(cluster, replica, replica.first_interrupted)
    add_batch(cluster, replica)
    add_ready(cluster, replica, misfit)
    if cluster.chosen_tasks == 0 and cluster.decode_runs != CONTIGUOUS:
        add_decodes_here(cluster, replica)


@step
def add_aged_in_front(cluster: Cluster, replica: Replica) -> None:
    """Rule 1 with ``ageing`` ``splitwise-sim``: in the order of its waiting list, up to the first below the limit."""
    task = replica.first_task
    while task != NONE and passes(cluster, replica, task) >= MOST_PASSES:
        if try_add(cluster, replica, task) == FULL:
            return
        task = task_at(cluster, task).next_waiting


@step
def add_aged(cluster: Cluster, replica: Replica) -> None:
    """Rule 1, by arrival. A prompt begins to wait when it arrives, so that the aged ones are the first of them."""
    prompt, decode = aged_prompt(cluster, replica, replica.first_prompt), aged(cluster, replica, replica.first_ready)
    task = earlier(cluster, prompt, decode)
    while task != NONE:
        if try_add(cluster, replica, task) == FULL:
            return
        if task == prompt:
            prompt = aged_prompt(cluster, replica, task_at(cluster, prompt).next_queued)
        else:
            decode = aged(cluster, replica, task_at(cluster, decode).next_ready)
        task = earlier(cluster, prompt, decode)


@step
def aged_prompt(cluster: Cluster, replica: Replica, task: int) -> int:
    """A prompt if it is aged: those behind it are not if it is not."""
    return task if task != NONE and passes(cluster, replica, task) >= MOST_PASSES else NONE


@step
def aged(cluster: Cluster, replica: Replica, task: int) -> int:
    """The first aged decode from one on."""
    while task != NONE and passes(cluster, replica, task) < MOST_PASSES:
        task = task_at(cluster, task).next_ready
    return task


@step
def add_queue(cluster: Cluster, replica: Replica, first: int) -> int:
    """Rules 2 and 3: prompts, then interrupted decodes, up to the first misfit, which is returned."""
    task = first
    while task != NONE and try_add(cluster, replica, task) < FULL:
        task = task_at(cluster, task).next_queued
    return task


@step
def add_batch(cluster: Cluster, replica: Replica) -> None:
    """Rule 4: the first decodes of the batch. Even one that exceeds ``max_batch_tokens`` if it is alone."""
    places = cluster.most_chosen - cluster.chosen_tasks
    tokens = cluster.max_batch_tokens - cluster.chosen_tokens
    if cluster.chosen_tasks == 0:
        tokens = max(tokens, 1)
    batch = replica.running + group_at(cluster, replica.free_flight).members
    cluster.chosen_of_batch = max(min(batch, places, tokens), 0)
    cluster.chosen_tasks += cluster.chosen_of_batch
    cluster.chosen_tokens += cluster.chosen_of_batch


@step
def add_ready(cluster: Cluster, replica: Replica, misfit: int) -> None:
    """Rule 5. The prompt that rule 2 stopped at does not fit now either, so that nothing younger is reached; what is
    left of the batch lacks a place or tokens, as then anything does."""
    decode = replica.first_ready
    while decode != NONE and earlier(cluster, misfit, decode) == decode:
        if try_add(cluster, replica, decode) >= FULL:
            return
        decode = task_at(cluster, decode).next_ready


@step
def add_decodes_here(cluster: Cluster, replica: Replica) -> None:
    """Rule 6. The batch has none, for its first decode would have been chosen."""
    decode = replica.first_ready
    while decode != NONE and try_add(cluster, replica, decode) != FULL:
        decode = task_at(cluster, decode).next_ready


@step
def try_add(cluster: Cluster, replica: Replica, task: int) -> int:
    """Add a task to the batch if its request is not in it yet, and there is a place, tokens and KV for it."""
    request = request_at(cluster, task >> 1)
    if cluster.chosen_tasks == cluster.most_chosen:
        return FULL
    if request.chosen == cluster.selection:
        return CHOSEN_BEFORE
    tokens = task_tokens(request, task & 1)
    if cluster.chosen_tasks > 0 and cluster.chosen_tokens + tokens > cluster.max_batch_tokens:
        return FULL
    blocks = task_blocks(cluster, request, task & 1)
    if blocks > room(cluster, replica, task & 1):
        return NO_ROOM
    numbers(cluster.chosen)[cluster.chosen_tasks - cluster.chosen_of_batch] = task
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
