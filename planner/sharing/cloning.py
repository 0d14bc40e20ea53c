"""A question asked again by somebody else: with the same inputs, in a team of their own."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from planner.accounts import audit
from planner.accounts.models import Team, User
from planner.accounts.owned import Visitor
from planner.accounts.teams import writing_team
from planner.calibrations.models import Calibration
from planner.calibrations.services import PREFIX as CALIBRATION
from planner.power_logs.models import PowerLog
from planner.power_logs.services import PREFIX as POWER_LOG
from planner.scenarios.models import Revision
from planner.scenarios.services import author, create_scenario
from planner.studies.models import Study
from planner.studies.services import start_study
from planner.workloads.models import TraceChunk, Workload

MOST_NAMES = 100
MEASURED: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    (CALIBRATION, Calibration, ("model", "accelerator", "content", "found")),
    (POWER_LOG, PowerLog, ("machine", "accelerator", "report", "content")),
)
"""How keys of what a team has measured begin, its rows, and which of their fields a copy takes."""


@transaction.atomic
def clone_own(user: Visitor, revision: Revision) -> Study:
    """A question of the user's teams as a new one, and its study. FieldErrors where it can be asked no more."""
    name = "" if revision.name else f"Copy of {revision.scenario.name}"
    origin = f"{revision.title}, revision {revision.number}"
    return start_study(user, _asked_again(user, revision, revision.inputs, name, origin))


@transaction.atomic
def clone_shared(user: Visitor, study: Study) -> Study:
    """A question that somebody shared, in the user's own team, with copies of the workload, calibrations and power
    log that it rests on, and the catalogue's rows as they were."""
    team, revision = writing_team(author(user)), study.revision
    inputs = {**revision.inputs, "workload": str(_workload(team, author(user), study.workload).pk)}
    inputs |= _measured(team, author(user), inputs)
    origin = f"{revision.title}, revision {revision.number}, shared by team {study.team.name}"
    return start_study(user, _asked_again(user, revision, inputs, "", origin))


def _asked_again(user: Visitor, revision: Revision, inputs: dict[str, Any], name: str, origin: str) -> Revision:
    note = revision.scenario.note
    return create_scenario(user, inputs, name, note=note, origin=origin, kept=revision.rows)


def _workload(team: Team, user: User, shared: Workload) -> Workload:
    """The shipped one, the team's own of the same requests, or a copy."""
    if shared.team_id is None:
        return shared
    mine = Workload.unscoped.filter(team=team, draft=False)
    same = mine.filter(content_hash=shared.content_hash, kind=shared.kind).first()
    return same or _copied_workload(team, user, shared)


def _copied_workload(team: Team, user: User, shared: Workload) -> Workload:
    fields = {name: getattr(shared, name) for name in ("kind", "content_hash", "requests", "file_name", "report")}
    name = _free_name(Workload, team, shared.name)
    copy: Workload = Workload.unscoped.create(
        team=team, created_by=user, name=name, spec=shared.spec, summary=shared.summary, **fields
    )
    parts = shared.chunks.order_by("number").iterator(chunk_size=8)
    for part in parts:
        TraceChunk.objects.create(workload=copy, part=part.part, number=part.number, data=part.data)
    told = audit.made({"name": name, "copy of": shared.name, "content_hash": shared.content_hash})
    audit.record(team, user, "copied", copy, told, name=name)
    return copy


def _measured(team: Team, user: User, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that name a team's calibrations and power logs, with the copies in their place."""
    found: dict[str, Any] = {
        name: _own(team, user, inputs.get(name)) for name in ("latency", "power") if name in inputs
    }
    by_machine = inputs.get("latency_by_machine") or {}
    if by_machine:
        found["latency_by_machine"] = {machine: _own(team, user, key) for machine, key in by_machine.items()}
    return found


def _own(team: Team, user: User, key: Any) -> Any:
    """The key of the team's own row of the same content, or of a copy; the key itself where it names none."""
    for prefix, rows, names in MEASURED:
        if isinstance(key, str) and key.startswith(prefix):
            shared = rows.unscoped.filter(pk=key.removeprefix(prefix)).first()
            return key if shared is None else f"{prefix}{_copied(team, user, shared, names).pk}"
    return key


def _copied(team: Team, user: User, shared: Any, names: Sequence[str]) -> Any:
    rows = type(shared)
    if shared.team_id == team.pk:
        return shared
    mine = rows.unscoped.filter(team=team, content=shared.content).first()
    fields = {name: getattr(shared, name) for name in names}
    if mine is not None:
        return mine
    name = _free_name(rows, team, shared.name)
    copy = rows.unscoped.create(team=team, created_by=user, name=name, **fields)
    audit.record(team, user, "copied", copy, audit.made({"copy of": shared.name, **fields}), name=name)
    return copy


def _free_name(rows: Any, team: Team, name: str) -> str:
    """The name, or ``NAME (2)`` and so on where the team has one of it."""
    taken = set(rows.unscoped.filter(team=team, name__startswith=name[:80]).values_list("name", flat=True))
    tried = [name, *(f"{name[:90]} ({number})" for number in range(2, MOST_NAMES))]
    return next(one for one in tried if one not in taken)
