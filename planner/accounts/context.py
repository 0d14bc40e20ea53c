"""What every page's head says of its visitor."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from planner.accounts.models import User
from planner.accounts.teams import LOCAL, working_team


def visitor(request: HttpRequest) -> dict[str, Any]:
    """``working_team``: which team's what they save is, asked for when a page says it. ``single_user``: nobody signs in
    here, and this is the one person."""
    return {
        "working_team": SimpleLazyObject(lambda: _working_team(request)),
        "single_user": settings.LOCAL and getattr(request.user, "username", "") == LOCAL,
    }


def _working_team(request: HttpRequest) -> Any:
    user = getattr(request, "user", None)
    return working_team(user) if isinstance(user, User) else None
