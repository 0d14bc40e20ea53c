"""Rows deleted, put back and removed: what all kinds of them have in common (planner.deleted shows them)."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.accounts import audit
from planner.accounts.models import User
from planner.accounts.owned import DeletableModel


@transaction.atomic
def delete(row: DeletableModel, user: User, name: str) -> bool:
    """From now on nobody reads it, but among what was deleted. False where somebody deleted it meanwhile. ``name``: as
    the history keeps it."""
    now = timezone.now()
    if not type(row).unscoped.filter(pk=row.pk, deleted_at=None).update(deleted_at=now, deleted_by=user):
        return False
    audit.record(row.team, user, "deleted", row, {"deleted_at": (None, now)}, name=name)
    return True


@transaction.atomic
def put_back(row: DeletableModel, user: User, name: str, **changed: Any) -> bool:
    """As it was, but for what is ``changed``. False where it is there already, or was purged."""
    back = {"deleted_at": None, "deleted_by": None, **changed}
    if not type(row).unscoped.filter(pk=row.pk, deleted_at__isnull=False).update(**back):
        return False
    told = audit.changed(audit.values(row, ("deleted_at", *changed)), {"deleted_at": None, **changed})
    audit.record(row.team, user, "restored", row, told, name=name)
    return True
