"""Which link a token opens. A token has 128 random bits; the database keeps its hash alone."""

import hashlib

from django.db.models import Q
from django.utils import timezone

from planner.operations.trouble import note
from planner.sharing.models import ShareLink

OPENED_EVERY_S = 60
"""How exactly a link's last opening is kept: a row is not written for each of a page's requests."""


def find(token: str) -> ShareLink | None:
    """The link of a token; None where there is none, or none any more, or its question is deleted."""
    found = ShareLink.unscoped.filter(
        token_hash=hashed(token), revoked_at=None, study__revision__scenario__deleted_at=None
    )
    found = found.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()))
    return found.select_related("study__revision", "team").first()


def opened(link: ShareLink) -> None:
    now, last = timezone.now(), link.last_opened_at
    if last is None or (now - last).total_seconds() >= OPENED_EVERY_S:
        note(lambda: ShareLink.unscoped.filter(pk=link.pk).update(last_opened_at=now))


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
