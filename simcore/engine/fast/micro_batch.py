"""One micro-batch: its time through the pipeline's stages, what it counts, what it draws."""

from __future__ import annotations

from simcore.engine.fast.bubbles import count_bubbles, note_gaps
from simcore.engine.fast.curve import chunk_ps
from simcore.engine.fast.energy import add_batch_energy
from simcore.engine.fast.flight_state import MicroBatch, flight_at, members_of, new_tokens_of, stage_starts_of, start_on
from simcore.engine.fast.group_state import Group, group_at
from simcore.engine.fast.iteration_log import log_iteration
from simcore.engine.fast.jit import step
from simcore.engine.fast.known import recall
from simcore.engine.fast.layout import numbers
from simcore.engine.fast.next_end import note_next_end
from simcore.engine.fast.replica_state import Replica, curve_at, stages_free_of, work_at
from simcore.engine.fast.request_state import Request, request_at
from simcore.engine.fast.state import Cluster
from simcore.engine.outputs import NEVER
from simcore.latency.curve import BatchKind

PREFILL, DECODE, HYBRID = int(BatchKind.PREFILL), int(BatchKind.DECODE), int(BatchKind.HYBRID)


@step
def next_flight(replica: Replica) -> int:
    """The row that the next micro-batch takes: of those that are free, that of the one which ended last, whose decodes
    it may take as a group."""
    return replica.free_flight


@step
def launch(cluster: Cluster, replica: Replica, members: int, now: int) -> None:
    """Send the micro-batch whose members were put in place through the stages."""
    flight = next_flight(replica)
    batch = flight_at(cluster, flight)
    batch.start_ps = first_start_ps(cluster, replica, now)
    group = group_at(cluster, flight)
    batch.first, batch.members = group.members, members - batch.grouped
    if batch.members == 0:
        count_group(cluster, replica, group, batch)
    else:
        count(cluster, replica, flight, batch)
    pass_stages(cluster, replica, flight, batch, now)
    enter_flight(cluster, replica, flight, batch)
    cluster.selections += 1
    cluster.active += 1
    cluster.failed_polls = 0


@step
def count_group(cluster: Cluster, replica: Replica, group: Group, batch: MicroBatch) -> None:
    """What ``count`` finds of a micro-batch of a group alone."""
    curve, decodes = curve_at(cluster, replica), group.members + group.kept
    known = recall(cluster, replica, DECODE, decodes)
    batch.kind, batch.steps, batch.live, batch.contexts = DECODE, 1, group.members, group.contexts
    batch.tokens, batch.power_mw = decodes, known.power_mw
    contexts_ps = curve.context_ps * (group.contexts + group.kept_contexts)
    batch.duration_ps = known.base_ps + contexts_ps + curve.decode_seq_ps * decodes
    work = work_at(cluster, replica, DECODE)
    work.busy_ps += batch.duration_ps * replica.stages
    work.iterations += 1
    work.decode_tokens += group.members
    work.context_tokens += group.contexts
    work.padding_tokens += group.kept


@step
def count(cluster: Cluster, replica: Replica, flight: int, batch: MicroBatch) -> None:
    """Find the micro-batch's kind, tokens, time and power, and add it to the replica's sums of its kind. Padding is
    what it computes for nobody."""
    curve = curve_at(cluster, replica)
    decodes, contexts, kept, kept_contexts = batch.grouped, 0, 0, 0
    new_tokens, chunks_ps, padding = 0, 0, 0
    prompt_ends, pairs, read_tokens = 0, 0, 0
    if batch.grouped > 0:
        group = group_at(cluster, flight)
        kept, kept_contexts = group.kept, group.kept_contexts
        decodes, contexts = decodes + kept, group.contexts + kept_contexts
    longest = longest_prompt(cluster, replica, flight, batch) if cluster.pad_compute > 0 else 0
    for i in range(batch.first, batch.first + batch.members):
        request = request_at(cluster, members_of(cluster, flight)[i])
        new = new_tokens_of(cluster, flight)[i]
        if new > 0:
            new_tokens += new
            padding += max(longest - new, 0)
            chunks_ps += chunk_ps(curve, max(new, longest), request.done_tokens)
            prompt_ends += int(request.done_tokens + new == request.target_tokens)
            pairs += request.done_tokens * new + new * (new + 1) // 2
            read_tokens += request.done_tokens
            if request.scheduled == 0:
                note_first_scheduled(cluster, request, batch.start_ps)
        else:
            decodes += 1
            contexts += context_tokens(request)
    batch.kind = kind_of(batch.grouped + kept + batch.members - decodes, decodes)
    batch.steps, batch.live, batch.contexts = 1, decodes - kept, contexts - kept_contexts
    batch.tokens = new_tokens + padding + decodes
    known = recall(cluster, replica, batch.kind, batch.tokens)
    batch.power_mw = known.power_mw
    batch.duration_ps = known.base_ps + chunks_ps + curve.context_ps * contexts + curve.decode_seq_ps * decodes
    work = work_at(cluster, replica, batch.kind)
    work.busy_ps += batch.duration_ps * replica.stages
    work.iterations += 1
    work.prefill_tokens += new_tokens
    work.prompt_ends += prompt_ends
    work.decode_tokens += decodes - kept
    work.prefill_pairs += pairs
    work.chunk_read_tokens += read_tokens
    work.context_tokens += contexts - kept_contexts
    work.padding_tokens += padding + kept


@step
def longest_prompt(cluster: Cluster, replica: Replica, flight: int, batch: MicroBatch) -> int:
    """The longest chunk of the micro-batch, which ``pad_compute`` computes the others as."""
    longest = 0
    for i in range(batch.first, batch.first + batch.members):
        longest = max(longest, new_tokens_of(cluster, flight)[i])
    return longest


@step
def kind_of(chunks: int, decodes: int) -> int:
    """The kind of a batch of so many prefill chunks and decodes."""
    if chunks > 0 and decodes > 0:
        return HYBRID
    return PREFILL if chunks > 0 else DECODE


@step
def context_tokens(request: Request) -> int:
    """Cached tokens that a decode reads: prompt + generated before this step - 1."""
    return request.prompt_tokens + request.generated - 1


@step
def first_start_ps(cluster: Cluster, replica: Replica, now: int) -> int:
    """When the first stage takes up what is formed now. A lone stage is free then."""
    return now if replica.stages == 1 else max(now, stages_free_of(cluster, replica)[0])


@step
def pass_stages(cluster: Cluster, replica: Replica, flight: int, batch: MicroBatch, now: int) -> None:
    """Give each stage its time: after the stage before, and after the micro-batch before."""
    batch.end_ps = batch.start_ps + batch.duration_ps
    if replica.stages == 1:
        return
    ready = now
    for stage in range(replica.stages):
        start = max(ready, stages_free_of(cluster, replica)[stage])
        ready = start + batch.duration_ps
        stages_free_of(cluster, replica)[stage] = ready
        stage_starts_of(cluster, flight)[stage] = start
    batch.end_ps = ready
    note_gaps(cluster, replica, flight, batch, now)


@step
def note_first_scheduled(cluster: Cluster, request: Request, start_ps: int) -> None:
    """The first iteration with any of a prompt starts when the first stage takes it up."""
    request.scheduled = 1
    numbers(cluster.first_scheduled_ps)[request.index] = start_ps


@step
def enter_flight(cluster: Cluster, replica: Replica, flight: int, batch: MicroBatch) -> None:
    """Behind those in flight. Its row is not free any more."""
    replica.free_flight = batch.following
    if replica.in_flight == 0:
        replica.first_flight = flight
    else:
        flight_at(cluster, replica.newest_flight).following = flight
    replica.newest_flight = flight
    replica.in_flight += 1


@step
def leave_flight(cluster: Cluster, replica: Replica) -> int:
    """Take the oldest micro-batch, which ends now, out of those in flight; returns its row, the first that is free."""
    flight = replica.first_flight
    batch = flight_at(cluster, flight)
    replica.first_flight = batch.following
    batch.following, replica.free_flight = replica.free_flight, flight
    replica.in_flight -= 1
    cluster.active -= 1
    cluster.busy_until_ps = batch.end_ps
    return flight


@step
def cut_short(cluster: Cluster, replica: Replica, now: int) -> None:
    """The replica of the oldest micro-batch fails: what its stages would have done from now on is taken off again; its
    tokens stay counted. A prompt whose first iteration was yet to be taken up has not been scheduled."""
    if replica.stages > 1:
        count_bubbles(cluster, replica, now)
    flight = leave_flight(cluster, replica)
    note_next_end(cluster, replica)
    cluster.busy_until_ps = now
    add_batch_energy(cluster, replica, flight, now)
    batch = flight_at(cluster, flight)
    log_iteration(cluster, replica, batch, now)
    work = work_at(cluster, replica, batch.kind)
    for stage in range(replica.stages):
        start = start_on(cluster, flight, batch, stage)
        work.busy_ps -= max(start + batch.duration_ps - max(start, now), 0)
    for i in range(batch.first, batch.first + batch.members):
        request = request_at(cluster, members_of(cluster, flight)[i])
        if numbers(cluster.first_scheduled_ps)[request.index] > now:
            numbers(cluster.first_scheduled_ps)[request.index] = NEVER
            request.scheduled = 0
