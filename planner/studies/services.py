"""What is done to a study: start, cancel, retry; and how its waves follow each other."""

import logging
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from planner.accounts.owned import Visitor
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import author
from planner.studies import leases, queue
from planner.studies.leases import Claim, State
from planner.studies.models import Shard, Study, StudyDesign, Wave
from planner.studies.spec import compile_question
from simcore.evaluation import Design
from simcore.spec import encode

logger = logging.getLogger(__name__)

ACTIVE = (State.QUEUED, State.RUNNING)
SHARDS_A_WAVE = 16
MOST_DESIGNS_A_SHARD = 6


def start_study(user: Visitor, revision: Revision) -> Study:
    """A study of the revision, queued, or the one that is under way already. FieldErrors on bad inputs."""
    if not Scenario.objects.editable_by(user).filter(pk=revision.scenario_id).exists():
        raise PermissionDenied("You may read this question, but not start a study of it.")
    question = compile_question(user, revision.inputs)
    with transaction.atomic():
        Revision.objects.select_for_update().get(pk=revision.pk)  # a second press of the button waits here
        under_way = Study.unscoped.filter(revision=revision, state__in=ACTIVE).first()
        if under_way is not None:
            return under_way
        study = Study.objects.create(
            team=revision.scenario.team,
            created_by=author(user),
            revision=revision,
            workload=question.workload,
            spec=encode(question.spec),
            prices=encode(question.prices),
            trace_hash=question.trace_hash,
        )
        _add_wave(study, 0)
    return study


@transaction.atomic
def cancel(study: Study) -> None:
    """Stops the study and keeps what is computed. Its tasks notice that their claim is gone and write nothing more."""
    study = _locked(study)
    if study.is_active:
        leases.cancel(Wave.objects.filter(study=study))
        leases.cancel(Shard.objects.filter(wave__study=study))
        _move(study, State.CANCELLED, finished_at=timezone.now())


@transaction.atomic
def retry(study: Study) -> None:
    """Goes on where the study ended: what failed is tried again, what was cancelled is taken up."""
    study = _locked(study)
    if study.is_active:
        return
    study.designs.exclude(failure="").update(failure="")
    shards = Shard.objects.filter(wave__study=study, designs__evaluation=None).distinct()
    waves = study.waves.exclude(state=State.DONE)
    rows = [*shards, *waves]
    if not rows and study.state == State.DONE:
        return
    _move(study, State.RUNNING if study.designs.exists() else State.QUEUED, finished_at=None, error="")
    for row in rows:
        leases.requeue(row)
        queue.send(row)
    if not rows:
        advance(study)


def plan_designs(held: Claim, study: Study, wave: Wave, designs: Iterable[Design]) -> None:
    """Ends a wave's planning: the designs become shards; none ends the study. LostClaimError for a lost claim."""
    with transaction.atomic():
        study = _locked(study)
        known = set(study.designs.values_list("design_id", flat=True))
        new = [design for design in designs if design.design_id not in known]
        if not held.finish():
            raise leases.LostClaimError(str(wave))
        if not new:
            _move(study, State.DONE, finished_at=timezone.now())
            return
        _add_shards(study, wave, new, first=len(known))
        _move(study, State.RUNNING)


def end_shard(held: Claim, study: Study) -> None:
    """Ends a shard, and with the wave's last one begins the next wave: in one transaction, so it happens once."""
    with transaction.atomic():
        study = _locked(study)
        if held.finish():
            advance(study)


def fail_shard(held: Claim, study: Study, reason: str) -> None:
    """Gives a shard up: its untried designs have failed for this reason; the study goes on."""
    with transaction.atomic():
        study = _locked(study)
        if held.fail(reason):
            StudyDesign.objects.filter(shard_id=held.row_id, evaluation=None, failure="").update(failure=reason)
            advance(study)


def fail_wave(held: Claim, study: Study, reason: str) -> None:
    """The next designs cannot be chosen: the study has failed, and what it has computed stays."""
    with transaction.atomic():
        study = _locked(study)
        if held.fail(reason):
            advance(study)


def advance(study: Study) -> None:
    """Moves a locked study on when nothing of it is queued or running any more."""
    shards = Shard.objects.filter(wave__study=study)
    if not study.is_active or shards.filter(state__in=ACTIVE).exists() or study.waves.filter(state__in=ACTIVE).exists():
        return
    last = study.waves.latest("number")
    if last.state == State.FAILED:
        _move(study, State.FAILED, finished_at=timezone.now(), error=last.error)
    else:
        _add_wave(study, last.number + 1)


def settle() -> None:
    """After a reaper has given rows up: their designs have failed, and studies that nothing moves go on."""
    given_up = StudyDesign.objects.filter(shard__state=State.FAILED, evaluation=None, failure="")
    for design in given_up.filter(study__state__in=ACTIVE).select_related("shard"):
        StudyDesign.objects.filter(pk=design.pk, evaluation=None).update(failure=design.shard.error)
    moving = Exists(Wave.objects.filter(study=OuterRef("pk"), state__in=ACTIVE))
    working = Exists(Shard.objects.filter(wave__study=OuterRef("pk"), state__in=ACTIVE))
    for study in Study.unscoped.filter(~moving, ~working, state__in=ACTIVE):
        with transaction.atomic():
            advance(_locked(study))


@transaction.atomic
def restart(study: Study, engine_version: str) -> None:
    """Begins an unfinished study again: results of two engine versions are never mixed in one."""
    study = _locked(study)
    if not study.is_active or study.engine_version == engine_version:
        return
    first = study.engine_version == ""
    _move(study, State.RUNNING if first else State.QUEUED, engine_version=engine_version)
    if not first:
        study.waves.all().delete()
        _add_wave(study, 0)


def _add_wave(study: Study, number: int) -> None:
    queue.send(Wave.objects.create(study=study, number=number))


def _add_shards(study: Study, wave: Wave, designs: list[Design], first: int) -> None:
    order = {design.design_id: first + index for index, design in enumerate(designs)}
    size = min(MOST_DESIGNS_A_SHARD, -(-len(designs) // SHARDS_A_WAVE))
    dearest_first = sorted(designs, key=_machines, reverse=True)  # so that the wave's end is not one long shard
    for number, start in enumerate(range(0, len(designs), size)):
        shard = Shard.objects.create(wave=wave, number=number)
        StudyDesign.objects.bulk_create(
            StudyDesign(
                study=study,
                shard=shard,
                design_id=design.design_id,
                order=order[design.design_id],
                design=encode(design),
            )
            for design in dearest_first[start : start + size]
        )
        queue.send(shard)


def _machines(design: Design) -> int:
    return sum(pool.machines or pool.replicas or 1 for pool in design.case.pools)


def _locked(study: Study) -> Study:
    """The study as it is now, and nobody else's until the transaction ends (SQLite: one writer at a time anyway)."""
    return Study.unscoped.select_for_update().get(pk=study.pk)


def _move(study: Study, state: State, **fields: Any) -> None:
    if state == State.RUNNING and study.started_at is None:
        fields["started_at"] = timezone.now()
    for name, value in {"state": state, **fields}.items():
        setattr(study, name, value)
    study.save(update_fields=["state", *fields])


def editable(user: Visitor, study: Study) -> bool:
    rows: models.QuerySet[Study] = Study.objects.editable_by(user)
    return rows.filter(pk=study.pk).exists()
