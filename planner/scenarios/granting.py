"""Sharing a scenario with one person of another team."""

from django.core.exceptions import PermissionDenied
from django.db import transaction

from planner.accounts import audit
from planner.accounts.models import User
from planner.accounts.owned import Visitor, token_of
from planner.scenarios.models import Grant, Scenario
from planner.scenarios.services import author


@transaction.atomic
def grant(user: Visitor, scenario: Scenario, name: str, *, may_write: bool = False) -> Grant:
    """Whether anybody has the name is not told: it is kept as it was typed. Asked for again: with the new right."""
    by = author(user)
    if not Scenario.objects.owned_by(by).filter(pk=scenario.pk).exists():
        raise PermissionDenied("You may read this question, but not share it.")
    person = User.objects.filter(username=name, is_active=True).first()
    before = Grant.unscoped.filter(scenario=scenario, name=name).first()
    values = {"person": person, "may_write": may_write, "team": scenario.team, "created_by": by}
    made, _ = Grant.unscoped.update_or_create(scenario=scenario, name=name, defaults=values)
    if before is None or before.may_write != may_write:
        told = {"may": (_right(before) if before else None, _right(made))}
        audit.record(scenario.team, by, "shared", made, told, name=f"{scenario.name} with {name}")
    return made


@transaction.atomic
def end(user: Visitor, given: Grant) -> None:
    told = {"may": (_right(given), None)}
    audit.record(
        given.team, author(user), "shared no more", given, told, name=f"{given.scenario.name} with {given.name}"
    )
    given.delete()


def shared_with(user: Visitor) -> list[Grant]:
    """What others shared with the user, the latest first."""
    if not user.is_authenticated or token_of(user):
        return []
    mine = Grant.unscoped.filter(person=user.pk, scenario__deleted_at=None).exclude(team__membership__user=user.pk)
    return list(mine.select_related("scenario", "team").order_by("-created_at", "-pk"))


def _right(given: Grant) -> str:
    return "read and change" if given.may_write else "read"
