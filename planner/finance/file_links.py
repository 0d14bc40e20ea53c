"""Links to a CSV file of a study's costs, for spreadsheets that fetch an address and can send no token.

What a link is of is in its row, nothing of it in the address: it cannot be made to show anything else. It is the
team's: it goes on when its maker leaves, until it ends or one of the team's editors revokes it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import get_args

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from planner.accounts import audit
from planner.accounts.owned import Visitor
from planner.accounts.tokens import keyed_hash
from planner.finance import exports
from planner.finance.costs import Costs
from planner.finance.models import FileLink
from planner.plain_text import plain
from planner.scenarios.services import author
from planner.sharing.links import LABEL_LENGTH, TOKEN_BYTES
from planner.spreadsheet import LOCALES, csv_form
from planner.studies.exports import designs_csv
from planner.studies.models import Study
from simcore.economics.lines import View
from simcore.spec import SpecError, nearest

DESIGNS = "designs.csv"
OFFERED: tuple[tuple[str, str], ...] = (
    *((f"{name}.{kind}", words) for name, kind, words in exports.OFFERED if kind == "csv"),
    (DESIGNS, "Designs"),
)
"""Files that a link may be of, in words."""
FILES = tuple(name for name, _ in OFFERED)
USUAL_DAYS, MOST_DAYS = 90, 365
VIEWS: tuple[View, ...] = get_args(View)


class NotNowError(Exception):
    """The file cannot be had now; the message says why, and what to do."""


@dataclass(frozen=True)
class Wanted:
    """What a new link is to be of. SpecError names what cannot be."""

    file: str
    view: View = "book"
    locale: str = "en-US"
    bom: bool = False
    days: int = USUAL_DAYS
    label: str = ""

    def __post_init__(self) -> None:
        for name, found, known in (
            ("file", self.file, FILES),
            ("view", self.view, VIEWS),
            ("locale", self.locale, LOCALES),
        ):
            if found not in known:
                raise SpecError(f"{name}: found '{found}', expected one of {', '.join(known)}{nearest(found, known)}")
        if not 1 <= self.days <= MOST_DAYS:
            raise SpecError(f"days: found {self.days}, expected from 1 to {MOST_DAYS}")


@transaction.atomic
def create(user: Visitor, costs: Costs, wanted: Wanted) -> tuple[FileLink, str]:
    """A new link to a file of these costs; the secret returned is its only copy. NotNowError: there is no such file
    yet. Members of the team alone make one, not who the question was shared with."""
    study = costs.study
    if not Study.objects.owned_by(user).filter(pk=study.pk).exists():
        raise PermissionDenied("You may read this study, but make no links to its files.")
    of_designs = wanted.file == DESIGNS
    secret = secrets.token_urlsafe(TOKEN_BYTES)
    link = FileLink(
        team=study.team,
        created_by=author(user),
        study=study,
        chosen=None if of_designs else costs.chosen,
        file=wanted.file,
        design_id="" if of_designs else costs.design_id,
        view=wanted.view,
        locale=wanted.locale,
        bom=wanted.bom,
        label=plain(wanted.label)[:LABEL_LENGTH],
        secret_hash=keyed_hash(secret),
        expires_at=timezone.now() + timedelta(days=wanted.days),
    )
    text_of(link)
    link.save(force_insert=True)
    told = audit.made(audit.values(link, ("file", "chosen_id", "design_id", "view", "locale", "label", "expires_at")))
    audit.record(study.team, author(user), "made a link to a file of", link, told, name=_named(link))
    return link, secret


@transaction.atomic
def revoke(link: FileLink, user: Visitor) -> None:
    """At once and for good; one that was revoked before keeps its date."""
    now = timezone.now()
    if FileLink.unscoped.filter(pk=link.pk, revoked_at=None).update(revoked_at=now):
        told = {"revoked_at": (None, now)}
        audit.record(link.team, author(user), "revoked a link to a file of", link, told, name=_named(link))


def find(secret: str) -> FileLink | None:
    """The link that it opens; None where there is none, or none any more."""
    found = FileLink.unscoped.filter(secret_hash=keyed_hash(secret), revoked_at=None, expires_at__gt=timezone.now())
    found = found.filter(study__revision__scenario__deleted_at=None)
    return found.select_related("team", "chosen", "study__team", "study__revision__scenario", "study__workload").first()


def used(link: FileLink) -> None:
    FileLink.unscoped.filter(pk=link.pk).update(last_used_at=timezone.now(), uses=F("uses") + 1)


def text_of(link: FileLink) -> str:
    """The file, byte for byte as the page offers it. NotNowError: it cannot be had."""
    form = {"locale": link.locale, "bom": "1" if link.bom else "0"}
    if link.file == DESIGNS:
        return designs_csv(link.study, form)
    costs = Costs(link.study, link.design_id, link.chosen)
    try:
        if not costs.is_known:
            raise NotNowError(costs.section.problem or "its costs have not been worked out: the finance page does that")
        view = next(one for one in VIEWS if one == link.view)
        return str(exports.EXPORTS[link.file](costs, view, csv_form(form)))
    except SpecError as error:
        raise NotNowError(str(error)) from error


def _named(link: FileLink) -> str:
    return f"{link.study.revision}: {link.title}, {link.file}"
