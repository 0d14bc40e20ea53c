"""The worker's side of an analysis. The web process never imports this module: it brings the engine in."""

import time

from celery.exceptions import SoftTimeLimitExceeded
from django.db.models import F

from planner.analyses.models import Analysis
from planner.analyses.stored_lab import StoredLab
from planner.celery import app
from planner.studies import leases, tasks
from planner.studies.contexts import trace_of
from planner.studies.leases import Claim, Heartbeat
from planner.studies.models import Study
from planner.studies.packed import pack, unpack
from planner.studies.under_lease import under_lease
from simcore.analyses import kind_of
from simcore.analyses.key import analysis_key, code_version
from simcore.engine.version import engine_version

TOO_LONG = "It took longer than a task may take. What was simulated is kept: trying again goes on from there."


@app.task(name=Analysis.task_name)
def run_analysis(analysis_id: str) -> None:
    """An analysis is queued: works it out, or does what comes before it, and goes on (see studies/turns.py)."""
    tasks.take_turns(Analysis, analysis_id)


def work_out(analysis_id: int) -> None:
    """Simulates what the analysis asks, as far as it can be claimed."""
    held = leases.claim(Analysis, analysis_id)
    if held is None:
        return
    row = Analysis.objects.get(pk=analysis_id)

    def worked(heartbeat: Heartbeat) -> None:
        if _is_of_this_code(held, row):
            try:
                _work(held, row, heartbeat)
            except SoftTimeLimitExceeded:
                held.fail(TOO_LONG)

    def fail(reason: str) -> None:
        held.fail(reason)

    under_lease(held, row.study_id, worked, fail)


tasks.WORK[Analysis] = work_out


def _work(held: Claim, row: Analysis, heartbeat: Heartbeat) -> None:
    kind, start = kind_of(row.kind), time.process_time()
    study = Study.unscoped.get(pk=row.study_id)
    lab = StoredLab(trace_of(study), study, held, heartbeat.check)
    found = pack(kind.run(unpack(kind.task_type, row.task, row.task_checksum), lab))
    held.finish(
        found=found.data,
        found_checksum=found.checksum,
        engine_version=engine_version(),
        steps_done=F("steps"),
        cpu_s=time.process_time() - start,
    )


def _is_of_this_code(held: Claim, row: Analysis) -> bool:
    """A row that another version of the code has queued becomes this one's; where this one has it already, it goes."""
    if row.code_version == code_version():
        return True
    task = unpack(kind_of(row.kind).task_type, row.task, row.task_checksum)
    key = analysis_key(row.kind, task, row.study.trace_hash, code_version())
    if Analysis.objects.filter(key=key).exists():
        Analysis.objects.filter(pk=row.pk).delete()
        return False
    return held.update(key=key, code_version=code_version())
