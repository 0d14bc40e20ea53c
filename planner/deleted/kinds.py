"""Kinds of rows that people delete and put back: each says how, and where one is once it is there again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.urls import reverse

from planner.accounts.models import User
from planner.finance.models import Approval
from planner.scenarios import deleting as scenario_deleting
from planner.scenarios.models import Revision, Scenario

Rows = QuerySet[Any]


class TakenError(ValueError):
    """It cannot be put back as things are; the message says what is in its place."""


@dataclass(frozen=True)
class Kind:
    """``put_back`` answers what is to be said beside that it is back; TakenError where it cannot be."""

    name: str
    """As addresses have it."""
    what: str
    rows: type[Any]
    page: Callable[[Any], str]
    rest: Callable[[Any], str]
    """REST's address of it, once it is there."""
    put_back: Callable[[Any, User], str]
    title: Callable[[Any], str] = str
    listed: Callable[[Rows], Rows] = lambda rows: rows
    """With what titles are made of."""
    purged: Callable[[Rows], Rows] = lambda rows: rows
    """Those that nothing needs any more."""


def _titled(rows: Rows) -> Rows:
    latest = Revision.objects.filter(scenario=OuterRef("pk")).order_by("-number")
    return rows.annotate(asked=Subquery(latest.values("name")[:1]))


def _approved() -> Rows:
    """What was approved of a question, and not withdrawn: a record that is kept."""
    return Approval.unscoped.filter(study__revision__scenario=OuterRef("pk"), withdrawn_at=None)


def _scenario_back(row: Scenario, user: User) -> str:
    scenario_deleting.put_back(row, user)
    return ""


ALL = (
    Kind(
        "scenarios",
        "Question",
        Scenario,
        page=lambda row: reverse("scenarios:scenario", args=[row.pk]),
        rest=lambda row: f"scenarios/{row.pk}",
        put_back=_scenario_back,
        title=lambda row: row.asked or row.name,
        listed=_titled,
        purged=lambda rows: rows.exclude(Exists(_approved())),
    ),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in ALL}
