"""Who may use REST v1: whoever is signed in or brings an API token, and for reading whoever opened a link (see
planner.sharing.middleware)."""

from typing import TYPE_CHECKING

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from planner.accounts import tokens
from planner.accounts.models import ApiToken, User
from planner.accounts.owned import Guest, may_write_by
from planner.api.throttles import failed_here

if TYPE_CHECKING:  # whose settings name this module
    from rest_framework.views import APIView

SCHEME = "bearer"


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer pp_<key>.<secret>``: its maker, narrowed to the token's team and scope (accounts.owned).
    A header that says so and is no valid token is refused, whoever else the request may be from: 401."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
        if scheme.lower() != SCHEME or isinstance(request._request.user, Guest):
            return None
        token = tokens.find(text.strip())
        if token is None or token.created_by is None:
            failed_here(request)
            raise AuthenticationFailed("No such token, or one that is revoked, expired or its maker's no more.")
        tokens.used(token)
        token.created_by.api_token = token
        return token.created_by, token

    def authenticate_header(self, request: Request) -> str:
        failed = request.META.get("HTTP_AUTHORIZATION", "").lower().startswith(SCHEME)
        return 'Bearer realm="Phaseplan"' + (', error="invalid_token"' if failed else "")


class GuestAuthentication(BaseAuthentication):
    """The guest as whom the link's middleware lets the request in: signed in or not, who opens a link is one there."""

    def authenticate(self, request: Request) -> tuple[Guest, None] | None:
        user = request._request.user
        return (user, None) if isinstance(user, Guest) else None


class SignedInOrGuest(BasePermission):
    """A guest reads alone, and so does a token of scope ``read``."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        reads = request.method in SAFE_METHODS
        if isinstance(request.user, Guest):
            return reads
        if isinstance(request.auth, ApiToken) and not reads and not may_write_by(request.auth):
            raise PermissionDenied("This token has scope read, expected one of scope write.")
        return bool(request.user and request.user.is_authenticated)
