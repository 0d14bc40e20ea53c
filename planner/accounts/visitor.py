"""Who asks."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from planner.accounts.models import User


def person(request: HttpRequest) -> User:
    """The signed-in user of a request. The login middleware lets nobody else reach a page; a slip of it ends here."""
    user = request.user
    if not isinstance(user, User):
        raise PermissionDenied
    return user
