"""How much one caller may ask: all requests, those that write, and attempts with a token that is none."""

from typing import TYPE_CHECKING

from rest_framework.exceptions import Throttled
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle, UserRateThrottle

from planner.accounts.models import ApiToken

if TYPE_CHECKING:  # whose settings name this module
    from rest_framework.views import APIView


class CallerRateThrottle(UserRateThrottle):
    """A user's requests; those with a token are counted by token."""

    def get_cache_key(self, request: Request, view: "APIView") -> str | None:
        if isinstance(request.auth, ApiToken):
            return str(self.cache_format % {"scope": self.scope, "ident": f"token-{request.auth.pk}"})
        key: str | None = super().get_cache_key(request, view)
        return key


class WriteRateThrottle(CallerRateThrottle):
    """Those of them that change something: each may have a study simulated."""

    scope = "write"

    def get_cache_key(self, request: Request, view: "APIView") -> str | None:
        return None if request.method in SAFE_METHODS else super().get_cache_key(request, view)


class FailedTokenThrottle(SimpleRateThrottle):
    """Attempts with a token that is none, by address. Whoever has a good one is not kept out by a neighbour's."""

    scope = "failed_token"

    def get_cache_key(self, request: Request, view: "APIView | None") -> str:
        return str(self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)})


def failed_here(request: Request) -> None:
    """Counts one; Throttled (429) where there were too many from this address."""
    throttle = FailedTokenThrottle()
    if not throttle.allow_request(request, None):
        raise Throttled(throttle.wait())
