"""A study's question with its requests, as simcore reads it: made once a worker process, not once a shard."""

from datetime import datetime
from functools import lru_cache

from planner.studies import stored
from planner.studies.models import Study
from planner.workloads.models import Workload
from simcore import study as search
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.study import Context
from simcore.traces import Trace
from simcore.trust.outside import Asked


def context_of(study: Study) -> Context:
    """ValueError where the workload's requests are no longer those that the study was started with."""
    return _context(study.pk, study.created_at, study.trace_hash)


@lru_cache(maxsize=4)
def _context(study_id: int, created_at: datetime, trace_hash: str) -> Context:
    study = Study.unscoped.get(pk=study_id)
    return search.context(stored.spec_of(study), _trace_of(study.workload_id, trace_hash))


def trace_of(study: Study) -> Trace:
    """The study's requests; ValueError as ``context_of``."""
    return _trace_of(study.workload_id, study.trace_hash)


def statistics_of(study: Study) -> WorkloadStatistics:
    """What a mean request of the workload asks for."""
    return _statistics(study.workload_id, study.trace_hash)


def asked_of(study: Study) -> Asked:
    """What the workload's requests ask for."""
    return _asked(study.workload_id, study.trace_hash)


@lru_cache(maxsize=2)
def _statistics(workload_id: int, trace_hash: str) -> WorkloadStatistics:
    return WorkloadStatistics.of(_trace_of(workload_id, trace_hash))


@lru_cache(maxsize=64)
def _asked(workload_id: int, trace_hash: str) -> Asked:
    return Asked.of(_trace_of(workload_id, trace_hash))


@lru_cache(maxsize=2)
def _trace_of(workload_id: int, trace_hash: str) -> Trace:
    trace = Workload.unscoped.get(pk=workload_id).trace()
    if trace.content_hash() != trace_hash:
        raise ValueError(f"workload {workload_id}: its trace is not the one that the study was started with")
    return trace
