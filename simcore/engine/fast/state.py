"""What the engine keeps while a cluster runs: the oracle's ``state.py`` in flat tables of int64. Here, the one record
from which all is found; the records of a request, a replica and a micro-batch are in ``request_state.py``,
``replica_state.py`` and ``flight_state.py``, a group's in ``group_state.py``, a run of gaps in ``gap_state.py``.

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

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import BYTES, numbers, row_of
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
    gap_places: int
    """Which row of ``gaps`` had a gap last (``gap_notes.py``): int32."""
    gap_room: int
    """Rows of ``gaps``."""
    wait_limits: int
    wait_limit_count: int
    gave_up: int
    log: int
    """A LoggedRun each (``iteration_log.py``), of"""
    log_rows: int
    """which so many would be used if there were room;"""
    log_room: int
    log_from_ps: int
    log_until_ps: int
    """what was under way within is logged."""
    energy_by_second_nj: int
    second_room: int
    """Its length, and"""
    second_room_ps: int
    """the end of its last second."""


cluster_row = row_of(Cluster)


@step
def pool_of(cluster: Cluster, pool: int) -> list[int]:
    """The replicas of a pool, in its order."""
    return numbers(cluster.pools + BYTES * pool * cluster.replica_count)
