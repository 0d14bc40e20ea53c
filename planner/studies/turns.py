"""Whose turn it is. A message says that there is work; the rows say whose comes next.

Messages leave the broker in the order in which they were sent, so one study's hundred designs would keep a question
that is asked a moment later waiting for all of them. Studies take turns instead, a shard each: the one that was served
longest ago comes first, whatever the message that woke the worker was about.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from django.db.models import Max

from planner.studies import queue
from planner.studies.leases import LeasedRow, State
from planner.studies.models import Shard, Study, Wave

NEVER = datetime.min.replace(tzinfo=UTC)


def row_in_turn(row: LeasedRow) -> LeasedRow:
    """The queued row to work on now: ``row`` itself unless another study with queued work was served longer ago."""
    mine = _study_of(row)
    waiting = {study_id for study_id in _waiting_studies() if study_id != mine}
    if not waiting:
        return row
    served = {study_id: _last_served(study_id) for study_id in {*waiting, mine}}
    first = min(sorted(waiting), key=lambda study_id: served[study_id])
    if served[first] >= served[mine]:
        return row
    return _first_queued(first) or row


def take_turn(row: LeasedRow, work: Callable[[LeasedRow], None]) -> None:
    """Work on the row whose turn it is; where that is another's, ``row`` goes to the end of the queue."""
    chosen = row_in_turn(row)
    if chosen is not row:
        queue.send_id(type(row), row.pk)
    work(chosen)


def _waiting_studies() -> set[int]:
    waves = Wave.objects.filter(state=State.QUEUED).values_list("study_id", flat=True)
    shards = Shard.objects.filter(state=State.QUEUED).values_list("wave__study_id", flat=True)
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
