"""Bubbles: a pipeline's stage stands idle although its replica has a micro-batch in flight. How long, and why.

Two micro-batches that follow each other on a stage may leave a gap there:

- *At the first stage*, where the later one begins when it is formed. While as many were in flight as there are stages,
  the end of the oldest was waited for: that one and the one that has left the stage are *uneven*. From that end on
  nothing could be formed: *unfilled*.
- *At a later stage*, where it begins when it has passed the stage before. By as much as it takes longer than the one
  before it, the two are *uneven*; the rest was a gap on the stage before, and keeps its causes.
- *After nothing was in flight* each stage waits for the first micro-batch to come: unfilled. *Before nothing is in
  flight* each stage waits after its last one until that has passed them all, with the causes of the first stage.

Uneven micro-batches are told by what they hold: both prompt tokens (*unequal prompts*), one of them (*prefill against
decode*), neither (*unequal decode contexts*). With one stage there are no bubbles.
"""

from __future__ import annotations

from simcore.engine.oracle.state import MicroBatch, Replica
from simcore.engine.outputs import BubbleCause
from simcore.latency.curve import BatchKind

Gap = list[tuple[BubbleCause, int]]
"""Its parts in the order of time: cause and ps."""


def note_gaps(replica: Replica, batch: MicroBatch, now: int) -> None:
    """The gap in front of a micro-batch on each stage. Called when it is formed and its starts are known, before it
    counts as in flight."""
    if replica.newest is None or replica.in_flight == 0:
        batch.gaps = [[(BubbleCause.UNFILLED, start - now)] for start in batch.starts_ps]
    else:
        batch.gaps = gaps_between(replica, replica.newest, batch)
    replica.newest = batch
    replica.full_until_ps = now


def gaps_between(replica: Replica, before: MicroBatch, batch: MicroBatch) -> list[Gap]:
    """Stage by stage, in front of a micro-batch that follows another in flight."""
    gaps: list[Gap] = []
    waiting = waiting_gap(replica, before, 0, batch.starts_ps[0])
    (_, waited), (_, unfilled) = waiting
    longer = 0
    for start, start_before in zip(batch.starts_ps, before.starts_ps, strict=True):
        gap = start - start_before - before.duration_ps
        kept = max(gap - longer, 0)
        unfilled = min(unfilled, kept)
        waited = min(waited, kept - unfilled)
        uneven_ps = gap - waited - unfilled
        gaps.append([(waiting[0][0], waited), (BubbleCause.UNFILLED, unfilled), (uneven(before, batch), uneven_ps)])
        longer = max(batch.duration_ps - before.duration_ps, 0)
    return gaps


def waiting_gap(replica: Replica, batch: MicroBatch, stage: int, until_ps: int) -> Gap:
    """From a micro-batch's end on a stage until a time, with no other formed: first for a place, then for work."""
    free_ps = batch.starts_ps[stage] + batch.duration_ps
    waited = min(max(replica.full_until_ps - free_ps, 0), until_ps - free_ps)
    cause = uneven(batch, replica.waited_for) if replica.waited_for else BubbleCause.UNFILLED
    return [(cause, waited), (BubbleCause.UNFILLED, until_ps - free_ps - waited)]


def uneven(one: MicroBatch, other: MicroBatch) -> BubbleCause:
    """The cause of a gap between micro-batches that take unlike times."""
    with_prompts = (one.kind != BatchKind.DECODE) + (other.kind != BatchKind.DECODE)
    return (
        BubbleCause.UNEQUAL_DECODE_CONTEXTS,
        BubbleCause.PREFILL_AGAINST_DECODE,
        BubbleCause.UNEQUAL_PROMPTS,
    )[with_prompts]


def count_bubbles(replica: Replica, batch: MicroBatch, now: int) -> None:
    """When a micro-batch ends, while it still counts as in flight: the gaps in front of it, up to now; and those after
    it if it was the last in flight."""
    for stage, (start, gap) in enumerate(zip(batch.starts_ps, batch.gaps, strict=True)):
        add_gap(replica, stage, gap, start - sum(ps for _, ps in gap), now)
    if replica.in_flight == replica.inputs.stages:
        replica.full_until_ps, replica.waited_for = now, batch
    elif replica.in_flight == 1:
        for stage, start in enumerate(batch.starts_ps):
            add_gap(replica, stage, waiting_gap(replica, batch, stage, now), start + batch.duration_ps, now)


def add_gap(replica: Replica, stage: int, gap: Gap, start_ps: int, now: int) -> None:
    """Its parts, as far as they lie before now."""
    for cause, ps in gap:
        replica.counters.bubble_ps[stage][cause] += max(min(start_ps + ps, now) - start_ps, 0)
        start_ps += ps
