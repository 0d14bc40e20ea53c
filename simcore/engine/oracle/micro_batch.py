"""One micro-batch: its time through the pipeline's stages, what it counts, what it draws."""

from __future__ import annotations

import heapq

from simcore.engine.oracle.bubbles import count_bubbles, note_gaps
from simcore.engine.oracle.energy import add_batch_energy
from simcore.engine.oracle.iteration_log import log_iteration
from simcore.engine.oracle.state import ITERATION_END, Cluster, MicroBatch, Replica, Request
from simcore.engine.oracle.tokens import is_finished
from simcore.engine.outputs import NEVER
from simcore.latency.curve import BatchKind, batch_kind


def launch(cluster: Cluster, replica: Replica, members: list[Request], new_tokens: list[int], now: int) -> MicroBatch:
    """Send a micro-batch through the stages.

    Every stage is first in, first out and takes one micro-batch at a time, so that the end is known when it is formed.
    """
    decodes = new_tokens.count(0)
    kind = batch_kind(len(members) - decodes, decodes)
    computed = computed_tokens(cluster, new_tokens)
    batch = MicroBatch(members, new_tokens, kind, sum(computed) + decodes)
    batch.duration_ps = duration_ps(replica, members, computed, kind)
    pass_stages(replica, batch, now)
    if replica.inputs.stages > 1:
        note_gaps(replica, batch, now)
    count(replica, batch)
    note_first_scheduled(batch)
    replica.in_flight += 1
    cluster.active += 1
    cluster.failed_polls = 0
    cluster.sequence += 1
    heapq.heappush(cluster.events, (batch.end_ps, ITERATION_END, replica.index, cluster.sequence, replica.index, batch))
    return batch


def computed_tokens(cluster: Cluster, new_tokens: list[int]) -> list[int]:
    """What each prompt is computed as: with ``pad_compute`` as long as the longest (a batch's prompts run
    together)."""
    if cluster.inputs.scheduler.pad_compute:
        return [max(new_tokens)] * len(new_tokens)
    return new_tokens


def duration_ps(replica: Replica, members: list[Request], new_tokens: list[int], kind: BatchKind) -> int:
    """One stage's time: the curve's formula (``simcore.latency.curve``)."""
    curve = replica.inputs.curve
    decodes = new_tokens.count(0)
    total = base_ps(replica, kind, sum(new_tokens) + decodes) + curve.decode_seq_ps * decodes
    for request, new in zip(members, new_tokens, strict=True):
        if new:
            total += curve.chunk_ps(new, request.done_tokens)
        else:
            total += curve.context_ps * context_tokens(request)
    return total


def base_ps(replica: Replica, kind: BatchKind, tokens: int) -> int:
    """``curve.base_ps``, remembered."""
    key = (int(kind), tokens)
    if key not in replica.base_ps:
        replica.base_ps[key] = replica.inputs.curve.base_ps(kind, tokens)
    return replica.base_ps[key]


def context_tokens(request: Request) -> int:
    """Cached tokens that a decode reads: prompt + generated before this step - 1."""
    return request.prompt_tokens + request.generated - 1


def pass_stages(replica: Replica, batch: MicroBatch, now: int) -> None:
    """Give each stage its time: after the stage before, and after the micro-batch before."""
    ready = now
    for stage, free in enumerate(replica.stage_free_ps):
        start = max(ready, free)
        ready = start + batch.duration_ps
        replica.stage_free_ps[stage] = ready
        batch.starts_ps.append(start)
    batch.end_ps = ready


def count(replica: Replica, batch: MicroBatch) -> None:
    """Add the micro-batch to the replica's sums of its kind. Padding is what it computes for nobody."""
    counters, kind = replica.counters, batch.kind
    counters.busy_ps[kind] += batch.duration_ps * replica.inputs.stages
    counters.iterations[kind] += 1
    counters.padding_tokens[kind] += batch.tokens
    for request, new in zip(batch.members, batch.new_tokens, strict=True):
        if new:
            counters.prefill_tokens[kind] += new
            counters.prompt_ends[kind] += request.done_tokens + new == request.target_tokens
            counters.prefill_pairs[kind] += request.done_tokens * new + new * (new + 1) // 2
            counters.chunk_read_tokens[kind] += request.done_tokens
            counters.padding_tokens[kind] -= new
        elif not is_finished(request):
            counters.decode_tokens[kind] += 1
            counters.context_tokens[kind] += context_tokens(request)
            counters.padding_tokens[kind] -= 1


def note_first_scheduled(batch: MicroBatch) -> None:
    """The first iteration with any of a prompt starts when the first stage takes it up."""
    for request, new in zip(batch.members, batch.new_tokens, strict=True):
        if new and request.first_scheduled_ps == NEVER:
            request.first_scheduled_ps = batch.starts_ps[0]


def cut_short(cluster: Cluster, replica: Replica, batch: MicroBatch, now: int) -> None:
    """Its replica fails: what its stages would have done from now on is taken off again; its tokens stay counted.

    A prompt whose first iteration was yet to be taken up has not been scheduled.
    """
    if replica.inputs.stages > 1:
        count_bubbles(replica, batch, now)
    replica.in_flight -= 1
    cluster.active -= 1
    cluster.busy_until_ps = now
    add_batch_energy(cluster, replica, batch, now)
    log_iteration(cluster, replica, batch, now)
    for start in batch.starts_ps:
        replica.counters.busy_ps[batch.kind] -= max(start + batch.duration_ps - max(start, now), 0)
    for request in batch.members:
        if request.first_scheduled_ps > now:
            request.first_scheduled_ps = NEVER
