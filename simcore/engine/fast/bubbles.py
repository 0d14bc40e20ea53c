"""Bubbles: a stage idle although its replica has a micro-batch in flight; how long, and why (rules: the oracle's).

The gap in front of a micro-batch on a stage has three parts, in the order of time: waited for a place, unfilled, uneven
with the micro-batch before. They are kept with the micro-batch until it ends. Before most there is no gap.
"""

from __future__ import annotations

from simcore.engine.fast.flight_state import MicroBatch, flight_at, gaps_of, stage_starts_of
from simcore.engine.fast.jit import inlined, step
from simcore.engine.fast.layout import BYTES, numbers
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.state import GAP_PARTS, NONE, Cluster
from simcore.engine.outputs import BubbleCause
from simcore.latency.curve import BatchKind

DECODE = int(BatchKind.DECODE)
CAUSES = len(BubbleCause)
UNEQUAL_PROMPTS = int(BubbleCause.UNEQUAL_PROMPTS)
PREFILL_AGAINST_DECODE = int(BubbleCause.PREFILL_AGAINST_DECODE)
UNEQUAL_DECODE_CONTEXTS = int(BubbleCause.UNEQUAL_DECODE_CONTEXTS)
UNFILLED = int(BubbleCause.UNFILLED)
WAITED_PART, UNFILLED_PART, UNEVEN_PART = range(GAP_PARTS)


@step
def note_gaps(cluster: Cluster, replica: Replica, flight: int, batch: MicroBatch, now: int) -> None:
    """The gap in front of a micro-batch on each stage. Called when it is formed and its starts are known, before it
    counts as in flight."""
    if replica.in_flight == 0:
        batch.waited_cause = batch.uneven_cause = UNFILLED
        batch.gap_ps = 0
        for stage in range(replica.stages):
            gap = stage_starts_of(cluster, flight)[stage] - now
            batch.gap_ps += gap
            put_gap(gaps_of(cluster, flight), stage, 0, gap, 0)
    else:
        gaps_between(cluster, replica, replica.newest_flight, flight)
    replica.full_until_ps = now


@inlined
def put_gap(gaps: list[int], stage: int, waited: int, unfilled: int, uneven_ps: int) -> None:
    """The parts of a gap."""
    first = GAP_PARTS * stage
    gaps[first + WAITED_PART], gaps[first + UNFILLED_PART], gaps[first + UNEVEN_PART] = waited, unfilled, uneven_ps


@step
def gaps_between(cluster: Cluster, replica: Replica, flight_before: int, flight: int) -> None:
    """Stage by stage, in front of a micro-batch that follows another in flight."""
    before, batch = flight_at(cluster, flight_before), flight_at(cluster, flight)
    starts_before = stage_starts_of(cluster, flight_before)
    starts, gaps = stage_starts_of(cluster, flight), gaps_of(cluster, flight)
    waited, unfilled = waiting_gap(replica, starts_before[0] + before.duration_ps, starts[0])
    batch.waited_cause = uneven(before.kind, replica.waited_for_kind)
    batch.uneven_cause = uneven(before.kind, batch.kind)
    longer, total = 0, 0
    for stage in range(replica.stages):
        gap = starts[stage] - starts_before[stage] - before.duration_ps
        total += gap
        kept = max(gap - longer, 0)
        unfilled = min(unfilled, kept)
        waited = min(waited, kept - unfilled)
        put_gap(gaps, stage, waited, unfilled, gap - waited - unfilled)
        longer = max(batch.duration_ps - before.duration_ps, 0)
    batch.gap_ps = total


@step
def waiting_gap(replica: Replica, free_ps: int, until_ps: int) -> tuple[int, int]:
    """From a micro-batch's end on a stage until a time, with no other formed: first for a place, then for work."""
    waited = min(max(replica.full_until_ps - free_ps, 0), until_ps - free_ps)
    return waited, until_ps - free_ps - waited


@step
def uneven(kind: int, other: int) -> int:
    """The cause of a gap between micro-batches that take unlike times, by their kinds (``NONE``: there was none)."""
    if other == NONE:
        return UNFILLED
    if kind == DECODE and other == DECODE:
        return UNEQUAL_DECODE_CONTEXTS
    return PREFILL_AGAINST_DECODE if kind == DECODE or other == DECODE else UNEQUAL_PROMPTS


@step
def count_bubbles(cluster: Cluster, replica: Replica, now: int) -> None:
    """When the oldest micro-batch ends, while it still counts as in flight: the gaps in front of it, up to now; and
    those after it if it was the last in flight."""
    flight = replica.first_flight
    batch = flight_at(cluster, flight)
    if batch.gap_ps > 0:
        for stage in range(replica.stages):
            add_gap(cluster, replica, flight, stage, now)
    if replica.in_flight == replica.stages:
        replica.full_until_ps, replica.waited_for_kind = now, batch.kind
    elif replica.in_flight == 1:
        cause = uneven(batch.kind, replica.waited_for_kind)
        for stage in range(replica.stages):
            free_ps = stage_starts_of(cluster, flight)[stage] + batch.duration_ps
            waited, unfilled = waiting_gap(replica, free_ps, now)
            bubbles_of(cluster, replica, stage)[cause] += max(waited, 0)
            bubbles_of(cluster, replica, stage)[UNFILLED] += max(unfilled, 0)


@step
def add_gap(cluster: Cluster, replica: Replica, flight: int, stage: int, now: int) -> None:
    """Its parts, as far as they lie before now."""
    batch, gaps, first = flight_at(cluster, flight), gaps_of(cluster, flight), GAP_PARTS * stage
    waited, unfilled, uneven_ps = gaps[first + WAITED_PART], gaps[first + UNFILLED_PART], gaps[first + UNEVEN_PART]
    end_ps = stage_starts_of(cluster, flight)[stage]
    if end_ps > now:
        start_ps = end_ps - waited - unfilled - uneven_ps
        uneven_ps = part_before(start_ps + waited + unfilled, uneven_ps, now)
        unfilled = part_before(start_ps + waited, unfilled, now)
        waited = part_before(start_ps, waited, now)
    bubbles = bubbles_of(cluster, replica, stage)
    bubbles[batch.waited_cause] += waited
    bubbles[UNFILLED] += unfilled
    bubbles[batch.uneven_cause] += uneven_ps


@step
def part_before(start_ps: int, ps: int, now: int) -> int:
    """How much of a part lies before now."""
    return max(min(start_ps + ps, now) - start_ps, 0)


@step
def bubbles_of(cluster: Cluster, replica: Replica, stage: int) -> list[int]:
    """A stage's bubbles by cause."""
    return numbers(cluster.bubble_ps + BYTES * CAUSES * (cluster.most_stages * replica.index + stage))
