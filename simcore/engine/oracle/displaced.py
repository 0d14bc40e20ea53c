"""A request loses the replica that it was to decode on, before its KV has moved there: what its prefill replica does.

The one place that takes a request out of the queues of a replica that is well, whatever its kind. A replica that fails
is emptied whole (``setup.empty``).
"""

from __future__ import annotations

from simcore.engine.oracle.blocks import give_back, routed_prompt_tokens
from simcore.engine.oracle.preemption import start_over
from simcore.engine.oracle.state import PROMPT, Cluster, Replica, Request
from simcore.engine.oracle.tokens import emit_token, end_prefill
from simcore.engine.outputs import NEVER


def end_displaced(cluster: Cluster, replica: Replica, request: Request, new: int, now: int) -> None:
    """The micro-batch ends in which it was then: its tokens appear; if they are not all, it is queued again."""
    request.done_tokens += new
    finished = False
    if request.done_tokens == request.target_tokens:
        end_prefill(cluster, request)
        finished = emit_token(cluster, request, now)
    withdraw(cluster, replica, request)
    if not finished:
        release(cluster, request)


def withdraw(cluster: Cluster, replica: Replica, request: Request) -> None:
    """Take it out of the queues of its prefill replica, free its KV there, and have the router forget it there."""
    leave_tasks(replica, request)
    leave_running(cluster, replica, request)
    give_back(replica, request)
    replica.reserved_tokens -= routed_prompt_tokens(request, cluster.inputs.scheduler)
    if not request.prefill_ended:
        replica.pending_tokens -= request.target_tokens


def leave_tasks(replica: Replica, request: Request) -> None:
    """Splitwise: a prompt that waits, or that was in a batch until now."""
    task = 2 * request.index + PROMPT
    if task in replica.prompts:
        replica.prompts.remove(task)
        replica.tasks.remove(task)
    if request.index in replica.present:
        replica.present.remove(request.index)


def leave_running(cluster: Cluster, replica: Replica, request: Request) -> None:
    """Chunked: a prompt that waits, or is in progress and gives up its place."""
    if request in replica.waiting:
        replica.waiting.remove(request)
    if request in replica.running:
        replica.left_over -= replica.running.index(request) < replica.left_over
        replica.running.remove(request)
        replica.admitted -= 1
    elif cluster.inputs.scheduler.chunked and request.displaced:
        replica.admitted -= 1


def release(cluster: Cluster, request: Request) -> None:
    """It is on no replica any more, and starts over when it is queued again at the end of this instant's changes."""
    start_over(request)
    request.prefill_replica = request.decode_replica = NEVER
    request.blocks = request.sent_tokens = 0
    request.sent_ps = NEVER
    request.prefill_ended = request.sent_by_layer = request.sent_by_chunk = request.moved = request.displaced = False
    request.in_flight = False
    request.passes = [0, 0]
    cluster.displaced.append(request)


def look_again(cluster: Cluster, replica: Replica) -> None:
    """Something was taken from a replica, which may let it do more: it looks at the end of this instant."""
    replica.reselect |= cluster.inputs.scheduler.decode_runs == "contiguous"
    cluster.due.add(replica.index)
