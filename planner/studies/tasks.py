"""The worker's side of a study. The web process never imports this module: it brings the engine in."""

from collections.abc import Callable
from typing import Any

from planner.celery import app
from planner.studies import leases, planning, queue, store, turns, waves
from planner.studies.evaluating import evaluate_shard
from planner.studies.leases import Claim, Heartbeat, LeasedRow
from planner.studies.models import Shard, Study, Wave
from planner.studies.under_lease import under_lease
from simcore.engine.version import engine_version

GOES_ON_S = 30.0
"""A task goes on with what is queued for so long: no message has to travel between a shard and the next."""


@app.task(name=Wave.task_name)
def plan_wave(wave_id: str) -> None:
    """A wave is queued: plans it, or does what comes before it, and goes on (see turns)."""
    take_turns(Wave, wave_id)


@app.task(name=Shard.task_name)
def run_shard(shard_id: str) -> None:
    """A shard is queued: runs it, or does what comes before it, and goes on (see turns)."""
    take_turns(Shard, shard_id)


def take_turns(model: type[LeasedRow], row_id: str) -> None:
    """A message about a row: work on it, or on what comes before it, and go on."""
    row = leases.rows_of(model).filter(pk=row_id).first()
    if row is not None:
        turns.take_turns(row, work_on, GOES_ON_S)


def work_on(row: LeasedRow) -> None:
    """One row, as far as it can be claimed."""
    WORK[type(row)](row.pk)


def _plan_wave(wave_id: int) -> None:
    """Asks which designs are worth trying next, given what is known, and makes shards of those to be simulated."""
    held = leases.claim(Wave, wave_id)
    if held is None:
        return
    wave = Wave.objects.get(pk=held.row_id)
    study = Study.unscoped.get(pk=wave.study_id)

    def planned(heartbeat: Heartbeat) -> None:
        waves.carry_out(held, study, wave, planning.plan(study, engine_version(), heartbeat.check))
        store.evict()

    _work(held, study, planned, lambda reason: waves.fail_wave(held, study, reason))


def _run_shard(shard_id: int) -> None:
    """Evaluates the shard's designs that have not been tried yet."""
    held = leases.claim(Shard, shard_id)
    if held is None:
        return
    study = Study.unscoped.get(waves__shards=held.row_id)

    def evaluated(heartbeat: Heartbeat) -> None:
        if evaluate_shard(held, study, engine_version(), heartbeat.check):
            waves.end_shard(held, study)
        elif held.give_back():  # the others get their full time
            queue.send_id(Shard, held.row_id)

    _work(held, study, evaluated, lambda reason: waves.fail_shard(held, study, reason))


def _work(held: Claim, study: Study, work: Callable[[Heartbeat], None], fail: Callable[[str], None]) -> None:
    """Does the work where this engine may."""

    def allowed(heartbeat: Heartbeat) -> None:
        if waves.belongs_to(study, engine_version()):
            work(heartbeat)

    under_lease(held, study.pk, allowed, fail)


WORK: dict[type[LeasedRow], Callable[[Any], None]] = {Wave: _plan_wave, Shard: _run_shard}
"""What is done about a row of each model, given its id; other apps' tasks add theirs."""
