"""What the engine keeps of a replica, and its sums of each kind of batch (drawn in ``state.py``)."""

from __future__ import annotations

from simcore.engine.fast.curve import Curve
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import BYTES, numbers, row_of, words
from simcore.engine.fast.state import KINDS_OF_BATCH, Cluster


class Replica:
    """One replica: inputs, KV blocks, queues, what the router knows of it, and ``ReplicaResults``'s sums."""

    index: int
    curve: int
    role: int
    stages: int
    micro_batch_size: int
    """Members that a micro-batch of it may have."""
    kv_blocks: int
    watermark_blocks: int
    transfer_ps_per_token: int
    first_power_knot: int
    power_knots: int
    known: int
    """Its table in ``Cluster.known``."""

    free_blocks: int
    in_flight: int
    first_flight: int
    newest_flight: int
    """Rows of the micro-batches in flight that were formed first and last."""
    admitted: int
    """Requests that hold KV blocks here, in flight or not; whole-prompt splitwise: those with a task here."""
    admissions: int
    """Requests admitted so far, each as often as it was."""
    running: int
    """Length of its row of ``running``."""
    waiting: int
    """Length of the waiting queue, linked through ``Request.next_waiting``."""
    first_waiting: int
    last_waiting: int
    waiting_blocks: int
    """Blocks that the prompts waiting here will take (for the router ``least_kv``)."""

    joining: int
    first_joining: int
    last_joining: int
    """Chunked: decodes whose KV has come and that have no place yet, linked through ``Request.next_waiting``."""
    left_over: int
    """Chunked: how many of ``running`` the last selection left over."""
    preempted: int
    """Preemptions so far."""

    tasks: int
    """Splitwise: tasks that wait, not in the batch."""
    first_task: int
    first_prompt: int
    last_prompt: int
    first_interrupted: int
    last_interrupted: int
    first_ready: int
    last_ready: int
    """Splitwise: ends of the lists of ``lists.py``."""
    selections: int
    """Splitwise: selections that counted passes."""
    tasks_in_flight: int
    """Splitwise: tasks of the micro-batches in flight."""
    reselect: int
    """Splitwise: the batch may not simply go on (prompts ended, a member finished, an interruption)."""

    pending_tokens: int
    reserved_tokens: int
    nic_free_ps: int
    inbound: int
    """Transfers to here under way."""
    inbound_waiting: int
    first_inbound: int
    last_inbound: int
    """Transfers to here that wait for room, first come first, linked through ``Request.next_waiting``."""
    polls: int
    """Transfers to here that poll for room."""

    full_until_ps: int
    """Until when as many micro-batches were in flight as there are stages: since the newest was formed at the
    earliest."""
    waited_for_kind: int
    """Kind of the micro-batch that ended then."""

    # a replica that has lost everything is as it was built, but for what follows
    due: int
    state: int
    pool: int
    """The pool that it is in (``pools.py``); NONE while it is not up."""
    idle_since_ps: int
    free_flight: int
    """The first free row of ``flights``: that of the micro-batch which ended last."""
    aside: int
    """The row for decodes that are set aside."""

    blocked_ps: int
    transfer_wait_ps: int
    nic_busy_ps: int
    peak_blocks: int
    energy_nj: int


class Work:
    """A replica's sums over its micro-batches of one kind, as in ``ReplicaResults``."""

    busy_ps: int
    iterations: int
    prefill_tokens: int
    prompt_ends: int
    decode_tokens: int
    prefill_pairs: int
    chunk_read_tokens: int
    context_tokens: int
    padding_tokens: int


replica_row = row_of(Replica)
work_row = row_of(Work)
curve_row = row_of(Curve)
LOST_FIELDS = list(Replica.__annotations__).index("due")
"""A replica's first fields: those that a loss sets back."""
REPLICA_BYTES = BYTES * len(Replica.__annotations__)


@step
def replica_at(cluster: Cluster, index: int) -> Replica:
    """A replica by its number."""
    return replica_row(cluster.replicas, index)


@step
def empty(cluster: Cluster, replica: Replica) -> None:
    """A replica that has lost everything: as it was built, but for what was measured."""
    index = replica.index
    lost = words(cluster.replicas + REPLICA_BYTES * index)
    built = words(cluster.built_replicas + REPLICA_BYTES * index)
    for field in range(LOST_FIELDS):
        lost[field] = built[field]
    for stage in range(replica.stages):
        stages_free_of(cluster, replica)[stage] = 0


@step
def work_at(cluster: Cluster, replica: Replica, kind: int) -> Work:
    """A replica's sums over its micro-batches of a kind."""
    return work_row(cluster.works, replica.index * KINDS_OF_BATCH + kind)


@step
def curve_at(cluster: Cluster, replica: Replica) -> Curve:
    """The curve of a replica."""
    return curve_row(cluster.curves, replica.curve)


@step
def stages_free_of(cluster: Cluster, replica: Replica) -> list[int]:
    """When each stage has done all that was given to it."""
    return numbers(cluster.stage_free_ps + BYTES * replica.index * cluster.most_stages)


@step
def running_of(cluster: Cluster, replica: Replica) -> list[int]:
    """A replica's row of ``running``."""
    return numbers(cluster.running + BYTES * replica.index * cluster.most_members)
