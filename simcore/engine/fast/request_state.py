"""What the engine keeps of a request that is here, its tasks, and KV transfers under way (drawn in ``state.py``)."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import row_of
from simcore.engine.fast.state import Cluster


class Request:
    """A request that has arrived and not finished. The first eight fields are what a decode step touches."""

    index: int
    """Its place in the trace."""
    target_tokens: int
    """Tokens to prefill: the prompt, and after a preemption the generated tokens as well."""
    done_tokens: int
    """Of ``target_tokens``, those whose KV is there."""
    prompt_tokens: int
    generated: int
    blocks: int
    """KV blocks held where it prefills, and later where it decodes."""
    last_token_ps: int
    max_gap_ps: int
    order: int
    """How many were routed before it: "by arrival" on a replica. One that is queued again has arrived again."""
    routed_ps: int
    """When it was: of those routed in one instant a running list keeps the order that it has."""
    output_tokens: int
    output_limit: int
    """What a reservation counts: ``max_output_tokens`` where given, else ``output_tokens``."""
    cached_tokens: int
    prefill_replica: int
    decode_replica: int
    prefill_ended: int
    admission: int
    """The number of its latest admission on its replica."""
    scheduled: int
    """Whether any of its prompt has been in an iteration."""
    inbound_blocks: int
    """KV blocks held at the decode replica for a transfer that has not ended."""
    sent_by_layer: int
    sent_by_chunk: int
    sent_tokens: int
    """Chunk-wise: what has been sent so far, in tokens of all layers, and"""
    sent_ps: int
    """when that has come."""
    sending: int
    """Whether its transfer waits for room, polls for it, or is under way (``transfer.py``)."""
    moved: int
    """Its KV has come to its decode replica: its prefill replica holds nothing of it any more."""
    displaced: int
    """Its decode's replica failed while it was in a micro-batch of its prefill's; queued again when that ends."""
    here: int
    """Whether the slot is taken."""
    phase: int
    """Of the steps at which it takes a block as a member of a group (see ``growth.py``)."""
    next_waiting: int
    """The next in its replica's waiting queue, or of those that no replica could hold; splitwise: the next transfer
    that waits for room there."""
    next_poll: int
    poll_ps: int
    """The next transfer that polls, and when this one does."""
    chosen: int
    """Splitwise: the last selection that chose a task of it."""


class Task:
    """Splitwise: one phase of a request; its row is 2 x slot + phase."""

    passes: int
    """Times passed over, without those of the wait in progress."""
    since: int
    """``Replica.selections`` when that began; NONE: it does not wait, or is not the next task of its request."""
    next_waiting: int
    previous_waiting: int
    queued: int
    next_queued: int
    previous_queued: int
    """A prompt's neighbours among the prompts that wait, a decode's among those interrupted."""
    next_ready: int
    previous_ready: int
    """Its neighbours in its replica's other lists (see ``lists.py``)."""


class Transfer:
    """A KV transfer under way."""

    end_ps: int
    sequence: int
    slot: int


request_row = row_of(Request)
task_row = row_of(Task)
transfer_row = row_of(Transfer)


@step
def request_at(cluster: Cluster, slot: int) -> Request:
    """The request in a slot."""
    return request_row(cluster.requests, slot)


@step
def task_at(cluster: Cluster, task: int) -> Task:
    """A task, 2 x slot + phase."""
    return task_row(cluster.tasks, task)


@step
def transfer_at(cluster: Cluster, place: int) -> Transfer:
    """A place of the heap of transfers."""
    return transfer_row(cluster.transfers, place)
