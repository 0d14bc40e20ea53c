"""What a visitor does to a study: start, cancel, retry."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.db.models import Max, Min
from django.utils import timezone

from planner.accounts import audit
from planner.accounts.models import User
from planner.accounts.owned import Visitor
from planner.catalogue.kept import NOTHING, Kept
from planner.scenarios.forms import clean_inputs
from planner.scenarios.lending import borrower
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import author, create_scenario, rows_now
from planner.scenarios.services import locked as locked_scenario
from planner.studies import leases, queue, stored, twins, waves
from planner.studies.leases import State
from planner.studies.models import Shard, Study, Wave
from planner.studies.spec import compile_question
from planner.studies.waves import ACTIVE, UNTRIED, locked, move
from simcore.keys import question_key
from simcore.spec import AlsoTry, encode


def start_study(user: Visitor, revision: Revision, also: tuple[AlsoTry, ...] = ()) -> Study:
    """A study of the revision, queued, or the one that is under way already. FieldErrors on bad inputs. ``also``: what
    to try beside what its search picks."""
    if not Scenario.objects.editable_by(user).filter(pk=revision.scenario_id).exists():
        raise PermissionDenied("You may read this question, but not start a study of it.")
    question = compile_question(borrower(author(user), revision.scenario), revision.inputs, revision.rows)
    spec = replace(question.spec, also=also)
    with transaction.atomic():
        locked_scenario(revision.scenario)  # nobody deletes it meanwhile
        Revision.objects.select_for_update().get(pk=revision.pk)  # a second press of the button waits here
        under_way = Study.unscoped.filter(revision=revision, state__in=ACTIVE).first()
        if under_way is not None:
            return under_way
        study = Study.objects.create(
            team=revision.scenario.team,
            created_by=author(user),
            revision=revision,
            workload=question.workload,
            spec=encode(spec),
            prices=encode(question.prices),
            trace_hash=question.trace_hash,
            question_key=question_key(spec, question.trace_hash),
        )
        if not twins.take_over(study):
            waves.add_wave(study, 0)
        told = {"revision": revision.number, "workload": question.workload.name, "also tried": encode(also)}
        _record(user, "started", study, audit.made(told))
    return study


@transaction.atomic
def ask_new(user: Visitor, data: Mapping[str, Any], kept: Kept = NOTHING) -> Study:
    """A study of a new question, or the asker's own under way that asks the very same; of the catalogue's rows kept, or
    of today's. FieldErrors on bad inputs."""
    inputs = clean_inputs(user, data, kept)
    rows = rows_now(user, inputs, kept)
    User.objects.select_for_update().get(pk=author(user).pk)  # a second press of the button waits here
    mine = Study.objects.editable_by(user).filter(created_by_id=user.pk, state__in=ACTIVE)
    for study in mine.select_related("revision"):
        if study.revision.inputs == inputs and study.revision.rows == rows:
            return study
    return start_study(user, create_scenario(user, data, kept=kept))


@transaction.atomic
def cancel(study: Study, by: Visitor) -> None:
    """Stops the study and keeps what is computed. Its tasks notice that their claim is gone and write nothing more."""
    study = locked(study)
    if study.is_active:
        before = study.state
        leases.cancel(Wave.objects.filter(study=study))
        leases.cancel(Shard.objects.filter(wave__study=study))
        move(study, State.CANCELLED, finished_at=timezone.now())
        _record(by, "cancelled", study, {"state": (before, study.state)})


@transaction.atomic
def retry(study: Study, by: Visitor) -> None:
    """Goes on where the study ended: what failed is tried again, what was cancelled is taken up."""
    study = locked(study)
    before = study.state
    if study.is_active:
        return
    damaged, _ = study.designs.filter(pk__in=stored.damaged_rows(study)).delete()  # a wave finds them wanting
    _forget_what_followed_a_failure(study)
    study.designs.exclude(failure="").update(failure="")
    shards = Shard.objects.filter(wave__study=study, designs__origin=UNTRIED).distinct()
    rows = [*shards, *study.waves.exclude(state=State.DONE)]
    if not rows and not damaged and study.state == State.DONE:
        return
    worked = {"worked_s": study.elapsed_s, "started_at": timezone.now(), "finished_at": None}
    move(study, State.RUNNING if study.designs.exists() else State.QUEUED, error="", **worked)
    for row in rows:
        leases.requeue(row)
        queue.send(row)
    if not rows:
        waves.advance(study)
    _record(by, "went on with", study, {"state": (before, study.state)})


def _forget_what_followed_a_failure(study: Study) -> None:
    """Later waves were chosen without the results that are now to come. The store has theirs, so this costs little, and
    the study ends as one in which nothing failed."""
    first = study.designs.exclude(failure="").aggregate(wave=Min("shard__wave"))["wave"]
    last = study.designs.filter(shard__wave=first).aggregate(order=Max("order"))["order"]
    if last is not None:
        study.designs.filter(order__gt=last).delete()


def _record(by: Visitor, action: str, study: Study, told: audit.Told) -> None:
    audit.record(study.team, by, action, study, told, name=str(study))


def editable(user: Visitor, study: Study) -> bool:
    rows: models.QuerySet[Study] = Study.objects.editable_by(user)
    return rows.filter(pk=study.pk).exists()
