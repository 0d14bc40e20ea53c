"""Pages of the workloads: the list, one of them, and the two ways to a new one."""

from typing import Any

from django.contrib import messages
from django.db.models import ProtectedError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from planner.accounts.models import User
from planner.accounts.teams import working_team, writing_team
from planner.workloads.exports import csv_lines
from planner.workloads.forms import MixForm, NamedForm, UploadForm
from planner.workloads.models import Workload
from planner.workloads.page import listed, workload_page
from planner.workloads.readable import limits, readable
from planner.workloads.upload_limit import too_large


@require_safe
def workload_list(request: HttpRequest) -> HttpResponse:
    rows = Workload.objects.visible_to(request.user).defer("report").select_related("created_by")
    may_add = working_team(_user(request)) is not None
    return render(request, "workloads/list.html", {"rows": [listed(row) for row in rows], "may_add": may_add})


@require_safe
def workload_detail(request: HttpRequest, pk: int) -> HttpResponse:
    workload = _visible(request, pk)
    editable = Workload.objects.editable_by(request.user).filter(pk=pk).exists()
    return render(request, "workloads/detail.html", {"page": workload_page(workload), "editable": editable})


@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest) -> HttpResponse:
    team = writing_team(_user(request))
    if request.method == "POST":
        form = UploadForm(team, _user(request), request.POST, request.FILES, too_large="file" in too_large(request))
    else:
        form = UploadForm(team, _user(request))
    return _answer(request, form, "workloads/upload.html", {"formats": readable(), "limits": limits()})


@require_http_methods(["GET", "HEAD", "POST"])
def new_mix(request: HttpRequest) -> HttpResponse:
    data = request.POST if request.method == "POST" else None
    return _answer(request, MixForm(writing_team(_user(request)), _user(request), data), "workloads/mix.html", {})


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    workload = get_object_or_404(Workload.objects.editable_by(request.user), pk=pk)
    try:
        workload.delete()
    except ProtectedError as error:
        studies = len(error.protected_objects)
        messages.error(request, f"{workload.name} is kept: {studies} stud{'y' if studies == 1 else 'ies'} used it.")
        return redirect("workloads:detail", pk=pk)
    messages.success(request, f"{workload.name} is deleted.")
    return redirect("workloads:list")


@require_safe
def download(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """The requests in Phaseplan's own format."""
    workload = _visible(request, pk)
    response = StreamingHttpResponse(csv_lines(workload.trace()), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="workload-{workload.pk}.csv"'
    return response


def _answer(request: HttpRequest, form: NamedForm, template: str, context: dict[str, Any]) -> HttpResponse:
    if form.is_bound and form.is_valid() and (workload := form.save()):
        messages.success(request, f"{workload.name} is saved.")
        return redirect("workloads:detail", pk=workload.pk)
    return render(request, template, {"form": form, **context})


def _visible(request: HttpRequest, pk: int) -> Workload:
    return get_object_or_404(Workload.objects.visible_to(request.user), pk=pk)


def _user(request: HttpRequest) -> User:
    return request.user  # type: ignore[return-value]
