"""A question that was answered before, but for money: its designs and results are there, and nothing need be planned.

So a changed price, book or budget answers within the request that asks.
"""

from django.db.models import Exists, OuterRef
from django.utils import timezone

from planner.studies import stored
from planner.studies.leases import State
from planner.studies.models import Study, StudyDesign
from planner.studies.workers import engine_at_work

Origin = StudyDesign.Origin


def take_over(study: Study) -> bool:
    """Answers the study from its twin, where it has one; says whether it did."""
    twin = _twin(study)
    if twin is None or stored.damaged_rows(twin):
        return False
    rows = list(twin.designs.all())
    for row in rows:
        row.pk, row.study, row.shard = None, study, None
        row.origin = Origin.SCREENED if row.origin == Origin.SCREENED else Origin.KNOWN
    StudyDesign.objects.bulk_create(rows)
    study.state, study.engine_version = State.DONE, twin.engine_version
    study.started_at = study.finished_at = timezone.now()
    study.save(update_fields=["state", "engine_version", "started_at", "finished_at"])
    return True


def _twin(study: Study) -> Study | None:
    """The latest complete study of the same question but for money, by the engine that would answer this one."""
    engine_version = engine_at_work()
    if not engine_version:
        return None
    failed = StudyDesign.objects.filter(study=OuterRef("pk")).exclude(failure="")
    same = Study.unscoped.filter(question_key=study.question_key, engine_version=engine_version, state=State.DONE)
    return same.exclude(Exists(failed)).exclude(pk=study.pk).order_by("-finished_at").first()
