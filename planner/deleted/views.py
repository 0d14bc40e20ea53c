"""The page of what was deleted in one's teams, and the button that puts it back."""

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from planner.accounts.visitor import person
from planner.deleted.kinds import TakenError
from planner.deleted.services import every, one
from planner.deleted.services import restore as put_back

ROWS_A_PAGE = 100


@never_cache
@require_safe
def deleted(request: HttpRequest) -> HttpResponse:
    found = every(person(request))
    page = Paginator(found, ROWS_A_PAGE).get_page(request.GET.get("page"))
    several = len({row.row.team_id for row in found}) > 1
    context = {"page": page, "several_teams": several, "days": settings.KEEP_DELETED_DAYS}
    return render(request, "deleted/list.html", context)


@require_POST
def restore(request: HttpRequest, deleted_kind: str, deleted_id: int) -> HttpResponse:
    found = one(person(request), deleted_kind, deleted_id)
    try:
        said = put_back(person(request), found)
    except TakenError as error:
        messages.error(request, str(error))
        return redirect("deleted:list")
    messages.success(request, f"{found.title} is back. {said}".strip())
    return redirect(found.kind.page(found.row))
