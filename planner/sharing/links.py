"""Making and revoking links (opening them: tokens.py)."""

import secrets
from datetime import timedelta

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from planner.accounts import audit
from planner.accounts.owned import Visitor
from planner.plain_text import plain
from planner.scenarios.services import author
from planner.sharing.models import ShareLink
from planner.sharing.tokens import hashed
from planner.studies.models import Study

TOKEN_BYTES = 16
LABEL_LENGTH = 100


@transaction.atomic
def create(
    user: Visitor,
    study: Study,
    label: str = "",
    *,
    may_clone: bool = True,
    follows: bool = False,
    holds: timedelta | None = None,
) -> tuple[ShareLink, str]:
    """A new link to the study, or with ``follows`` to the latest answer to its question; the token returned is its
    only copy. Members of the team alone share, not who it was shared with."""
    if not Study.objects.owned_by(user).filter(pk=study.pk).exists():
        raise PermissionDenied("You may read this answer, but not share it.")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    link = ShareLink.objects.create(
        team=study.team,
        created_by=author(user),
        study=study,
        label=plain(label)[:LABEL_LENGTH],
        token_hash=hashed(token),
        may_clone=may_clone,
        follows=follows,
        expires_at=timezone.now() + holds if holds else None,
    )
    told = audit.made(audit.values(link, ("label", "may_clone", "follows", "expires_at")))
    audit.record(study.team, author(user), "made a link to", link, told, name=_named(link))
    return link, token


@transaction.atomic
def revoke(link: ShareLink, user: Visitor | None = None) -> None:
    """At once and for good; one that was revoked before keeps its date."""
    now = timezone.now()
    if ShareLink.unscoped.filter(pk=link.pk, revoked_at=None).update(revoked_at=now) and user is not None:
        audit.record(link.team, author(user), "revoked a link to", link, {"revoked_at": (None, now)}, name=_named(link))


def _named(link: ShareLink) -> str:
    return f"{link.study.revision}: {link.title}"
