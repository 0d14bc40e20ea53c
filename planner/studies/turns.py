"""Whose turn it is. A message says that there is work; the rows say whose comes next.

Messages leave the broker in the order in which they were sent, so one study's hundred designs would keep a question
that is asked a moment later waiting for all of them. Studies take turns instead, a shard each: the one that was served
longest ago comes first, whatever the message that woke the worker was about. A worker that is awake goes on with what
is queued; messages about rows that are done by then wake another for nothing.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from django.db.models import Max

from planner.studies import queue
from planner.studies.leases import LeasedRow, State, rows_of
from planner.studies.models import Shard, Study, Wave

NEVER = datetime.min.replace(tzinfo=UTC)


def take_turns(row: LeasedRow, work: Callable[[LeasedRow], None], for_s: float) -> None:
    """Work on the row whose turn it is, then on the next, until so many seconds have passed or nothing is queued.

    Every queued row has a message: where ``row``, which this one was about, is still queued, it gets another.
    """
    end = time.monotonic() + for_s
    before: LeasedRow | None = None
    chosen: LeasedRow | None = row_in_turn(row)
    while chosen is not None and chosen != before:  # the same again: it cannot be taken
        served = _study_of(chosen)  # asked before: a study that begins anew throws its rows away
        work(chosen)
        before, chosen = chosen, next_row(served) if time.monotonic() < end else None
    if rows_of(type(row)).filter(pk=row.pk, state=State.QUEUED).exists():
        queue.send_id(type(row), row.pk)


def row_in_turn(row: LeasedRow) -> LeasedRow:
    """The queued row to work on now: ``row`` itself unless another study with queued work was served longer ago."""
    mine = _study_of(row)
    first = _study_in_turn(mine, {*_waiting_studies(), mine})
    return row if first == mine else _first_queued(first) or row


def next_row(mine: int) -> LeasedRow | None:
    """What is queued and comes next, whatever it is; None where nothing is. ``mine``: the study served just now."""
    waiting = _waiting_studies()
    return _first_queued(_study_in_turn(mine, waiting)) if waiting else None


def _study_in_turn(mine: int, waiting: set[int]) -> int:
    """The study that was served longest ago; ``mine`` among equals."""
    if len(waiting) == 1:
        return next(iter(waiting))
    return min(sorted(waiting), key=lambda study_id: (_last_served(study_id), study_id != mine))


def _waiting_studies() -> set[int]:
    waves = Wave.objects.filter(state=State.QUEUED).values_list("study_id", flat=True)
    shards = Shard.objects.filter(state=State.QUEUED).values_list("wave__study_id", flat=True).distinct()
    return {*waves, *shards}


def _last_served(study_id: int) -> datetime:
    found = Study.unscoped.filter(pk=study_id).aggregate(
        wave=Max("waves__started_at"), shard=Max("waves__shards__started_at")
    )
    return max(found["wave"] or NEVER, found["shard"] or NEVER)


def _first_queued(study_id: int) -> LeasedRow | None:
    wave = Wave.objects.filter(study_id=study_id, state=State.QUEUED).order_by("number").first()
    shards = Shard.objects.filter(wave__study_id=study_id, state=State.QUEUED)
    return wave or shards.order_by("wave__number", "number").first()


def _study_of(row: LeasedRow) -> int:
    if isinstance(row, Wave):
        return row.study_id
    return Wave.objects.values_list("study_id", flat=True).get(shards=row.pk)
