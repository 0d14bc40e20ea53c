"""Invitations to a team: a link that is shown once, holds for a week, and is used once."""

import hashlib
import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from planner.accounts import audit, members
from planner.accounts.models import Invitation, Membership, Role, Team, User
from planner.plain_text import plain

TOKEN_BYTES = 16
HOLDS = timedelta(days=7)
LABEL_LENGTH = 100


@transaction.atomic
def invite(team: Team, by: User, role: str, label: str = "") -> tuple[Invitation, str]:
    """A new invitation; the token returned is its only copy."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    made = Invitation.objects.create(
        team=team,
        created_by=by,
        role=Role(role),
        label=plain(label)[:LABEL_LENGTH],
        token_hash=_hashed(token),
        expires_at=timezone.now() + HOLDS,
    )
    told = audit.made({"role": made.role, "expires_at": made.expires_at})
    audit.record(team, by, "invited", made, told, name=made.title)
    return made, token


def find(token: str) -> Invitation | None:
    """The invitation that may still be used, of an owner who is one still."""
    found = (
        Invitation.unscoped.select_related("team", "created_by").filter(token_hash=_hashed(token), **_open()).first()
    )
    if found is None:
        return None
    owners = Membership.objects.filter(team=found.team_id, user=found.created_by_id, role=Role.OWNER)
    return found if owners.exists() else None


def _open() -> dict[str, object]:
    return {"used_at": None, "revoked_at": None, "expires_at__gt": timezone.now()}


@transaction.atomic
def use(invitation: Invitation, user: User) -> bool:
    """The user is a member; False where somebody was faster. Who is a member already uses up nothing."""
    if Membership.objects.filter(team=invitation.team_id, user=user).exists():
        return True
    used = Invitation.unscoped.filter(pk=invitation.pk, **_open()).update(used_at=timezone.now(), used_by=user)
    if used:
        members.add(invitation.team, user, user, invitation.role, how="joined by an invitation:")
    return bool(used)


@transaction.atomic
def revoke(invitation: Invitation, by: User) -> None:
    now = timezone.now()
    if Invitation.unscoped.filter(pk=invitation.pk, revoked_at=None, used_at=None).update(revoked_at=now):
        told = {"revoked_at": (None, now)}
        audit.record(invitation.team, by, "revoked the invitation", invitation, told, name=invitation.title)


def state_of(invitation: Invitation) -> str:
    if invitation.used_at:
        return f"used by {invitation.used_by or 'somebody who is no more'}"
    if invitation.revoked_at:
        return "revoked"
    return "expired" if invitation.expires_at <= timezone.now() else "open"


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
