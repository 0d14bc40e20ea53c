"""FasterTransformer: a batch is formed once, of waiting requests, and runs until all of them are finished.

Batches that are not in flight go on first, the first that came back first; with none, a new batch is formed: waiting
requests, first come first, up to max_batch_size whatever the number of stages, while there is KV for the reservation.
Nobody joins a batch. Its first iteration takes all its prompts, the others are decodes.

``pad_compute``: each prompt is computed as if it were as long as the longest of them (``micro_batch.py``).
``keep_finished``: the slot of a finished member goes on being computed as a decode, at the context at which it ended,
until all are finished; it gives no token. Else it drops out. KV is freed with the batch in both cases.
"""

from __future__ import annotations

from simcore.engine.oracle.blocks import give_back
from simcore.engine.oracle.preemption import admit_prompts
from simcore.engine.oracle.state import Cluster, MicroBatch, Replica, Request
from simcore.engine.oracle.tokens import advance, is_finished


def form(cluster: Cluster, replica: Replica) -> tuple[list[Request], list[int]]:
    """The next micro-batch's members and each one's new prompt tokens (0: a decode)."""
    if replica.batches:
        going_on = replica.batches.popleft()
        return going_on, [0] * len(going_on)
    members: list[Request] = []
    new_tokens: list[int] = []
    admit_prompts(cluster, replica, members, new_tokens)
    return members, new_tokens


def end_iteration(cluster: Cluster, replica: Replica, batch: MicroBatch, now: int) -> None:
    """Tokens appear; the batch goes on, or is dissolved where all its members are finished."""
    for request, new in zip(batch.members, batch.new_tokens, strict=True):
        request.done_tokens += new
        if not is_finished(request):
            advance(cluster, request, now)
    unfinished = [request for request in batch.members if not is_finished(request)]
    if not unfinished:
        dissolve(replica, batch.members)
    elif cluster.inputs.scheduler.keep_finished:
        replica.batches.append(batch.members)
    else:
        hand_on_blocks(replica, batch.members, unfinished[0])
        replica.batches.append(unfinished)


def dissolve(replica: Replica, members: list[Request]) -> None:
    """All of the batch's KV is freed."""
    for request in members:
        give_back(replica, request)
        replica.admitted -= 1


def hand_on_blocks(replica: Replica, members: list[Request], heir: Request) -> None:
    """What finished members held stays with the batch: its first unfinished member holds it."""
    for request in members:
        if is_finished(request):
            heir.blocks += request.blocks
            request.blocks = 0
            replica.admitted -= 1
