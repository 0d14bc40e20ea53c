"""What is done to scenarios: ask a new question, change one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from planner.accounts import audit
from planner.accounts.models import User
from planner.accounts.owned import Visitor
from planner.accounts.teams import working_team
from planner.catalogue.kept import NOTHING, Kept, fabric_of, machines_of, model_of, prices_of, rows_kept
from planner.plain_text import plain
from planner.scenarios.choices import Choices
from planner.scenarios.errors import at_field
from planner.scenarios.forms import clean_inputs
from planner.scenarios.lending import borrower
from planner.scenarios.models import Revision, Scenario

NAME_LENGTH = 200
TODAY = "today"
"""What a question says to have the catalogue's rows of today, instead of those that it keeps."""
ORIGIN_LENGTH = 300


@transaction.atomic
def create_scenario(
    user: Visitor,
    data: Mapping[str, Any],
    name: str = "",
    *,
    shipped_id: str | None = None,
    note: str = "",
    origin: str = "",
    kept: Kept = NOTHING,
) -> Revision:
    """A new scenario of the team the user works for, with its first revision, of rows kept elsewhere or of today's;
    FieldErrors on bad input."""
    user = author(user)
    team = working_team(user)
    if team is None:
        raise PermissionDenied("You may read here, but not save: ask an owner of your team.")
    inputs = clean_inputs(user, data, kept)
    given = plain(name)[:NAME_LENGTH]
    asked = "" if given else name_of(user, inputs, kept)
    scenario = Scenario.objects.create(
        team=team, created_by=user, name=given or asked, shipped_id=shipped_id, note=note, origin=origin[:ORIGIN_LENGTH]
    )
    rows = rows_now(user, inputs, kept)
    made = Revision.objects.create(scenario=scenario, number=1, inputs=inputs, rows=rows, created_by=user, name=asked)
    told = {"name": scenario.name, "note": note, "copy of": origin, **_told(made)}
    audit.record(team, user, "asked", scenario, audit.made(told))
    return made


@dataclass(frozen=True)
class Start:
    """What a change started from: the revision that was changed, and the latest one that its page knew of."""

    revision: Revision
    seen: int = 0

    def overtaken_by(self, user: User) -> bool:
        """Whether a later revision is somebody else's, or was saved after the page was shown: the user's own earlier
        ones they know of."""
        later = Revision.objects.filter(scenario=self.revision.scenario_id, number__gt=self.revision.number)
        seen = self.seen or later.count() + self.revision.number
        return later.filter(~Q(created_by=user) | Q(number__gt=seen)).exists()


class SavedMeanwhileError(Exception):
    """Another revision was saved after the change began. Nothing is saved; what was typed is here."""

    def __init__(self, start: Start, inputs: dict[str, Any], rows: dict[str, Any]) -> None:
        super().__init__("Another revision was saved meanwhile.")
        self.start, self.inputs, self.rows = start, inputs, rows


@transaction.atomic
def save_revision(
    user: Visitor,
    scenario: Scenario,
    data: Mapping[str, Any],
    *,
    kept: Kept | None = None,
    start: Start | None = None,
) -> Revision:
    """The scenario's next revision, or its latest one where nothing has changed; FieldErrors on bad input.

    With ``start``: SavedMeanwhileError where somebody else's revision came between. Rows of the catalogue are those
    ``kept``, else stay as the latest revision keeps them, unless ``rows`` of the data
    says ``today``.
    """
    if not Scenario.objects.editable_by(user).filter(pk=scenario.pk).exists():
        raise PermissionDenied("You may read this question, but not change it.")
    user = borrower(author(user), scenario)
    locked(scenario)  # one number at a time
    latest = scenario.latest
    if kept is None:
        kept = NOTHING if data.get("rows") == TODAY else latest.rows
    inputs = clean_inputs(user, data, kept)
    rows = rows_now(user, inputs, kept)
    if latest.inputs == inputs and (not latest.rows or rows == rows_now(user, inputs, latest.rows)):
        return latest
    if start is not None and start.overtaken_by(user):
        raise SavedMeanwhileError(start, inputs, rows)
    asked = name_of(user, inputs, kept) if latest.name else ""
    Scenario.unscoped.filter(pk=scenario.pk).update(updated_at=timezone.now())
    made = Revision.objects.create(
        scenario=scenario, number=latest.number + 1, inputs=inputs, rows=rows, created_by=user, name=asked
    )
    audit.record(scenario.team, user, "revised", scenario, audit.changed(_told(latest), _told(made)), name=made.title)
    return made


@transaction.atomic
def rename(user: Visitor, scenario: Scenario, **given: str) -> None:
    """Another ``name`` or ``note``, where it is another."""
    before = audit.values(scenario, given)
    changed = audit.changed(before, given)
    if changed:
        Scenario.unscoped.filter(pk=scenario.pk).update(**given, updated_at=timezone.now())
        audit.record(scenario.team, author(user), "renamed", scenario, changed)


def _told(revision: Revision) -> dict[str, Any]:
    """What a revision says, for the history."""
    return {"revision": revision.number, **audit.flat(revision.inputs), "catalogue rows": revision.rows or None}


def locked(scenario: Scenario) -> Scenario:
    """The scenario, nobody else's until the transaction ends; PermissionDenied where it was deleted meanwhile."""
    found: Scenario | None = Scenario.unscoped.select_for_update().filter(pk=scenario.pk, deleted_at=None).first()
    if found is None:
        raise PermissionDenied("This question was deleted meanwhile: put it back to change it.")
    return found


def rows_now(user: Visitor, inputs: Mapping[str, Any], kept: Kept = NOTHING) -> dict[str, Any]:
    """The catalogue's rows that a revision with these inputs keeps: the kept ones that it still asks for, else today's.
    FieldErrors where one is neither."""
    with at_field("model"):
        model = model_of(user, inputs["model"], kept)
    with at_field("machines"):
        machines = machines_of(user, inputs["machines"], kept)
    with at_field("price_book"):
        prices = prices_of(user, inputs["price_book"], inputs["machines"], kept)
    with at_field("fabric"):
        fabric = fabric_of(user, inputs["fabric"], kept) if inputs.get("fabric") else None
    return rows_kept(model, machines, prices, fabric)


def author(user: Visitor) -> User:
    """Who is signed in: only they save anything."""
    if not isinstance(user, User):
        raise PermissionDenied("Sign in first.")
    return user


def name_of(user: Visitor, inputs: Mapping[str, Any], kept: Kept = NOTHING) -> str:
    """A name for a question that was given none: ``Llama 2 70B, Coding mix, 5 requests/s within 100 kW``."""
    offered = Choices.of(user, kept)
    model, workload = dict(offered.models)[inputs["model"]], dict(offered.workloads)[str(inputs["workload"])]
    limit = inputs["power_limit_kw"]
    within = f" within {limit:,.10g} kW" if limit is not None else ""
    return f"{model}, {workload}, {inputs['rate_req_per_s']:,.10g} requests/s{within}"[:NAME_LENGTH]
