"""Saving workloads: an upload for a team, a mix for a team, and the mixes that are shipped."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from planner.accounts import audit
from planner.accounts.models import Team, User
from planner.workloads.models import TraceChunk, Workload
from planner.workloads.summary import summary
from simcore.traces import ParseReport, SyntheticSpec, Trace, TraceError, generate, read_trace
from simcore.traces.inspect import WITHOUT_END
from simcore.traces.lines import ByteStream
from simcore.traces.mixes import mix_names
from simcore.traces.prefix_cache import (
    BLOCK_TOKENS,
    LARGEST_CACHE_TOKENS,
    PromptBlocks,
    shares,
    with_prefix_cache,
)
from simcore.traces.trace import MAX_ARRIVAL_S

# Enough for two minutes at 400 requests/s. The rates are those of the traces that the mixes were fitted to.
SHIPPED_REQUESTS = 50_000
SHIPPED_RATES_REQ_PER_S = {"conversation": 5.53, "coding": 2.57}
SHARES = "prefix_cache_shares"
"""Of a draft's report: what prefix caches of several sizes would have held of its prompts."""
DRAFTS_KEPT_FOR = timedelta(days=1)
LONGEST_MIX_S = MAX_ARRIVAL_S // 2  # a Poisson trace is longer or shorter than its mean
SHIPPED_NAMES = {"conversation": "Conversation mix", "coding": "Coding mix"}


def read_upload(stream: ByteStream, file_name: str) -> tuple[Trace, ParseReport]:
    """The requests of an uploaded file; TraceError says why there are none."""
    most = (settings.TRACE_MAX_ROWS, settings.TRACE_MAX_UNPACKED_BYTES)
    return read_trace(stream, file_name, *most, with_blocks=True)


@transaction.atomic
def save_upload(team: Team, user: User, name: str, file_name: str, trace: Trace, report: ParseReport) -> Workload:
    made = _stored(team, user, trace, name=name, file_name=file_name, report=report.to_json())
    _record(user, "uploaded", made)
    return made


@transaction.atomic
def keep_draft(team: Team, user: User, name: str, file_name: str, trace: Trace, report: ParseReport) -> Workload:
    """An upload that was read, until its user has looked at the report; those of yesterday make room."""
    forget_drafts()
    told = report.to_json()
    if report.blocks is not None:
        told[SHARES] = shares(trace.prompt_tokens, report.blocks)
    known = {"name": name, "file_name": file_name, "report": told, "draft": True}
    kept = _stored(team, user, trace, report.blocks, **known)
    _record(user, "uploaded, not saved yet,", kept)
    return kept


@transaction.atomic
def save_draft(user: User, draft: Workload, name: str, prefix_cache: str = "") -> Workload:
    """The draft as one of the team's workloads, with what a prefix cache (tokens, or "unlimited") would have held of
    its prompts. IntegrityError where the name is taken."""
    draft.name, draft.draft, draft.created_at = name, False, timezone.now()
    draft.save(update_fields=["name", "draft", "created_at"])
    if prefix_cache:
        found = ParseReport("")
        trace = with_prefix_cache(draft.trace(), draft.blocks(), cache_tokens(prefix_cache), found)
        draft.report = (draft.report or {}) | {"prefix_cache": found.prefix_cache}
        draft.content_hash, draft.summary = trace.content_hash(), summary(trace)
        draft.save(update_fields=["report", "content_hash", "summary"])
        draft.store(trace)
    else:
        draft.chunks.filter(part=TraceChunk.Part.BLOCKS).delete()
    _record(user, "saved", draft, {"prefix_cache_tokens": prefix_cache})
    return draft


@transaction.atomic
def discard(user: User, draft: Workload) -> None:
    """Nothing of an upload that was not saved is kept."""
    audit.record(draft.team, user, "discarded", draft, audit.gone(_told(draft)), name=draft.name or draft.file_name)
    draft.delete()


@transaction.atomic
def delete(user: User, row: Workload) -> None:
    """For good; whether it is used is asked before (dependents.py)."""
    audit.record(row.team, user, "deleted", row, audit.gone(_told(row)), name=row.name)
    row.delete()


def cache_tokens(typed: str) -> int | None:
    """A prefix cache's size in tokens; None: without end. TraceError for anything else."""
    if typed == WITHOUT_END:
        return None
    plain = typed.replace(",", "")
    if not (plain.isascii() and plain.isdigit() and BLOCK_TOKENS <= int(plain[:20]) <= LARGEST_CACHE_TOKENS):
        raise TraceError(f"prefix_cache: found ‘{typed[:40]}’, expected {WITHOUT_END} or tokens from {BLOCK_TOKENS} up")
    return int(plain)


def forget_drafts() -> None:
    """Removes what was uploaded a day ago and not saved since."""
    Workload.unscoped.filter(draft=True, created_at__lt=timezone.now() - DRAFTS_KEPT_FOR).delete()


@transaction.atomic
def save_mix(team: Team, user: User, name: str, spec: SyntheticSpec) -> Workload:
    workload = _of_mix(name, spec)
    workload.team, workload.created_by = team, user
    workload.save()
    _record(user, "made", workload)
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
def _stored(team: Team, user: User, trace: Trace, blocks: PromptBlocks | None = None, /, **fields: Any) -> Workload:
    workload = _described(trace, kind=Workload.Kind.UPLOADED, **fields)
    workload.team, workload.created_by = team, user
    workload.save()
    workload.store(trace, blocks)
    return workload


def _record(user: User, action: str, made: Workload, more: dict[str, Any] | None = None) -> None:
    told = audit.made(_told(made) | (more or {}))
    audit.record(made.team, user, action, made, told, name=made.name or made.file_name)


def _told(row: Workload) -> dict[str, Any]:
    """What a workload is, for the history."""
    return audit.values(row, ("name", "kind", "file_name", "requests", "content_hash")) | audit.flat(row.spec or {})


def _of_mix(name: str, spec: SyntheticSpec) -> Workload:
    return _described(generate(spec), name=name, kind=Workload.Kind.SYNTHETIC, spec=spec.to_json())


def _described(trace: Trace, **fields: Any) -> Workload:
    return Workload(content_hash=trace.content_hash(), requests=len(trace), summary=summary(trace), **fields)
