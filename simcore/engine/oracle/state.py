"""What the oracle keeps while a cluster runs: requests, replicas, events. Plain data; the rules are elsewhere."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from simcore.engine.inputs import ClusterInputs, ReplicaInputs
from simcore.engine.outputs import NEVER, UNFINISHED, BubbleCause
from simcore.spec import AvailabilityState

# Classes of events, in the order in which those of one instant are handled.
ITERATION_END, TRANSFER_END, TRANSFER_POLL = 0, 1, 2

PROMPT, DECODE = 0, 1
"""Phases of a request. A task of the splitwise kinds is ``2 * request + phase``."""


@dataclass(slots=True)
class Request:
    """One request: what it asks for, how far it is, what was measured."""

    index: int
    arrival_ps: int
    prompt_tokens: int
    output_tokens: int
    cached_tokens: int
    output_limit: int
    """What a reservation counts: ``max_output_tokens`` where given, else ``output_tokens``."""
    target_tokens: int
    """Tokens to prefill: the prompt, and after a preemption the generated tokens as well."""
    done_tokens: int
    """Of ``target_tokens``, those whose KV is there (the cached ones from the start)."""
    order: int = NEVER
    """How many were routed before it: "by arrival" on a replica. One that is queued again has arrived again."""
    routed_ps: int = NEVER
    """When it was: of those routed in one instant a running list keeps the order that it has."""
    generated: int = 0
    admission: int = 0
    """The number of its latest admission on its replica."""
    blocks: int = 0
    """KV blocks held where it prefills, and later where it decodes."""
    inbound_blocks: int = 0
    """KV blocks held at the decode replica for a transfer that has not ended."""
    prefill_ended: bool = False
    in_flight: bool = False
    """Splitwise: whether a task of it is in a micro-batch in flight."""
    sent_by_layer: bool = False
    sent_by_chunk: bool = False
    sent_tokens: int = 0
    """Chunk-wise: what has been sent so far, in tokens of all layers, and"""
    sent_ps: int = NEVER
    """when that has come."""
    moved: bool = False
    """Its KV has come to its decode replica: its prefill replica holds nothing of it any more."""
    displaced: bool = False
    """Its decode's replica failed while it was in a micro-batch of its prefill's; queued again when that ends."""
    passes: list[int] = field(default_factory=lambda: [0, 0])
    """Times passed over, by phase."""
    prefill_replica: int = NEVER
    decode_replica: int = NEVER
    status: int = UNFINISHED
    first_scheduled_ps: int = NEVER
    first_token_ps: int = NEVER
    last_token_ps: int = NEVER
    finish_ps: int = NEVER
    max_gap_ps: int = 0
    preemptions: int = 0


@dataclass(slots=True)
class MicroBatch:
    """One micro-batch in flight. ``new_tokens``: a member's prompt tokens in it, 0 for a decode."""

    members: list[Request]
    new_tokens: list[int]
    kind: int
    tokens: int
    """All that is computed in it: new tokens and decodes, with padding."""
    starts_ps: list[int] = field(default_factory=list)
    """By stage."""
    duration_ps: int = 0
    """Of one stage."""
    end_ps: int = 0
    """Of the last stage."""
    gaps: list[list[tuple[BubbleCause, int]]] = field(default_factory=list)
    """By stage, with more than one: the idle time in front of it (see ``bubbles.py``)."""

    @property
    def start_ps(self) -> int:
        """When the first stage takes it up."""
        return self.starts_ps[0]


@dataclass(slots=True)
class Counters:
    """A replica's sums, as in ``ReplicaResults``; lists are by ``BatchKind``, ``bubble_ps`` by stage and cause."""

    bubble_ps: list[list[int]]
    busy_ps: list[int] = field(default_factory=lambda: [0, 0, 0])
    iterations: list[int] = field(default_factory=lambda: [0, 0, 0])
    prefill_tokens: list[int] = field(default_factory=lambda: [0, 0, 0])
    prompt_ends: list[int] = field(default_factory=lambda: [0, 0, 0])
    decode_tokens: list[int] = field(default_factory=lambda: [0, 0, 0])
    prefill_pairs: list[int] = field(default_factory=lambda: [0, 0, 0])
    chunk_read_tokens: list[int] = field(default_factory=lambda: [0, 0, 0])
    context_tokens: list[int] = field(default_factory=lambda: [0, 0, 0])
    padding_tokens: list[int] = field(default_factory=lambda: [0, 0, 0])
    blocked_ps: int = 0
    transfer_wait_ps: int = 0
    nic_busy_ps: int = 0
    peak_blocks: int = 0
    energy_nj: int = 0


@dataclass(slots=True)
class Replica:
    """One replica: its KV blocks, queues, stages and what the router knows of it."""

    index: int
    inputs: ReplicaInputs
    free_blocks: int
    watermark_blocks: int
    stage_free_ps: list[int]
    """When each stage has done all that was given to it."""
    counters: Counters
    state: AvailabilityState = "up"
    in_flight: int = 0
    """Micro-batches formed and not ended."""
    admitted: int = 0
    """All kinds but whole-prompt splitwise: requests that hold KV blocks here, in flight or not. Chunked: prompts until
    they have ended, decodes that have a place."""
    admissions: int = 0
    """Requests admitted so far, each as often as it was."""
    waiting: deque[Request] = field(default_factory=deque)
    """All kinds but whole-prompt splitwise: not admitted, first come first (preempted ones in front)."""
    running: list[Request] = field(default_factory=list)
    """All kinds but whole-prompt splitwise and ``request_level``: admitted and not in flight, in the order they are
    looked at."""
    batches: deque[list[Request]] = field(default_factory=deque)
    """``request_level``: batches that are not in flight, the first that came back first."""
    joining: deque[Request] = field(default_factory=deque)
    """Chunked: decodes whose KV has come and that have no place yet, first come first."""
    left_over: int = 0
    """Chunked: how many of ``running`` the last selection left over."""

    tasks: list[int] = field(default_factory=list)
    """Splitwise: tasks that wait (not in the batch), in the order of ``ageing``."""
    prompts: deque[int] = field(default_factory=deque)
    """Splitwise: prompt tasks that wait, first come first."""
    interrupted: list[int] = field(default_factory=list)
    """Splitwise: decode tasks put out of the batch, in that order."""
    batch: list[int] = field(default_factory=list)
    """Splitwise: decodes left of micro-batches that have ended, and while one is formed its tasks."""
    tasks_in_flight: int = 0
    """Splitwise: tasks of the micro-batches in flight."""
    present: list[int] = field(default_factory=list)
    """Splitwise: requests with a task here, by arrival."""
    reselect: bool = False
    """Splitwise: the batch may not simply go on (prompts ended, a member finished, an interruption)."""

    pending_tokens: int = 0
    reserved_tokens: int = 0
    nic_free_ps: int = 0
    inbound: int = 0
    """Transfers to here under way."""
    inbound_waiting: deque[Request] = field(default_factory=deque)
    """Transfers to here that wait for room, first come first (``retry_ps`` 0)."""
    polls: int = 0
    """Transfers to here that poll for room."""
    idle_since_ps: int = 0
    newest: MicroBatch | None = None
    """The micro-batch formed last."""
    full_until_ps: int = 0
    """Until when as many were in flight as there are stages: since the newest was formed at the earliest."""
    waited_for: MicroBatch | None = None
    """The micro-batch that ended then."""
    base_ps: dict[tuple[int, int], int] = field(default_factory=dict)
    """Memory of ``curve.base_ps``."""


@dataclass(slots=True)
class Cluster:
    """Everything. ``events``: a heap of (time, class, key, sequence, replica, micro-batch or request)."""

    inputs: ClusterInputs
    requests: list[Request]
    replicas: list[Replica]
    prefill_pool: list[int]
    decode_pool: list[int]
    mixed_pool: list[int]
    """Replica indices of each pool now, in the order of ``router_ties``."""
    events: list[tuple[int, int, int, int, int, MicroBatch | Request]] = field(default_factory=list)
    sequence: int = 0
    changes: deque[tuple[int, int, AvailabilityState]] = field(default_factory=deque)
    """Changes of availability to come: (time, replica, state), in the order in which they are handled."""
    displaced: list[Request] = field(default_factory=list)
    """Requests that lost a replica in this instant."""
    routed: int = 0
    """Requests that were given a replica, counted again when queued again."""
    unrouted: deque[Request] = field(default_factory=deque)
    """Requests that no replica which is up could hold, in the order in which they came here."""
    due: set[int] = field(default_factory=set)
    """Replicas to be looked at once this instant's events are handled."""
    next_in_turn: list[int] = field(default_factory=lambda: [0, 0])
    """Round robin: the turn of each of the two stages of routing."""
    active: int = 0
    """Micro-batches and transfers under way in the whole cluster."""
    failed_polls: int = 0
    """Polls in a row that found no room while nothing was under way."""
    transfers: int = 0
    """KV transfers that were started."""
    busy_until_ps: int = 0
    """The last end of a micro-batch so far."""
    gaps: dict[int, int] = field(default_factory=dict)
    log: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    """Of the micro-batches logged: the columns of ``IterationLog``."""
    energy_by_second_nj: list[int] = field(default_factory=list)
    misses: list[int] = field(default_factory=list)
    """Requests that have waited longer than each of the wait limits allows them."""
    gave_up: bool = False
