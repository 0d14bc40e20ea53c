"""API tokens: `pp_<key>.<secret>`, shown once; the database keeps the key and a keyed hash of the secret."""

import hashlib
import hmac
import re
import secrets
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from planner.accounts import audit
from planner.accounts.models import ApiToken, Team, User
from planner.operations.trouble import note

PREFIX = "pp_"
FORM = re.compile(r"pp_([0-9a-f]{12})\.([\w-]{43})", re.ASCII)
NOBODYS_HASH = "0" * 64
"""Compared with where no token has the key, so that the answer takes as long as for a wrong secret."""
USED_EVERY_S = 60
"""How exactly a token's last use is kept: a row is not written for each request."""


@transaction.atomic
def issue(
    team: Team, name: str, user: User, scope: str = ApiToken.Scope.READ, expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """Saves a new token of the team; the text returned is the only copy of the secret."""
    key, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    row = ApiToken.objects.create(
        team=team,
        created_by=user,
        name=name,
        scope=scope,
        expires_at=expires_at,
        key=key,
        secret_hash=keyed_hash(secret),
    )
    told = audit.made(audit.values(row, ("key", "scope", "expires_at")))
    audit.record(team, user, "made the token", row, told, name=name)
    return row, f"{PREFIX}{key}.{secret}"


@transaction.atomic
def revoke(row: ApiToken, by: User) -> None:
    """At once and for good; one that was revoked before keeps its date."""
    now = timezone.now()
    if ApiToken.unscoped.filter(pk=row.pk, revoked_at=None).update(revoked_at=now):
        audit.record(row.team, by, "revoked the token", row, {"revoked_at": (None, now)}, name=row.name)


def find(text: str) -> ApiToken | None:
    """The valid token that the text shows, or None."""
    shown = FORM.fullmatch(text)
    if shown is None:
        return None
    key, secret = shown.groups()
    row = ApiToken.unscoped.select_related("team", "created_by").filter(key=key).first()
    is_secret = hmac.compare_digest(row.secret_hash if row else NOBODYS_HASH, keyed_hash(secret))
    return row if row is not None and is_secret and row.is_valid() else None


def used(row: ApiToken) -> None:
    """Keeps when, to about a minute."""
    now, last = timezone.now(), row.last_used_at
    if last is None or (now - last).total_seconds() >= USED_EVERY_S:
        note(lambda: ApiToken.unscoped.filter(pk=row.pk).update(last_used_at=now))


def keyed_hash(secret: str) -> str:
    return hmac.new(settings.SECRET_KEY.encode(), secret.encode(), hashlib.sha256).hexdigest()
