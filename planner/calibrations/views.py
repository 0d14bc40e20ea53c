"""Pages of the calibrations: the list (power logs too), one of them, and a new one from benchmark files."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from planner.accounts.models import User
from planner.accounts.teams import working_team
from planner.calibrations import uploaded
from planner.calibrations.dependents import dependents
from planner.calibrations.forms import CalibrationForm
from planner.calibrations.models import Calibration
from planner.calibrations.page import calibration_page, listed
from planner.calibrations.services import PREFIX
from planner.power_logs.models import PowerLog
from planner.power_logs.page import listed as listed_log


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
    return uploaded.add(request, CalibrationForm, "benchmarks", "calibrations")


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    return uploaded.delete(request, Calibration.objects, PREFIX, pk)


@require_safe
def download(request: HttpRequest, pk: int) -> HttpResponse:
    """The LATENCY.json, for the command line."""
    return uploaded.download(_visible(request, pk).content, f"latency-{pk}.json")


def _visible(request: HttpRequest, pk: int) -> Calibration:
    return get_object_or_404(Calibration.objects.visible_to(request.user), pk=pk)


def _user(request: HttpRequest) -> User:
    return request.user  # type: ignore[return-value]
