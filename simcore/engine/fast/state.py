"""What the engine keeps while a cluster runs: the oracle's ``state.py`` in flat tables of int64.

::

    Cluster            one row: the settings, how far the run is, and the address of everything below
      arrival_ps, prompt_tokens, ...  [N]  the trace, read when a request arrives
      first_scheduled_ps, ... [N]  the ``RequestResults``, begun when a request arrives: 48 bytes a request
      requests   [slots]         a Request each that is here; slots are what every queue holds, free ones in free_slots
      tasks      [2 x slots]     splitwise: a Task for each phase of a request
      replicas   [R]             a Replica each: heads of its queues (linked through Request and Task), counters
      next_ps    [R]             its next iteration end: the event queue is their minimum, kept flat (flat_minimum.py)
      loads      [3 x 3 x R]     what the router compares, by measure and pool, each a flat minimum too (loads.py)
      works      [R x kinds]     a Work for each kind of batch
      flights    [R x flights]   its MicroBatches, one a stage, linked: those in flight from Replica.first_flight on in
                                 the order in which they were formed, the free rows from Replica.free_flight on
      members    [R x flights x most]  the micro-batches' slots; new_tokens alike
      groups     [R x flights]   a Group each: decodes that are not walked; finish_steps, max_gaps_ps, .. [.. x most]
      running    [R x most]      slots admitted and not in flight; splitwise: tasks of the batch
      transfers  [slots + 1]     KV transfers under way, a heap by (end_ps, sequence)
      gaps                       a GapRun each (``gap_state.py``): runs of token gaps, thinned when full

Nothing here is allocated by compiled code. Where room may run out (slots, gaps, seconds), ``cluster.advance`` returns
between two events and ``room`` enlarges the table.
"""

from __future__ import annotations

from simcore.engine.fast.curve import Curve
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import BYTES, numbers, row_of, words
from simcore.latency.curve import BatchKind

FOREVER = 2**63 - 1
"""The time of an event that will not come."""
NONE = -1
"""No slot, no replica."""

PROMPT, DECODE = 0, 1
"""Phases of a request."""
KINDS_OF_BATCH = len(BatchKind)
GAP_PARTS = 3
"""Of the idle time in front of a micro-batch on a stage (see ``bubbles.py``)."""


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


class MicroBatch:
    """One micro-batch in flight."""

    following: int
    """The row of the one that was formed after it; of a free row, the next that is free."""
    grouped: int
    """Its decodes that are a group (see ``group.py``); 0: it has none, or they are listed."""
    first: int
    members: int
    """Where in the row of ``members_of`` its other members are, and how many."""
    kind: int
    tokens: int
    power_mw: int
    """Of one stage."""
    start_ps: int
    """When the first stage takes it up."""
    duration_ps: int
    """Of one stage."""
    end_ps: int
    """Of the last stage."""
    waited_cause: int
    uneven_cause: int
    """Causes of the gaps in front of it (see ``bubbles.py``), and"""
    gap_ps: int
    """all of them together."""
    steps: int
    """Iterations that it stands for, the one in progress included (see ``runs.py``)."""
    live: int
    """Decodes that get a token."""
    contexts: int
    """Cached tokens that those read in the iteration in progress."""


class WaitLimit:
    """How long the window's requests may wait (see ``give_up.py``)."""

    wait: int
    allowed: int
    """How many more may wait longer."""
    limit_ps: int
    """[window]"""


class Cluster:
    """Everything that compiled code works on, one row: settings, progress, addresses (see the module's drawing)."""

    kind: int
    token_budget: int
    max_batch_tokens: int
    max_batch_size: int
    block_tokens: int
    full_layers: int
    windowed_layers: int
    window_tokens: int
    reservation: int
    max_model_tokens: int
    mixed_pool: int
    chunked: int
    prompt_pending_limit: int
    padded_prompts: int
    preempt_when_full: int
    pad_compute: int
    keep_finished: int
    ageing: int
    decode_runs: int
    one_by_one: int
    router: int
    pool_order: int
    seed: int
    transfer_mode: int
    transfer_ps_per_token: int
    contention: int
    setup_ps: int
    transfer_block_tokens: int
    retry_ps: int
    layers: int
    first_in_window: int
    end_of_window: int

    arrived: int
    """Requests that have arrived."""
    next_arrival_ps: int
    next_transfer_ps: int
    next_poll_ps: int
    next_change_ps: int
    """When the next request arrives, a transfer ends, one polls, availability changes; FOREVER: no more."""
    end_ps: int
    """The last finish so far."""
    busy_until_ps: int
    """The last end of a micro-batch so far."""
    active: int
    """Micro-batches and transfers under way."""
    failed_polls: int
    """Polls in a row that found no room while nothing was under way."""
    finished: int
    """Requests that have finished."""
    selections: int
    """Micro-batches that were launched: not those that a run repeats (``runs.py``)."""
    sequence: int
    """Numbers transfers in the order in which they are started."""
    under_way: int
    """Length of the heap ``transfers``."""
    polling: int
    """Transfers that poll for room: a queue through ``Request.next_poll``, in the order of their time."""
    first_poll: int
    last_poll: int
    slots: int
    """Length of ``requests``."""
    routed: int
    """Requests that were given a replica, counted again when queued again."""
    changed: int
    """Changes of availability that have been handled."""
    displaced_count: int
    first_displaced: int
    last_displaced: int
    """Requests that lost a replica in this instant; the first and the last place in the trace among them."""
    unrouted: int
    first_unrouted: int
    last_unrouted: int
    """Requests that no replica which is up could hold, in the order in which they came here, linked through
    ``Request.next_waiting``."""
    due_count: int
    """Length of the list ``due``."""
    free_count: int
    """Length of the stack ``free_slots``."""
    gap_runs: int
    """Of the rows of ``gaps`` those that are used."""
    gap_runs_counted: int
    """Of these those of which the ones that grow are counted, too."""
    seconds: int
    """Length of ``energy_by_second_nj`` that is used."""
    chosen_tasks: int
    chosen_tokens: int
    chosen_free_blocks: int
    """Splitwise, a selection in the making: its length, its tokens, the blocks that it leaves."""
    chosen_of_batch: int
    """How many of it were in the batch before, and"""
    most_chosen: int
    """how many it may have."""
    selection: int
    """Its number, which ``Request.chosen`` is marked with."""

    most_stages: int
    most_flights: int
    """Rows of ``flights`` a replica: one a stage, and one for decodes that are set aside (``set_aside.py``)."""
    most_members: int
    """The strides of ``flights``, ``members`` and ``running``."""

    trace_requests: int
    """N."""
    replica_count: int
    """R."""
    ranges: int
    flat_length: int
    """Ranges and length of a flat minimum over the replicas (``flat_minimum.py``)."""
    kept_loads: int
    """Bits: which measures of load have rows (``loads.py``)."""
    smallest_kv_blocks: int
    """Of any replica."""
    largest_kv_blocks_up: int
    """Of the replicas that are up."""
    arrival_ps: int
    prompt_tokens: int
    output_tokens: int
    cached_prompt_tokens: int
    max_output_tokens: int
    first_scheduled_ps: int
    first_token_ps: int
    finish_ps: int
    max_gap_ps: int
    """``RequestResults``, [N] each; those that follow of 32 bits a number."""
    status: int
    prefill_replica: int
    decode_replica: int
    preemptions: int
    requests: int
    tasks: int
    transfers: int
    free_slots: int
    replicas: int
    built_replicas: int
    """The replicas as they were at the start."""
    changes: int
    """[changes x 3]: time, replica and state of each change of availability, in the order in which they are handled."""
    change_count: int
    displaced: int
    """[N]: a displaced request's slot + 1 at its place in the trace, else 0; empty where nothing changes."""
    next_ps: int
    loads: int
    due: int
    """Replicas to be looked at once this instant's events are handled."""
    flights: int
    members: int
    new_tokens: int
    running: int
    groups: int
    """[R x flights]: a Group each: the decodes of a micro-batch (drawn in ``group.py``), with its columns:"""
    finish_steps: int
    max_gaps_ps: int
    lasts_ps: int
    routed_ps: int
    growing: int
    """[R x flights x block_tokens] (drawn in ``growth.py``)."""
    chosen: int
    """[most]: the tasks of a splitwise selection in the making that are new in the batch."""
    pools: int
    """[3 x R]: replicas of the prefill, decode and mixed pool now, in the order of ``router_ties``."""
    pool_sizes: int
    next_in_turn: int
    """Round robin: the turn of each of the two stages of routing."""
    stage_free_ps: int
    """[R x stages]: when each stage has done all that was given to it."""
    stage_start_ps: int
    """[R x flights x stages]: when a stage takes a micro-batch up, where there is more than one."""
    gaps_ps: int
    """[R x flights x stages x GAP_PARTS]: idle time in front of a micro-batch, by part."""
    bubble_ps: int
    """[R x stages x causes]"""
    works: int
    """[R x kinds of batch]: a Work each."""
    curves: int
    curve_knots: int
    power_knots: int
    known: int
    """What was found of curves and power (``known.py``)."""
    gaps: int
    """Runs of token gaps."""
    gap_bins: int
    """How many gaps came, by their bin (``gap_scale.py``); below 0, from ``UNMARKED`` on, where its runs are not
    kept."""
    gap_room: int
    """Rows of ``gaps``."""
    wait_limits: int
    wait_limit_count: int
    gave_up: int
    energy_by_second_nj: int
    second_room: int
    """Its length, and"""
    second_room_ps: int
    """the end of its last second."""


cluster_row = row_of(Cluster)
request_row = row_of(Request)
task_row = row_of(Task)
transfer_row = row_of(Transfer)
replica_row = row_of(Replica)
work_row = row_of(Work)
LOST_FIELDS = list(Replica.__annotations__).index("due")
"""A replica's first fields: those that a loss sets back."""
REPLICA_BYTES = BYTES * len(Replica.__annotations__)
flight_row = row_of(MicroBatch)
curve_row = row_of(Curve)


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
def flight_at(cluster: Cluster, flight: int) -> MicroBatch:
    """A micro-batch in flight on a replica."""
    return flight_row(cluster.flights, flight)


@step
def work_at(cluster: Cluster, replica: Replica, kind: int) -> Work:
    """A replica's sums over its micro-batches of a kind."""
    return work_row(cluster.works, replica.index * KINDS_OF_BATCH + kind)


@step
def curve_at(cluster: Cluster, replica: Replica) -> Curve:
    """The curve of a replica."""
    return curve_row(cluster.curves, replica.curve)


@step
def members_of(cluster: Cluster, flight: int) -> list[int]:
    """The slots of a micro-batch's members."""
    return numbers(cluster.members + BYTES * flight * cluster.most_members)


@step
def new_tokens_of(cluster: Cluster, flight: int) -> list[int]:
    """The prompt tokens of each member of a micro-batch; 0: a decode."""
    return numbers(cluster.new_tokens + BYTES * flight * cluster.most_members)


@step
def start_on(cluster: Cluster, flight: int, batch: MicroBatch, stage: int) -> int:
    """When a stage takes a micro-batch up."""
    return batch.start_ps if stage == 0 else stage_starts_of(cluster, flight)[stage]


@step
def stage_starts_of(cluster: Cluster, flight: int) -> list[int]:
    """When each stage takes a micro-batch up, where there is more than one."""
    return numbers(cluster.stage_start_ps + BYTES * flight * cluster.most_stages)


@step
def gaps_of(cluster: Cluster, flight: int) -> list[int]:
    """The idle time in front of a micro-batch: GAP_PARTS numbers a stage."""
    return numbers(cluster.gaps_ps + BYTES * flight * cluster.most_stages * GAP_PARTS)


@step
def stages_free_of(cluster: Cluster, replica: Replica) -> list[int]:
    """When each stage has done all that was given to it."""
    return numbers(cluster.stage_free_ps + BYTES * replica.index * cluster.most_stages)


@step
def running_of(cluster: Cluster, replica: Replica) -> list[int]:
    """A replica's row of ``running``."""
    return numbers(cluster.running + BYTES * replica.index * cluster.most_members)


@step
def pool_of(cluster: Cluster, pool: int) -> list[int]:
    """The replicas of a pool, in its order."""
    return numbers(cluster.pools + BYTES * pool * cluster.replica_count)
