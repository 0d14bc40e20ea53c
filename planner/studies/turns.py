"""Whose turn it is. A message says that there is work; the rows say whose comes next.

Messages leave the broker in the order in which they were sent, so one study's hundred designs would keep a question
that is asked a moment later waiting for all of them. Studies take turns instead, a row each: the one that was served
longest ago comes first, whatever the message that woke the worker was about. Of a study's own rows analyses come before
shards, as somebody looks at them. A worker that is awake goes on with what
is queued; messages about rows that are done by then wake another for nothing.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.db.models import Max, QuerySet

from planner.studies import queue
from planner.studies.leases import LeasedRow, State, rows_of

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
    found: set[int] = set()
    for model in queue.leased_models():
        queued = rows_of(model).filter(state=State.QUEUED).order_by()
        found.update(queued.values_list(model.study_path, flat=True).distinct())
    return found


def _last_served(study_id: int) -> datetime:
    served = (_of_study(model, study_id).aggregate(at=Max("started_at"))["at"] for model in queue.leased_models())
    return max(at or NEVER for at in served)


def _first_queued(study_id: int) -> LeasedRow | None:
    for model in sorted(queue.leased_models(), key=lambda model: model.turn_place):
        queued = _of_study(model, study_id).filter(state=State.QUEUED).order_by(*model.turn_order)
        if row := queued.first():
            found: LeasedRow = row
            return found
    return None


def _of_study(model: type[LeasedRow], study_id: int) -> QuerySet[Any]:
    return rows_of(model).filter(**{model.study_path: study_id})


def _study_of(row: LeasedRow) -> int:
    found: int = rows_of(type(row)).values_list(row.study_path, flat=True).get(pk=row.pk)
    return found
