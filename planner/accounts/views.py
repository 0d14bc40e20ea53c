"""The page of a team's API tokens."""

from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from planner.accounts import tokens
from planner.accounts.models import ApiToken, Membership, Role, User
from planner.accounts.token_form import TokenForm
from planner.accounts.visitor import person


@dataclass(frozen=True)
class Listed:
    """A token, never its secret. ``state``: in words; ``may_revoke``: this user."""

    token: ApiToken
    state: str
    may_revoke: bool


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    """POST makes one, and its answer is the only page that shows it."""
    user = person(request)
    form = TokenForm(user, request.POST if request.method == "POST" else None)
    made, text = form.issue() if form.is_valid() else (None, "")
    context = {"form": form if made is None else TokenForm(user), "made": made, "text": text, "rows": _listed(user)}
    return render(request, "accounts/tokens.html", context, status=422 if form.errors else 201 if made else 200)


@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """By its maker, or by an owner of the team."""
    user = person(request)
    row = get_object_or_404(ApiToken.objects.visible_to(user), pk=pk)
    if not _may_revoke(row, user, _owned_by(user)):
        raise PermissionDenied("A token is revoked by its maker or by an owner of the team.")
    tokens.revoke(row, user)
    messages.success(request, f"{row.name} is revoked.")
    return redirect("accounts:tokens")


def _listed(user: User) -> list[Listed]:
    rows = ApiToken.objects.visible_to(user).select_related("team", "created_by").order_by("-created_at", "-pk")
    owned = _owned_by(user)
    return [Listed(row, state_of(row), row.revoked_at is None and _may_revoke(row, user, owned)) for row in rows]


def state_of(row: ApiToken) -> str:
    if row.revoked_at:
        return "revoked"
    if row.expires_at and row.expires_at <= timezone.now():
        return "expired"
    return "in force" if row.is_valid() else "void: its maker is no member any more"


def _owned_by(user: User) -> set[int]:
    return set(Membership.objects.filter(user=user, role=Role.OWNER).values_list("team_id", flat=True))


def _may_revoke(row: ApiToken, user: User, owned: set[int]) -> bool:
    return row.created_by_id == user.pk or row.team_id in owned
