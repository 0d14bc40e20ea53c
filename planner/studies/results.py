"""What a study says so far: its result with prices applied, its answer in words, its progress."""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Literal

from django.db.models import Count, Q
from django.utils import timezone

from planner.studies import stored
from planner.studies.leases import State
from planner.studies.models import Study
from simcore import explain
from simcore.result import StudyResult
from simcore.result import study_result as combine

CACHED_STUDIES = 16
ENDED_EARLY: dict[str, Literal["", "cancelled", "failed"]] = {State.CANCELLED: "cancelled", State.FAILED: "failed"}
TOTAL, FAILED, FOUND = Count("pk"), Count("pk", filter=~Q(failure="")), Count("evaluation")


@dataclass(frozen=True, kw_only=True)
class Progress(explain.Progress):
    """How far a study is. ``total`` is what is planned so far: a later wave may add to it."""

    failed: int
    elapsed_s: float
    phase: str
    is_active: bool


def progress(study: Study) -> Progress:
    counts = study.designs.aggregate(total=TOTAL, failed=FAILED, found=FOUND)
    total, failed, tried = counts["total"], counts["failed"], counts["failed"] + counts["found"]
    return Progress(
        tried=tried,
        total=total,
        ended=ENDED_EARLY.get(study.state, ""),
        failed=failed,
        elapsed_s=_elapsed_s(study),
        phase=_phase(study, tried, total),
        is_active=study.is_active,
    )


def study_result(study: Study) -> StudyResult:
    """Rows, frontiers and winner of what has been tried so far; computed once for each step of progress."""
    now = progress(study)
    return _study_result(study.pk, study.created_at, study.state, now.tried, now.failed)


def answer(study: Study) -> tuple[explain.AnswerLine, ...]:
    """The answer's lines, the same on page and API."""
    return explain.answer(study_result(study), how_far(study))


def headline(study: Study) -> str:
    """The answer in one short line, for lists of studies."""
    return explain.headline(study_result(study), how_far(study))


def how_far(study: Study) -> Progress | None:
    """What the answer must say about being incomplete; None for a finished study."""
    return None if study.state == State.DONE else progress(study)


@lru_cache(maxsize=CACHED_STUDIES)
def _study_result(study_id: int, created_at: datetime, state: str, tried: int, failed: int) -> StudyResult:
    study = Study.unscoped.get(pk=study_id)
    rows = list(study.designs.select_related("evaluation"))
    found = {row.design_id: evaluation for row in rows if (evaluation := stored.evaluation_of(row)) is not None}
    designs = [stored.design_of(row) for row in rows if row.design_id in found]
    return combine(stored.spec_of(study), designs, found, stored.prices_of(study))


def _elapsed_s(study: Study) -> float:
    start = study.started_at or study.created_at
    return ((study.finished_at or timezone.now()) - start).total_seconds()


def _phase(study: Study, tried: int, total: int) -> str:
    if study.state == State.QUEUED:
        return "waiting for a worker"
    if study.state == State.RUNNING:
        return f"{tried} of {total} designs tried" if tried < total else "choosing designs to try"
    tail = {State.DONE: "", State.CANCELLED: ", then cancelled", State.FAILED: ", then it failed"}[State(study.state)]
    return f"{tried} designs tried{tail}"
