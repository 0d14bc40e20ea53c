"""Who may use REST v1: whoever is signed in, and for reading whoever opened a link (see planner.sharing.middleware)."""

from typing import TYPE_CHECKING

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from planner.accounts.owned import Guest

if TYPE_CHECKING:  # whose settings name this module
    from rest_framework.views import APIView


class GuestAuthentication(BaseAuthentication):
    """The guest as whom the link's middleware lets the request in: signed in or not, who opens a link is one there."""

    def authenticate(self, request: Request) -> tuple[Guest, None] | None:
        user = request._request.user
        return (user, None) if isinstance(user, Guest) else None


class SignedInOrGuest(BasePermission):
    """A guest reads alone."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        if isinstance(request.user, Guest):
            return request.method in SAFE_METHODS
        return bool(request.user and request.user.is_authenticated)
