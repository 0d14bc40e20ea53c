"""The worker's side of a study. The web process never imports this module: it brings the engine in."""

import logging
from functools import lru_cache

from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError

from planner.celery import app
from planner.studies import leases, queue, stored, turns, waves
from planner.studies.leases import Claim, Heartbeat, LeasedRow, LostClaimError
from planner.studies.models import Evaluation, Shard, Study, StudyDesign, Wave
from planner.workloads.models import Workload
from simcore import study as search
from simcore.engine.version import engine_version
from simcore.evaluate import evaluate
from simcore.evaluation import Design
from simcore.evaluation import Evaluation as Result
from simcore.spec import encode
from simcore.study import Context
from simcore.traces import Trace

logger = logging.getLogger(__name__)

DATABASE_AWAY = (OperationalError, InterfaceError)
"""No fault of the work: the lease runs out and the row is taken up again, three times at most."""


@app.task(name=Wave.task_name)
def plan_wave(wave_id: str) -> None:
    """A wave is queued: plans it, or does what comes before it (see turns)."""
    _take_turn(Wave, wave_id)


@app.task(name=Shard.task_name)
def run_shard(shard_id: str) -> None:
    """A shard is queued: runs it, or does what comes before it (see turns)."""
    _take_turn(Shard, shard_id)


def _take_turn(model: type[LeasedRow], row_id: str) -> None:
    row = leases.rows_of(model).filter(pk=row_id).first()
    if row is None:
        return
    turns.take_turn(row, lambda chosen: (_plan_wave if isinstance(chosen, Wave) else _run_shard)(chosen.pk))


def _plan_wave(wave_id: int) -> None:
    """Asks which designs are worth trying next, given what is known, and makes shards of them."""
    held = leases.claim(Wave, wave_id)
    if held is None:
        return
    wave = Wave.objects.get(pk=held.row_id)
    study = Study.unscoped.get(pk=wave.study_id)
    with Heartbeat(held):
        try:
            if waves.belongs_to(study, engine_version()):
                designs = search.next_designs(_context(study), stored.evaluations_of(study))
                waves.plan_designs(held, study, wave, designs)
        except LostClaimError:
            return
        except DATABASE_AWAY:
            logger.warning("the database went away during wave %s", wave_id, exc_info=True)
        except Exception as error:
            logger.exception("wave %s cannot be planned", wave_id)
            waves.fail_wave(held, study, _reason(error))


def _run_shard(shard_id: int) -> None:
    """Evaluates the shard's designs that have not been tried yet."""
    held = leases.claim(Shard, shard_id)
    if held is None:
        return
    study = Study.unscoped.select_related("workload").get(waves__shards=held.row_id)
    with Heartbeat(held) as heartbeat:
        try:
            if waves.belongs_to(study, engine_version()):
                _evaluate_all(held, heartbeat, study)
        except LostClaimError:
            return
        except DATABASE_AWAY:
            logger.warning("the database went away during shard %s", shard_id, exc_info=True)
        except Exception as error:
            logger.exception("shard %s cannot be run", shard_id)
            waves.fail_shard(held, study, _reason(error))


def _evaluate_all(held: Claim, heartbeat: Heartbeat, study: Study) -> None:
    context = _context(study)
    # Where a design has killed two workers, the last one tries the others first.
    order = "-order" if held.attempt == leases.MAX_ATTEMPTS else "order"
    for row in StudyDesign.objects.filter(shard_id=held.row_id, evaluation=None, failure="").order_by(order):
        heartbeat.check()
        try:
            _evaluate_one(held, row, context)
        except SoftTimeLimitExceeded:
            _note_failure(held, row, "It took longer to simulate than a task may take.")
            if held.give_back():  # the others get their full time
                queue.send_id(Shard, held.row_id)
            return
    waves.end_shard(held, study)


def _evaluate_one(held: Claim, row: StudyDesign, context: Context) -> None:
    design = stored.design_of(row)
    key = search.evaluation_key(design, context, engine_version())
    known = Evaluation.objects.filter(key=key).first()
    if known is None:
        result = _evaluate(design, context)
        if result.status == "failed":
            _note_failure(held, row, result.reason)
            return
        known, _ = Evaluation.objects.get_or_create(
            key=key, defaults={"payload": encode(result), "engine_version": engine_version()}
        )
    with held.writing():
        StudyDesign.objects.filter(pk=row.pk).update(evaluation=known)


def _evaluate(design: Design, context: Context) -> Result:
    try:
        return evaluate(design, context)
    except SoftTimeLimitExceeded:
        raise
    except Exception as error:  # one design's trouble is not the study's
        logger.exception("design %s cannot be evaluated", design.design_id)
        return Result(design.design_id, "failed", _reason(error))


def _note_failure(held: Claim, row: StudyDesign, reason: str) -> None:
    with held.writing():
        StudyDesign.objects.filter(pk=row.pk).update(failure=reason or "It failed without saying why.")


def _context(study: Study) -> Context:
    return search.context(stored.spec_of(study), _trace_of(study.workload_id, study.trace_hash))


@lru_cache(maxsize=2)
def _trace_of(workload_id: int, trace_hash: str) -> Trace:
    trace = Workload.unscoped.get(pk=workload_id).trace()
    if trace.content_hash() != trace_hash:
        raise ValueError(f"workload {workload_id}: its trace is not the one that the study was started with")
    return trace


def _reason(error: Exception) -> str:
    return f"{error}" if isinstance(error, ValueError) and str(error) else f"{type(error).__name__}: {error}"
