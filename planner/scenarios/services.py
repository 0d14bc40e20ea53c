"""What is done to scenarios: ask a new question, change one."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction

from planner.accounts.models import User
from planner.accounts.owned import Visitor
from planner.accounts.teams import working_team
from planner.scenarios.choices import Choices
from planner.scenarios.forms import clean_inputs
from planner.scenarios.models import Revision, Scenario

NAME_LENGTH = 200


@transaction.atomic
def create_scenario(
    user: Visitor, data: Mapping[str, Any], name: str = "", *, shipped_id: str | None = None, note: str = ""
) -> Revision:
    """A new scenario of the team the user works for, with its first revision; FieldErrors on bad input."""
    user = author(user)
    team = working_team(user)
    if team is None:
        raise PermissionDenied("You may read here, but not save: ask an owner of your team.")
    inputs = clean_inputs(user, data)
    given = name.strip()[:NAME_LENGTH]
    asked = "" if given else name_of(user, inputs)
    scenario = Scenario.objects.create(
        team=team, created_by=user, name=given or asked, shipped_id=shipped_id, note=note
    )
    return Revision.objects.create(scenario=scenario, number=1, inputs=inputs, created_by=user, name=asked)


@transaction.atomic
def save_revision(user: Visitor, scenario: Scenario, data: Mapping[str, Any]) -> Revision:
    """The scenario's next revision, or its latest one where nothing has changed; FieldErrors on bad input."""
    if not Scenario.objects.editable_by(user).filter(pk=scenario.pk).exists():
        raise PermissionDenied("You may read this question, but not change it.")
    user = author(user)
    inputs = clean_inputs(user, data)
    Scenario.unscoped.select_for_update().get(pk=scenario.pk)  # one number at a time
    latest = scenario.latest
    if latest.inputs == inputs:
        return latest
    asked = name_of(user, inputs) if latest.name else ""
    return Revision.objects.create(
        scenario=scenario, number=latest.number + 1, inputs=inputs, created_by=user, name=asked
    )


def author(user: Visitor) -> User:
    """Who is signed in: only they save anything."""
    if not isinstance(user, User):
        raise PermissionDenied("Sign in first.")
    return user


def name_of(user: Visitor, inputs: Mapping[str, Any]) -> str:
    """A name for a question that was given none: ``Llama 2 70B, Coding mix, 5 requests/s within 100 kW``."""
    offered = Choices.of(user)
    model, workload = dict(offered.models)[inputs["model"]], dict(offered.workloads)[str(inputs["workload"])]
    limit = inputs["power_limit_kw"]
    within = f" within {limit:,.10g} kW" if limit is not None else ""
    return f"{model}, {workload}, {inputs['rate_req_per_s']:,.10g} requests/s{within}"[:NAME_LENGTH]


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Which inputs differ between two revisions: name → (before, after)."""
    names = dict.fromkeys([*before, *after])
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}
