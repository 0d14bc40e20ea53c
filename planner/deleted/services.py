"""What was deleted in a visitor's teams: listed, put back, and removed for good once it is old."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404
from django.utils import timezone

from planner.accounts import audit
from planner.accounts.models import Membership
from planner.accounts.owned import EDITING_ROLES, Visitor, may_write_by, token_of
from planner.deleted.kinds import KINDS, Kind
from planner.scenarios.services import author


@dataclass(frozen=True)
class Deleted:
    """A row that was deleted. ``may_restore``: whether the visitor may put it back."""

    kind: Kind
    row: Any
    may_restore: bool

    @property
    def name(self) -> str:
        """Of the row among all of them."""
        return f"{self.kind.name}/{self.row.pk}"

    @property
    def title(self) -> str:
        return self.kind.title(self.row)

    @property
    def kept_until(self) -> datetime:
        """From when on a purge by the server's own setting removes it."""
        at: datetime = self.row.deleted_at
        return at + timedelta(days=settings.KEEP_DELETED_DAYS)


def every(user: Visitor) -> list[Deleted]:
    """What was deleted in the visitor's teams, the last first; a query a kind."""
    writable = _writable(user)
    found = [
        Deleted(kind, row, row.team_id in writable)
        for kind in KINDS.values()
        for row in kind.listed(kind.rows.objects.deleted_in_teams_of(user)).select_related("team", "deleted_by")
    ]
    return sorted(found, key=lambda one: (one.row.deleted_at, one.name), reverse=True)


def one(user: Visitor, kind_name: str, pk: int) -> Deleted:
    """404 where there is none, or a stranger asks."""
    kind = KINDS.get(kind_name)
    if kind is None:
        raise Http404(f"kind: found '{kind_name}', expected one of {', '.join(KINDS)}")
    rows = kind.listed(kind.rows.objects.deleted_in_teams_of(user)).select_related("team", "deleted_by")
    row = rows.filter(pk=pk).first()
    if row is None:
        raise Http404("Nothing of this address was deleted, or it is there again, or it was removed for good.")
    return Deleted(kind, row, row.team_id in _writable(user))


@transaction.atomic
def restore(user: Visitor, found: Deleted) -> str:
    """Puts it back; what is to be said beside that. TakenError where something else is in its place."""
    if not found.may_restore:
        raise PermissionDenied("You may read in this team, but not put anything back.")
    return found.kind.put_back(found.row, author(user))


@dataclass(frozen=True)
class Purged:
    what: str
    rows: int
    kept: int
    """Of those old enough, how many something still needs."""


def purge(days: int, *, dry_run: bool = False) -> Iterator[Purged]:
    """Removes for good what was deleted longer than so many days ago, kind by kind; ``dry_run`` only counts."""
    before = timezone.now() - timedelta(days=days)
    for kind in KINDS.values():
        with transaction.atomic():
            old = kind.rows.unscoped.filter(deleted_at__lte=before)
            some = kind.purged(old)
            pks = list(some.values_list("pk", flat=True))
            kept = old.count() - len(pks)
            if not dry_run:
                for row in kind.listed(kind.rows.unscoped.filter(pk__in=pks)).select_related("team"):
                    told = {"deleted_at": (row.deleted_at, None)}
                    audit.record(row.team, None, "removed for good", row, told, name=kind.title(row))
                    row.delete()
        yield Purged(kind.what, len(pks), kept)


def _writable(user: Visitor) -> set[int]:
    """The visitor's teams where they may write."""
    token = token_of(user)
    if not user.is_authenticated or not may_write_by(token):
        return set()
    of = Membership.objects.filter(user=user.pk, role__in=EDITING_ROLES, **({"team": token.team_id} if token else {}))
    return set(of.values_list("team", flat=True))
