"""A question shared with a person, and no more."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from planner.accounts.visitor import person
from planner.plain_text import plain
from planner.scenarios import granting
from planner.scenarios.history_views import scenario_for
from planner.scenarios.models import Grant

NAME_LENGTH = 150


@require_POST
def share(request: HttpRequest, scenario_id: int) -> HttpResponse:
    found, name, may = scenario_for(request, scenario_id), plain(request.POST.get("name", "")), request.POST.get("may")
    if may not in {"read", "write"}:
        raise Http404("Found no such right, expected read or write.")
    if not name or len(name) > NAME_LENGTH:
        messages.error(request, f"Found no name of 1 to {NAME_LENGTH} characters, expected the one they sign in by.")
        return redirect("scenarios:scenario", scenario_id)
    granting.grant(request.user, found, name, may_write=may == "write")
    messages.success(request, f"Shared with {name}, if anybody has this name.")
    return redirect("scenarios:scenario", scenario_id)


@require_POST
def end(request: HttpRequest, scenario_id: int, grant_id: int) -> HttpResponse:
    found = scenario_for(request, scenario_id)
    given = get_object_or_404(Grant.objects.owned_by(person(request)).filter(scenario=found), pk=grant_id)
    granting.end(request.user, given)
    messages.success(request, f"Shared with {given.name} no more.")
    return redirect("scenarios:scenario", scenario_id)
