"""Approving a study's costs, and taking that back; who may: docs/decisions/0110-approvals.md."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from planner.accounts import audit
from planner.accounts.models import User
from planner.accounts.owned import Visitor
from planner.finance.approvals.kept import keep, keep_lines
from planner.finance.costs import DEFINITION, Costs
from planner.finance.models import Approval
from planner.finance.tables import CURRENCY
from planner.scenarios.services import author
from planner.studies.models import Study
from simcore.spec import SpecError

LONGEST_NOTE = 500


class NotApprovableError(ValueError):
    """Why these figures cannot be approved now."""


def may_approve(user: Visitor, study: Study) -> bool:
    """Owners and editors of the team that the question is of; not those whom it was shared with."""
    return bool(Study.objects.owned_by(user).filter(pk=study.pk).exists())


def problem_of(costs: Costs, *, may_be_partial: bool = False) -> str:
    """Why they cannot be approved, or are not there to be compared; empty where they can."""
    if costs.study.is_partial and not may_be_partial:
        return "The study is not complete: another design may yet come first."
    if not costs.is_known:
        return "The costs have not been worked out yet."
    try:
        _ = costs.sheet
    except SpecError as error:
        return f"{error}."
    return ""


@transaction.atomic
def approve(user: Visitor, costs: Costs, note: str = "") -> Approval:
    """NotApprovableError says why not."""
    if problem := problem_of(costs):
        raise NotApprovableError(problem)
    note = " ".join(note.split())
    if len(note) > LONGEST_NOTE:
        raise NotApprovableError(f"The note has {len(note)} characters, expected at most {LONGEST_NOTE}.")
    study, by = Study.unscoped.select_for_update().get(pk=costs.study.pk), author(user)  # one approval after the other
    if same := standing_of(costs, Approval.unscoped.filter(study=study)):
        raise NotApprovableError(f"{same.approved_by_name} has approved these figures already.")
    made = Approval.objects.create(
        team=study.team,
        created_by=by,
        approved_by_name=name_of(by),
        study=study,
        chosen=costs.chosen,
        design_id=costs.design_id,
        note=note,
        assumptions_hash=costs.assumptions_hash,
        engine_version=study.engine_version,
        definition_version=DEFINITION,
        currency=CURRENCY,
        kept=keep(costs),
        lines=keep_lines(costs),
    )
    told = audit.made({"note": note, "assumptions": made.assumptions_hash, **made.kept["totals"]})
    audit.record(study.team, by, "approved", made, told, name=_named(made))
    return made


@transaction.atomic
def withdraw(user: Visitor, approval: Approval) -> bool:
    """False where it was withdrawn before."""
    by, now = author(user), timezone.now()
    changed = Approval.unscoped.filter(pk=approval.pk, withdrawn_at=None).update(
        withdrawn_at=now, withdrawn_by=by, withdrawn_by_name=name_of(by), updated_at=now
    )
    if changed:
        told = {"withdrawn_at": (None, now)}
        audit.record(approval.team, by, "withdrew the approval of", approval, told, name=_named(approval))
    return bool(changed)


def of_scenario(user: Visitor, scenario_id: int) -> QuerySet[Approval]:
    """All that the visitor sees, the newest first; of a guest those of the study alone."""
    rows: QuerySet[Approval] = Approval.objects.visible_to(user).filter(study__revision__scenario=scenario_id)
    return rows.select_related("study__revision__scenario").defer("lines")


def standing_of(costs: Costs, rows: Iterable[Approval]) -> Approval | None:
    """The approval of these very figures that was not withdrawn."""
    for one in rows:
        is_same = (one.study_id, one.design_id) == (costs.study.pk, costs.design_id)
        if is_same and not one.withdrawn_at and one.assumptions_hash == costs.assumptions_hash:
            return one
    return None


def name_of(user: User) -> str:
    return (user.get_full_name() or user.username)[:200]


def _named(approval: Approval) -> str:
    revision = approval.study.revision
    return f"{revision.title}, revision {revision.number}, answer {approval.study_id}"
