"""Who may come in: the local user on the person's own machine, who signs in, and who has a link."""

from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from planner.accounts.owned import Guest
from planner.accounts.teams import local_user

# A proxy in front makes every visitor look local; what it adds gives it away.
PROXY_HEADERS = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP", "HTTP_VIA")


class LocalUserMiddleware:
    """With PHASEPLAN_LOCAL, a visitor from a loopback address is the local user; nobody else is."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.LOCAL:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if is_local(request):
            visitor = request.user
            request.user = SimpleLazyObject(lambda: visitor if visitor.is_authenticated else local_user())  # type: ignore[assignment]
        return self.get_response(request)


def is_local(request: HttpRequest) -> bool:
    if any(header in request.META for header in PROXY_HEADERS):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


class SignInMiddleware(LoginRequiredMiddleware):
    """Every page wants somebody who is signed in, or a guest, whom a link has let in (see planner.sharing)."""

    def process_view(self, request: HttpRequest, *view: Any) -> Any:
        return None if isinstance(request.user, Guest) else super().process_view(request, *view)
