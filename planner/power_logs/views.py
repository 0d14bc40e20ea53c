"""Pages of power logs: one of them, and a new one from uploaded files. The list is the calibrations'."""

import json

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from planner.accounts.models import User
from planner.accounts.teams import writing_team
from planner.calibrations.dependents import deleted_words, dependents
from planner.power_logs.forms import PowerLogForm
from planner.power_logs.models import PowerLog
from planner.power_logs.page import power_log_page
from planner.power_logs.services import PREFIX
from planner.workloads.upload_limit import too_large


@require_safe
def power_log_detail(request: HttpRequest, pk: int) -> HttpResponse:
    log = _visible(request, pk)
    editable = PowerLog.objects.editable_by(request.user).filter(pk=pk).exists()
    found = {"page": power_log_page(log), "editable": editable, "dependents": dependents(request.user, f"{PREFIX}{pk}")}
    return render(request, "power_logs/detail.html", found)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    team = writing_team(user)
    form = PowerLogForm(team, user)
    if request.method == "POST":
        form = PowerLogForm(team, user, request.POST, request.FILES, too_large="logs" in too_large(request))
        if form.is_valid() and (log := form.save()):
            messages.success(request, f"{log.name} is saved.")
            return redirect("power_logs:detail", pk=log.pk)
    return render(request, "power_logs/new.html", {"form": form})


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    log = get_object_or_404(PowerLog.objects.editable_by(request.user), pk=pk)
    used = dependents(request.user, f"{PREFIX}{pk}")
    log.delete()
    messages.success(request, deleted_words(log.name, used))
    return redirect("calibrations:list")


@require_safe
def download_report(request: HttpRequest, pk: int) -> HttpResponse:
    """What the command line prints."""
    return _file(json.dumps(_visible(request, pk).report, indent=1, ensure_ascii=False), f"power-{pk}.json")


@require_safe
def download_machine(request: HttpRequest, pk: int) -> HttpResponse:
    """The MACHINE.json, as a case's ``pools[].machine`` takes it."""
    content = _visible(request, pk).content
    if not content:
        raise Http404("Nothing was said of the run: the log makes no machine.")
    return _file(content, f"machine-{pk}.json")


def _file(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _visible(request: HttpRequest, pk: int) -> PowerLog:
    return get_object_or_404(PowerLog.objects.visible_to(request.user), pk=pk)
