"""Making and revoking links (opening them: tokens.py)."""

import secrets

from django.core.exceptions import PermissionDenied
from django.utils import timezone

from planner.accounts.owned import Visitor
from planner.plain_text import plain
from planner.scenarios.services import author
from planner.sharing.models import ShareLink
from planner.sharing.tokens import hashed
from planner.studies.models import Study
from planner.studies.services import editable

TOKEN_BYTES = 16
LABEL_LENGTH = 100


def create(user: Visitor, study: Study, label: str = "", *, may_clone: bool = True) -> tuple[ShareLink, str]:
    """A new link to the study; the token returned is its only copy."""
    if not editable(user, study):
        raise PermissionDenied("You may read this answer, but not share it.")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    link = ShareLink.objects.create(
        team=study.team,
        created_by=author(user),
        study=study,
        label=plain(label)[:LABEL_LENGTH],
        token_hash=hashed(token),
        may_clone=may_clone,
    )
    return link, token


def revoke(link: ShareLink) -> None:
    """At once and for good; one that was revoked before keeps its date."""
    ShareLink.unscoped.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now())
