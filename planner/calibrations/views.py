"""Pages of the calibrations: the list (power logs too), one of them, and a new one from benchmark files."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from planner.accounts.models import User
from planner.accounts.teams import working_team, writing_team
from planner.calibrations.dependents import deleted_words, dependents
from planner.calibrations.forms import CalibrationForm
from planner.calibrations.models import Calibration
from planner.calibrations.page import calibration_page, listed
from planner.calibrations.services import PREFIX
from planner.power_logs.models import PowerLog
from planner.power_logs.page import listed as listed_log
from planner.workloads.upload_limit import too_large


@require_safe
def calibration_list(request: HttpRequest) -> HttpResponse:
    rows = Calibration.objects.visible_to(request.user).select_related("created_by")
    may_add = working_team(_user(request)) is not None
    logs = [listed_log(log) for log in PowerLog.objects.visible_to(request.user).select_related("created_by")]
    found = {"rows": [listed(row) for row in rows], "power_logs": logs, "may_add": may_add}
    return render(request, "calibrations/list.html", found)


@require_safe
def calibration_detail(request: HttpRequest, pk: int) -> HttpResponse:
    calibration = _visible(request, pk)
    editable = Calibration.objects.editable_by(request.user).filter(pk=pk).exists()
    page = calibration_page(calibration)
    found = {"page": page, "editable": editable, "dependents": dependents(request.user, f"{PREFIX}{pk}")}
    return render(request, "calibrations/detail.html", found)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    user = _user(request)
    team = writing_team(user)
    form = CalibrationForm(team, user)
    if request.method == "POST":
        form = CalibrationForm(team, user, request.POST, request.FILES, too_large="benchmarks" in too_large(request))
        if form.is_valid() and (calibration := form.save()):
            messages.success(request, f"{calibration.name} is saved.")
            return redirect("calibrations:detail", pk=calibration.pk)
    return render(request, "calibrations/new.html", {"form": form})


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    calibration = get_object_or_404(Calibration.objects.editable_by(request.user), pk=pk)
    used = dependents(request.user, f"{PREFIX}{pk}")
    calibration.delete()
    messages.success(request, deleted_words(calibration.name, used))
    return redirect("calibrations:list")


@require_safe
def download(request: HttpRequest, pk: int) -> HttpResponse:
    """The LATENCY.json, for the command line."""
    response = HttpResponse(_visible(request, pk).content, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="latency-{pk}.json"'
    return response


def _visible(request: HttpRequest, pk: int) -> Calibration:
    return get_object_or_404(Calibration.objects.visible_to(request.user), pk=pk)


def _user(request: HttpRequest) -> User:
    return request.user  # type: ignore[return-value]
