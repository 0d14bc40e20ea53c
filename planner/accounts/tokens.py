"""API tokens: `pp_<key>.<secret>`, shown once; the database keeps the key and a keyed hash of the secret."""

import hashlib
import hmac
import secrets
from datetime import datetime

from django.conf import settings

from planner.accounts.models import ApiToken, Team, User

PREFIX = "pp_"


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
    return row, f"{PREFIX}{key}.{secret}"


def find(text: str) -> ApiToken | None:
    """The valid token that the text shows, or None."""
    key, _, secret = text.removeprefix(PREFIX).partition(".")
    row = ApiToken.unscoped.filter(key=key).first()
    if row is None or not hmac.compare_digest(row.secret_hash, keyed_hash(secret)):
        return None
    return row if row.is_valid() else None


def keyed_hash(secret: str) -> str:
    return hmac.new(settings.SECRET_KEY.encode(), secret.encode(), hashlib.sha256).hexdigest()
