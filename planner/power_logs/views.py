"""Pages of power logs: one of them, and a new one from uploaded files. The list is the calibrations'."""

import json

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from planner.calibrations import uploaded
from planner.calibrations.dependents import dependents
from planner.power_logs.forms import PowerLogForm
from planner.power_logs.models import PowerLog
from planner.power_logs.page import power_log_page
from planner.power_logs.services import PREFIX


@require_safe
def power_log_detail(request: HttpRequest, pk: int) -> HttpResponse:
    log = _visible(request, pk)
    editable = PowerLog.objects.editable_by(request.user).filter(pk=pk).exists()
    found = {"page": power_log_page(log), "editable": editable, "dependents": dependents(request.user, f"{PREFIX}{pk}")}
    return render(request, "power_logs/detail.html", found)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    return uploaded.add(request, PowerLogForm, "logs", "power_logs")


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    return uploaded.delete(request, PowerLog.objects, PREFIX, pk)


@require_safe
def download_report(request: HttpRequest, pk: int) -> HttpResponse:
    """What the command line prints."""
    return uploaded.download(json.dumps(_visible(request, pk).report, indent=1, ensure_ascii=False), f"power-{pk}.json")


@require_safe
def download_machine(request: HttpRequest, pk: int) -> HttpResponse:
    """The MACHINE.json, as a case's ``pools[].machine`` takes it."""
    content = _visible(request, pk).content
    if not content:
        raise Http404("Nothing was said of the run: the log makes no machine.")
    return uploaded.download(content, f"machine-{pk}.json")


def _visible(request: HttpRequest, pk: int) -> PowerLog:
    return get_object_or_404(PowerLog.objects.visible_to(request.user), pk=pk)
