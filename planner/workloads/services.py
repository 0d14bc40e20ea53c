"""Saving workloads: an upload for a team, a mix for a team, and the mixes that are shipped."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from planner.accounts.models import Team, User
from planner.workloads.models import Workload
from planner.workloads.summary import summary
from simcore.traces import ParseReport, SyntheticSpec, Trace, generate, read_trace
from simcore.traces.lines import ByteStream
from simcore.traces.mixes import mix_names
from simcore.traces.trace import MAX_ARRIVAL_S

# Enough for two minutes at 400 requests/s. The rates are those of the traces that the mixes were fitted to.
SHIPPED_REQUESTS = 50_000
SHIPPED_RATES_REQ_PER_S = {"conversation": 5.53, "coding": 2.57}
DRAFTS_KEPT_FOR = timedelta(days=1)
LONGEST_MIX_S = MAX_ARRIVAL_S // 2  # a Poisson trace is longer or shorter than its mean
SHIPPED_NAMES = {"conversation": "Conversation mix", "coding": "Coding mix"}


def read_upload(stream: ByteStream, file_name: str) -> tuple[Trace, ParseReport]:
    """The requests of an uploaded file; TraceError says why there are none."""
    return read_trace(stream, file_name, settings.TRACE_MAX_ROWS, settings.TRACE_MAX_UNPACKED_BYTES)


def save_upload(team: Team, user: User, name: str, file_name: str, trace: Trace, report: ParseReport) -> Workload:
    return _stored(team, user, trace, name=name, file_name=file_name, report=report.to_json())


def keep_draft(team: Team, user: User, name: str, file_name: str, trace: Trace, report: ParseReport) -> Workload:
    """An upload that was read, until its user has looked at the report; those of yesterday make room."""
    forget_drafts()
    return _stored(team, user, trace, name=name, file_name=file_name, report=report.to_json(), draft=True)


def save_draft(draft: Workload, name: str) -> Workload:
    """The draft as one of the team's workloads. IntegrityError where the name is taken."""
    draft.name, draft.draft, draft.created_at = name, False, timezone.now()
    with transaction.atomic():
        draft.save(update_fields=["name", "draft", "created_at"])
    return draft


def forget_drafts() -> None:
    """Removes what was uploaded a day ago and not saved since."""
    Workload.unscoped.filter(draft=True, created_at__lt=timezone.now() - DRAFTS_KEPT_FOR).delete()


def save_mix(team: Team, user: User, name: str, spec: SyntheticSpec) -> Workload:
    workload = _of_mix(name, spec)
    workload.team, workload.created_by = team, user
    workload.save()
    return workload


def ship_mixes() -> None:
    """Makes the shipped workloads where they are missing; one that is there stays as it is."""
    there = set(Workload.unscoped.filter(team=None).values_list("shipped", flat=True))
    for mix in mix_names():
        if mix not in there:
            spec = SyntheticSpec(mix, SHIPPED_RATES_REQ_PER_S[mix], SHIPPED_REQUESTS)  # type: ignore[arg-type]
            workload = _of_mix(SHIPPED_NAMES[mix], spec)
            workload.shipped = mix
            workload.save()


@transaction.atomic
def _stored(team: Team, user: User, trace: Trace, **fields: Any) -> Workload:
    workload = _described(trace, kind=Workload.Kind.UPLOADED, **fields)
    workload.team, workload.created_by = team, user
    workload.save()
    workload.store(trace)
    return workload


def _of_mix(name: str, spec: SyntheticSpec) -> Workload:
    return _described(generate(spec), name=name, kind=Workload.Kind.SYNTHETIC, spec=spec.to_json())


def _described(trace: Trace, **fields: Any) -> Workload:
    return Workload(content_hash=trace.content_hash(), requests=len(trace), summary=summary(trace), **fields)
