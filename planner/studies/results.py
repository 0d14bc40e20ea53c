"""What a study says so far: its result with prices applied, its answer in words, its progress."""

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Literal

from django.db.models import Count, Max, Q

from planner.studies import stored, workers
from planner.studies.contexts import asked_of
from planner.studies.leases import State
from planner.studies.models import Study, StudyDesign
from simcore import explain
from simcore.answer.result import StudyResult
from simcore.answer.result import study_result as combine
from simcore.trust.outside import Asked
from simcore.words import listed

CACHED_STUDIES = 16
Origin = StudyDesign.Origin
ENDED_EARLY: dict[str, Literal["", "cancelled", "failed"]] = {State.CANCELLED: "cancelled", State.FAILED: "failed"}
TOTAL = Count("pk", filter=~Q(origin=Origin.SCREENED))
FAILED = Count("pk", filter=~Q(failure=""))
BY_ORIGIN = {origin.value: Count("pk", filter=Q(origin=origin)) for origin in Origin if origin != Origin.UNTRIED}


@dataclass(frozen=True, kw_only=True)
class Progress(explain.Progress):
    """How far a study is. ``total`` is what is planned so far: a later wave may add to it."""

    failed: int
    simulated: int
    """Designs simulated for this study; ``at_rate``: of which only the run at its rate was missing; ``known``: of which
    the store had all."""
    at_rate: int
    known: int
    screened: int
    """Designs that were not tried: bounds rule them out."""
    damaged: int
    """Stored results that were damaged, and computed again."""
    step: str
    """Another whenever there is another result, also where a design was asked again for more than was known of it."""
    elapsed_s: float
    phase: str
    is_active: bool

    @property
    def sources(self) -> str:
        """Where the results come from; empty where all were simulated for this study."""
        if not self.at_rate + self.known:
            return ""
        counted = {
            "simulated": self.simulated,
            "with a known capacity run at this rate alone": self.at_rate,
            "known before": self.known,
        }
        return listed([f"{number} {words}" for words, number in counted.items() if number])

    @property
    def damage(self) -> str:
        """What was found damaged in the store, as a sentence; mostly empty."""
        if self.damaged == 1:
            return "1 stored result was damaged and has been computed again."
        return f"{self.damaged} stored results were damaged and have been computed again." if self.damaged else ""


def progress(study: Study) -> Progress:
    counts = study.designs.aggregate(total=TOTAL, failed=FAILED, latest=Max("pk"), **BY_ORIGIN)
    total, failed = counts["total"], counts["failed"]
    tried = failed + counts[Origin.SIMULATED] + counts[Origin.AT_RATE] + counts[Origin.KNOWN]
    return Progress(
        tried=tried,
        total=total,
        ended=ENDED_EARLY.get(study.state, ""),
        failed=failed,
        simulated=counts[Origin.SIMULATED],
        at_rate=counts[Origin.AT_RATE],
        known=counts[Origin.KNOWN],
        screened=counts[Origin.SCREENED],
        damaged=study.damaged,
        step=f"{tried}-{failed}-{counts['latest'] or 0}",
        elapsed_s=study.elapsed_s,
        phase=_phase(study, tried, total),
        is_active=study.is_active,
    )


def study_result(study: Study, now: Progress | None = None) -> StudyResult:
    """Rows, frontiers and winner of what has been tried so far; computed once for each step of progress, and anew for
    a study that was tried again, or begun again by another engine. ``now``: its progress, where that is known."""
    now = now or progress(study)
    step = (study.state, study.finished_at, study.engine_version, now.step)
    return _study_result(study.pk, study.created_at, step)


def answer(study: Study) -> tuple[explain.AnswerLine, ...]:
    """The answer's lines, the same on page and API."""
    return explain.answer(study_result(study), how_far(study))


def headline(study: Study) -> str:
    """The answer in one short line, for lists of studies."""
    return explain.headline(study_result(study), how_far(study))


def how_far(study: Study, now: Progress | None = None) -> Progress | None:
    """What the answer must say about being incomplete; None for a finished study. ``now``: its progress, where that is
    known, so that a page says one number."""
    return None if study.state == State.DONE else now or progress(study)


@lru_cache(maxsize=CACHED_STUDIES)
def _study_result(study_id: int, created_at: datetime, step: tuple[Hashable, ...]) -> StudyResult:
    study = Study.unscoped.get(pk=study_id)
    designs, found = stored.designs_of(study), stored.evaluations_of(study)
    return combine(stored.spec_of(study), list(designs.values()), found, stored.prices_of(study), _asked(study))


def _asked(study: Study) -> Asked | None:
    """None where the workload is not what it was: then the study cannot go on either, which says so."""
    try:
        return asked_of(study)
    except ValueError:
        return None


def _waits_for() -> str:
    """Why a question is not being worked on yet."""
    ready = set(workers.alive().values_list("compiling", flat=True))
    if False in ready:
        return "waiting for a worker that is free"
    if ready:
        return "the worker gets its engine ready, which is compiled once for each version"
    return "waiting for a worker: none is running"


def _phase(study: Study, tried: int, total: int) -> str:
    if study.state == State.QUEUED:
        return _waits_for()
    if study.state == State.RUNNING:
        return f"{tried} of {total} designs tried" if tried < total else "choosing designs to try"
    tail = {State.DONE: "", State.CANCELLED: ", then cancelled", State.FAILED: ", then it failed"}[State(study.state)]
    return f"{tried} designs tried{tail}"
