"""A request loses the replica that it was to decode on, before its KV has moved there: what its prefill replica does.

The one place that takes a request out of the queues of a replica that is well, whatever its kind. A replica that fails
is emptied whole (``state.empty``).
"""

from __future__ import annotations

from simcore.engine.fast.blocks import give_back, routed_prompt_tokens
from simcore.engine.fast.due import make_due
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers, smalls
from simcore.engine.fast.lists import dequeue, remove_waiting
from simcore.engine.fast.loads import WAITING, add_pending, add_reserved, note_load
from simcore.engine.fast.names import CONTIGUOUS
from simcore.engine.fast.preemption import start_over
from simcore.engine.fast.queues import count_waiting_blocks, free_slot, remove_waiting_request
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.request_state import request_at, task_at
from simcore.engine.fast.running import remove_running
from simcore.engine.fast.state import DECODE, NONE, PROMPT, Cluster
from simcore.engine.fast.tokens import emit_token, end_prefill


@step
def end_displaced(cluster: Cluster, replica: Replica, slot: int, new: int, now: int) -> None:
    """The micro-batch ends in which it was then: its tokens appear; if they are not all, it is queued again."""
    request = request_at(cluster, slot)
    request.done_tokens += new
    finished = False
    if request.done_tokens == request.target_tokens:
        end_prefill(cluster, request)
        finished = emit_token(cluster, request, now)
    withdraw(cluster, replica, slot)
    if finished:
        free_slot(cluster, slot)
    else:
        release(cluster, slot)


@step
def withdraw(cluster: Cluster, replica: Replica, slot: int) -> None:
    """Take it out of the queues of its prefill replica, free its KV there, and have the router forget it there."""
    request = request_at(cluster, slot)
    if cluster.chunked > 0:
        leave_running(cluster, replica, slot)
    else:
        leave_tasks(cluster, replica, slot)
    give_back(replica, request)
    add_reserved(cluster, replica, -routed_prompt_tokens(request, cluster))
    if request.prefill_ended == 0:
        add_pending(cluster, replica, -request.target_tokens)


@step
def leave_tasks(cluster: Cluster, replica: Replica, slot: int) -> None:
    """Splitwise: a prompt that waits, or that was in a batch until now."""
    request, task = request_at(cluster, slot), 2 * slot + PROMPT
    if task_at(cluster, task).queued > 0:
        dequeue(cluster, replica, task)
        remove_waiting(cluster, replica, task)
        count_waiting_blocks(cluster, replica, request, -1)
    if request.displaced > 0 or request.prefill_ended == 0:
        replica.admitted -= 1


@step
def leave_running(cluster: Cluster, replica: Replica, slot: int) -> None:
    """Chunked: a prompt that waits, or is in progress and gives up its place."""
    request = request_at(cluster, slot)
    if request.displaced > 0:
        replica.admitted -= 1
    elif request.prefill_ended == 0 and request.blocks == 0:
        remove_waiting_request(cluster, replica, slot)
    elif request.prefill_ended == 0:
        if remove_running(cluster, replica, slot) < replica.left_over:
            replica.left_over -= 1
            note_load(cluster, replica, WAITING)
        replica.admitted -= 1


@step
def release(cluster: Cluster, slot: int) -> None:
    """It is on no replica any more, and starts over when it is queued again at the end of this instant's changes."""
    request = request_at(cluster, slot)
    start_over(cluster, request)
    request.prefill_replica = request.decode_replica = NONE
    smalls(cluster.prefill_replica)[request.index] = smalls(cluster.decode_replica)[request.index] = NONE
    request.sent_ps, request.sent_tokens = NONE, 0
    request.blocks = request.prefill_ended = request.sent_by_layer = request.sent_by_chunk = 0
    request.moved = request.displaced = 0
    for phase in (PROMPT, DECODE):
        task = task_at(cluster, 2 * slot + phase)
        task.queued = task.passes = 0
        task.since = NONE
    note_displaced(cluster, slot)


@step
def note_displaced(cluster: Cluster, slot: int) -> None:
    """Among those displaced in this instant, at its place in the trace."""
    index = request_at(cluster, slot).index
    numbers(cluster.displaced)[index] = slot + 1
    if cluster.displaced_count == 0:
        cluster.first_displaced = cluster.last_displaced = index
    cluster.first_displaced = min(cluster.first_displaced, index)
    cluster.last_displaced = max(cluster.last_displaced, index)
    cluster.displaced_count += 1


@step
def look_again(cluster: Cluster, replica: Replica) -> None:
    """Something was taken from a replica, which may let it do more: it looks at the end of this instant."""
    if cluster.decode_runs == CONTIGUOUS:
        replica.reselect = 1
    make_due(cluster, replica)
