"""Which tasks a machine of the splitwise kinds would run next. Nothing is changed here.

In this order, of what is not in flight, within a micro-batch's share of max_batch_size and max_batch_tokens (a prompt
counts its new tokens, a decode one; the first task may exceed it):

1. tasks passed over 4 times or more; one whose KV does not fit is skipped;
2. prompts, first come first, stopping before the first that does not fit in tokens or KV;
3. interrupted decodes, in the order of their interruption;
4. the last batch's decodes: those left of micro-batches that have ended;
5. of each other request here the task that is next, by arrival, stopping at the first misfit (a waiting prompt is one);
6. where that chose nothing: decodes here, by arrival; one whose KV does not fit is skipped. Rule 1 may have let younger
   prompts pass an older one, which then waits for KV that their decodes hold, and would stop rule 5 for ever. Not with
   ``decode_runs`` ``contiguous``, for the simulator has no such rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from simcore.engine.inputs import SchedulerInputs
from simcore.engine.oracle.blocks import admission_tokens, blocks_of, growth_blocks
from simcore.engine.oracle.preemption import micro_batch_size
from simcore.engine.oracle.state import DECODE, PROMPT, Cluster, Replica, Request

MOST_PASSES = 4
ADDED, CHOSEN_BEFORE, FULL, NO_ROOM = 0, 1, 2, 3


@dataclass(slots=True)
class Selection:
    """The batch in the making."""

    tasks: list[int] = field(default_factory=list)
    requests: set[int] = field(default_factory=set)
    tokens: int = 0
    free_blocks: int = 0


def select(cluster: Cluster, replica: Replica) -> list[int]:
    """The tasks of the next batch, in the order of the rules."""
    chosen = Selection(free_blocks=replica.free_blocks)
    add_aged(cluster, replica, chosen)
    add_until_misfit(cluster, replica, chosen, replica.prompts)
    add_until_misfit(cluster, replica, chosen, replica.interrupted)
    add_until_misfit(cluster, replica, chosen, replica.batch)
    add_until_misfit(cluster, replica, chosen, next_tasks(cluster, replica))
    if not chosen.tasks and cluster.inputs.scheduler.decode_runs != "contiguous":
        add_decodes_here(cluster, replica, chosen)
    return chosen.tasks


def add_aged(cluster: Cluster, replica: Replica, chosen: Selection) -> None:
    """Rule 1, in the order of the waiting list. ``ageing`` ``splitwise-sim`` stops at the first task below the
    limit."""
    ageing = cluster.inputs.scheduler.ageing
    for task in replica.tasks if ageing != "none" else ():
        if passes(cluster, task) >= MOST_PASSES:
            if try_add(cluster, replica, chosen, task) == FULL:
                return
        elif ageing == "splitwise-sim":
            return


def add_until_misfit(cluster: Cluster, replica: Replica, chosen: Selection, tasks: Iterable[int]) -> None:
    """Rules 2 to 5."""
    for task in tasks:
        if try_add(cluster, replica, chosen, task) in (FULL, NO_ROOM):
            return


def add_decodes_here(cluster: Cluster, replica: Replica, chosen: Selection) -> None:
    """Rule 6."""
    for task in next_tasks(cluster, replica):
        if task % 2 == DECODE and try_add(cluster, replica, chosen, task) == FULL:
            return


def try_add(cluster: Cluster, replica: Replica, chosen: Selection, task: int) -> int:
    """Add a task to the batch if its request is not in it yet, and there is a place, tokens and KV for it."""
    scheduler = cluster.inputs.scheduler
    request = cluster.requests[task // 2]
    if len(chosen.tasks) == micro_batch_size(cluster, replica):
        return FULL
    if request.index in chosen.requests:
        return CHOSEN_BEFORE
    tokens = task_tokens(request, task % 2)
    if chosen.tasks and chosen.tokens + tokens > scheduler.max_batch_tokens:
        return FULL
    blocks = task_blocks(request, task % 2, scheduler)
    if blocks > room(replica, chosen, task % 2):
        return NO_ROOM
    chosen.tasks.append(task)
    chosen.requests.add(request.index)
    chosen.tokens += tokens
    chosen.free_blocks -= blocks
    return ADDED


def room(replica: Replica, chosen: Selection, phase: int) -> int:
    """Blocks that a task may take: for a prompt what is above the watermark (a replica that holds nothing has none)."""
    if phase == DECODE or chosen.free_blocks == replica.inputs.kv_blocks:
        return chosen.free_blocks
    return max(chosen.free_blocks - replica.watermark_blocks, 0)


def task_tokens(request: Request, phase: int) -> int:
    """What a task counts against max_batch_tokens."""
    return request.target_tokens - request.done_tokens if phase == PROMPT else 1


def task_blocks(request: Request, phase: int, scheduler: SchedulerInputs) -> int:
    """Blocks to take when the task starts; 0 for a decode that holds all it needs."""
    if phase == PROMPT:
        return blocks_of(admission_tokens(request, scheduler), scheduler)
    return growth_blocks(request, scheduler)


def next_tasks(cluster: Cluster, replica: Replica) -> list[int]:
    """By arrival, of each request here that is not in flight."""
    waiting = [index for index in replica.present if not cluster.requests[index].in_flight]
    return [next_task(cluster, replica, index) for index in waiting]


def next_task(cluster: Cluster, replica: Replica, index: int) -> int:
    """A request's task that is next on this replica: its prompt until that has ended here."""
    request = cluster.requests[index]
    prompt_is_next = not request.prefill_ended and request.prefill_replica == replica.index
    return 2 * index + (PROMPT if prompt_is_next else DECODE)


def passes(cluster: Cluster, task: int) -> int:
    """How often a task was passed over."""
    return cluster.requests[task // 2].passes[task % 2]
