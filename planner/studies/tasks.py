"""The worker's side of a study. The web process never imports this module: it brings the engine in."""

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError

from planner.celery import app
from planner.studies import leases, planning, queue, store, turns, waves
from planner.studies.evaluating import evaluate_shard, reason_of
from planner.studies.leases import Claim, Heartbeat, LeasedRow, LostClaimError
from planner.studies.models import Shard, Study, Wave
from simcore.engine.version import engine_version

logger = logging.getLogger(__name__)

DATABASE_AWAY = (OperationalError, InterfaceError)
"""No fault of the work: the lease runs out and the row is taken up again, three times at most."""
GOES_ON_S = 30.0
"""A task goes on with what is queued for so long: no message has to travel between a shard and the next."""


@app.task(name=Wave.task_name)
def plan_wave(wave_id: str) -> None:
    """A wave is queued: plans it, or does what comes before it, and goes on (see turns)."""
    _take_turns(Wave, wave_id)


@app.task(name=Shard.task_name)
def run_shard(shard_id: str) -> None:
    """A shard is queued: runs it, or does what comes before it, and goes on (see turns)."""
    _take_turns(Shard, shard_id)


def _take_turns(model: type[LeasedRow], row_id: str) -> None:
    row = leases.rows_of(model).filter(pk=row_id).first()
    if row is not None:
        turns.take_turns(row, work_on, GOES_ON_S)


def work_on(row: LeasedRow) -> None:
    """One row, as far as it can be claimed."""
    work = _plan_wave if isinstance(row, Wave) else _run_shard
    work(row.pk)


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
    """Does the work under its lease; where it cannot be done, says why."""
    with Heartbeat(held) as heartbeat:
        try:
            if waves.belongs_to(study, engine_version()):
                work(heartbeat)
        except LostClaimError:
            return
        except DATABASE_AWAY as error:
            logger.warning("the database went away during %s", held.name, exc_info=True)
            held.leave(f"the database could not be used ({error}).")
        except Exception as error:
            logger.exception("%s cannot be done", held.name)
            fail(reason_of(error))
