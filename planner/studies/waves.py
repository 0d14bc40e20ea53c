"""How a study goes on: waves of designs, the shards of a wave, and what comes when the last of them has ended.

Every step locks the study's row first, so that it is taken once, whichever worker comes last.
"""

from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.utils import timezone

from planner.studies import queue
from planner.studies.leases import Claim, LostClaimError, State
from planner.studies.models import Shard, Study, StudyDesign, Wave
from planner.studies.packed import pack
from planner.studies.planning import Plan
from simcore.evaluation import Design, Evaluation

ACTIVE = (State.QUEUED, State.RUNNING)
UNTRIED = StudyDesign.Origin.UNTRIED


def carry_out(held: Claim, study: Study, wave: Wave, plan: Plan) -> None:
    """Ends a wave's planning: what is known is written down, the rest becomes shards; without a rest the study is done.
    LostClaimError for a lost claim."""
    with transaction.atomic():
        study = locked(study)
        if not held.finish():
            raise LostClaimError(str(wave))
        study.designs.filter(origin=StudyDesign.Origin.SCREENED).delete()  # more is known now
        _add_found(study, plan)
        if plan.shards:
            _add_shards(study, wave, plan)
            move(study, State.RUNNING)
        else:
            move(study, State.DONE, finished_at=timezone.now())


def end_shard(held: Claim, study: Study) -> None:
    """Ends a shard, and with the wave's last one begins the next wave: in one transaction, so it happens once."""
    with transaction.atomic():
        study = locked(study)
        if held.finish():
            advance(study)


def fail_shard(held: Claim, study: Study, reason: str) -> None:
    """Gives a shard up: its untried designs have failed for this reason; the study goes on."""
    with transaction.atomic():
        study = locked(study)
        if held.fail(reason):
            StudyDesign.objects.filter(shard_id=held.row_id, origin=UNTRIED, failure="").update(failure=reason)
            advance(study)


def fail_wave(held: Claim, study: Study, reason: str) -> None:
    """The next designs cannot be chosen: the study has failed, and what it has computed stays."""
    with transaction.atomic():
        study = locked(study)
        if held.fail(reason):
            advance(study)


def advance(study: Study) -> None:
    """Moves a locked study on when nothing of it is queued or running any more."""
    shards = Shard.objects.filter(wave__study=study)
    if not study.is_active or shards.filter(state__in=ACTIVE).exists() or study.waves.filter(state__in=ACTIVE).exists():
        return
    last = study.waves.latest("number")
    if last.state == State.FAILED:
        move(study, State.FAILED, finished_at=timezone.now(), error=last.error)
    else:
        add_wave(study, last.number + 1)


def settle() -> None:
    """After a reaper has given rows up: their designs have failed, and studies that nothing moves go on."""
    given_up = StudyDesign.objects.filter(shard__state=State.FAILED, origin=UNTRIED, failure="")
    for pk, error in given_up.filter(study__state__in=ACTIVE).values_list("pk", "shard__error"):
        StudyDesign.objects.filter(pk=pk, origin=UNTRIED).update(failure=error)
    moving = Exists(Wave.objects.filter(study=OuterRef("pk"), state__in=ACTIVE))
    working = Exists(Shard.objects.filter(wave__study=OuterRef("pk"), state__in=ACTIVE))
    for study in Study.unscoped.filter(~moving, ~working, state__in=ACTIVE):
        with transaction.atomic():
            advance(locked(study))


def belongs_to(study: Study, engine_version: str) -> bool:
    """Whether this engine may work on the study; a new one becomes its own.

    An unfinished study of another engine begins again, and all claims on it are lost: results of two engine versions
    are never mixed in one.
    """
    with transaction.atomic():
        study = locked(study)
        if study.is_active and study.engine_version == "":
            move(study, State.RUNNING, engine_version=engine_version)
        elif study.is_active and study.engine_version != engine_version:
            move(study, State.QUEUED, engine_version=engine_version)
            study.designs.all().delete()
            study.waves.all().delete()
            add_wave(study, 0)
            return False
        return study.engine_version == engine_version


def add_wave(study: Study, number: int) -> None:
    queue.send(Wave.objects.create(study=study, number=number))


def _add_found(study: Study, plan: Plan) -> None:
    """Designs whose results other studies have found, and those that need not be simulated."""
    known = [_found_row(study, *found, StudyDesign.Origin.KNOWN) for found in plan.known]
    _add_rows(study, known + [_found_row(study, *found, StudyDesign.Origin.SCREENED) for found in plan.screened])


def _found_row(study: Study, design: Design, evaluation: Evaluation, origin: StudyDesign.Origin) -> StudyDesign:
    row, packed = _row(study, design), pack(replace(evaluation, cpu_s=0.0))
    row.result, row.result_checksum, row.origin = packed.data, packed.checksum, origin
    return row


def _add_shards(study: Study, wave: Wave, plan: Plan) -> None:
    rows = []
    for number, designs in enumerate(plan.shards):
        shard = Shard.objects.create(wave=wave, number=number)
        for design in designs:
            rows.append(_row(study, design))
            rows[-1].shard = shard
        queue.send(shard)
    _add_rows(study, rows)


def _row(study: Study, design: Design) -> StudyDesign:
    packed = pack(design)
    return StudyDesign(study=study, design_id=design.design_id, design=packed.data, design_checksum=packed.checksum)


def _add_rows(study: Study, rows: list[StudyDesign]) -> None:
    """At the end of the study's designs, in this order. Where a design was asked for less before, its row goes."""
    asked_before = {row.design_id for row in rows} & set(study.designs.values_list("design_id", flat=True))
    study.designs.filter(design_id__in=asked_before).delete()
    last = study.designs.aggregate(at=Max("order"))["at"]
    first = 0 if last is None else last + 1
    for index, row in enumerate(rows):
        row.order = first + index
    StudyDesign.objects.bulk_create(rows)


def locked(study: Study) -> Study:
    """The study as it is now, and nobody else's until the transaction ends (SQLite: one writer at a time anyway)."""
    return Study.unscoped.select_for_update().get(pk=study.pk)


def move(study: Study, state: State, **fields: Any) -> None:
    if state == State.RUNNING and study.started_at is None:
        fields["started_at"] = timezone.now()
    fields |= {"state": state, "updated_at": timezone.now()}
    for name, value in fields.items():
        setattr(study, name, value)
    study.save(update_fields=list(fields))
