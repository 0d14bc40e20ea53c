"""What a visitor does to an analysis: ask for it, or stop it."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from planner.accounts import audit
from planner.accounts.owned import Visitor
from planner.analyses.asking import NOTHING, Asked, ask
from planner.analyses.models import Analysis
from planner.studies import leases, queue
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.packed import pack
from simcore.analyses.key import code_version


def request(
    by: Visitor, study: Study, kind: str, parameters: Mapping[str, Any], supposed: Mapping[str, Any] = NOTHING
) -> Asked:
    """Has an analysis worked out, unless that is done or under way: one that failed or was cancelled is tried again.
    SpecError as ``ask``."""
    asked = ask(study, kind, parameters, supposed)
    if asked.predicted_s and asked.told is None:
        _send(by, asked, parameters)
    return ask(study, kind, parameters, supposed)


@transaction.atomic
def cancel(by: Visitor, asked: Asked) -> None:
    """Its task notices that its claim is gone, and writes nothing more. What it has simulated stays in the store."""
    row = Analysis.objects.filter(key=asked.key).first()
    if row is not None and leases.cancel(Analysis.objects.filter(pk=row.pk)):
        _record(by, "cancelled", asked, row, {"state": (row.state, State.CANCELLED)})


def _record(by: Visitor, action: str, asked: Asked, row: Analysis, told: audit.Told) -> None:
    """In the history of whose study it is: the row itself is shared by all whose question is the same."""
    study = asked.study
    name = f"{asked.kind.title}: {study}"
    audit.record(study.team, by, action, row, told, name=name, scenario_id=study.revision.scenario_id)


@transaction.atomic
def _send(by: Visitor, asked: Asked, parameters: Mapping[str, Any]) -> None:
    task = pack(asked.task)
    row, made = Analysis.objects.get_or_create(
        key=asked.key,
        defaults={
            "kind": asked.kind.name,
            "study": asked.study,
            "task": task.data,
            "task_checksum": task.checksum,
            "code_version": code_version(),
            "predicted_s": asked.predicted_s,
            "steps": asked.kind.steps(asked.task),
        },
    )
    if made:
        queue.send(row)
        _record(by, "had worked out", asked, row, audit.made(parameters))
    elif row.state not in (State.QUEUED, State.RUNNING):  # a done one that is asked for is damaged
        Analysis.objects.filter(pk=row.pk).update(study=asked.study, found=None, steps_done=0)
        leases.requeue(row)
        queue.send(row)
        _record(by, "had worked out again", asked, row, audit.made(parameters))


def leave(studies: QuerySet[Study]) -> None:
    """These studies are deleted: what was worked out for them goes on for another study of the same question, and stops
    where there is none."""
    mine = Analysis.objects.filter(study__in=studies)
    there = Study.unscoped.filter(revision__scenario__deleted_at=None).exclude(pk__in=studies.values("pk"))
    for key in set(mine.exclude(study__question_key="").values_list("study__question_key", flat=True)):
        other = there.filter(question_key=key).order_by("-pk").first()
        if other is not None:
            mine.filter(study__question_key=key).update(study=other)
    leases.cancel(mine)
