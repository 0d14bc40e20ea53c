"""Pages of the workloads: the list, one of them, and the two ways to a new one."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from planner.accounts.models import User
from planner.accounts.teams import working_team, writing_team
from planner.workloads import services
from planner.workloads.dependents import dependents, is_used
from planner.workloads.exports import csv_lines
from planner.workloads.forms import NamedForm, SaveForm, UploadForm
from planner.workloads.mix_form import MixForm
from planner.workloads.mix_preview import mix_preview, preview_of
from planner.workloads.models import Workload
from planner.workloads.page import DraftRow, listed, workload_page
from planner.workloads.readable import limits, readable
from planner.workloads.rescaling import Rescaling, rate_of, rescaling
from planner.workloads.upload_limit import too_large
from simcore.spec import SpecError


@require_safe
def workload_list(request: HttpRequest) -> HttpResponse:
    rows = Workload.objects.visible_to(request.user).defer("report").select_related("created_by")
    may_add = working_team(_user(request)) is not None
    found = {"rows": [listed(row) for row in rows], "may_add": may_add, "drafts": _drafts(request)}
    return render(request, "workloads/list.html", found)


@require_safe
def workload_detail(request: HttpRequest, pk: int) -> HttpResponse:
    workload = _visible(request, pk)
    found = {
        "page": workload_page(workload),
        "editable": Workload.objects.editable_by(request.user).filter(pk=pk).exists(),
        "dependents": dependents(request.user, workload),
    }
    return render(request, "workloads/detail.html", found | _at_rate(request, workload))


@require_safe
def rescaled(request: HttpRequest, pk: int) -> HttpResponse:
    """How bursty the workload comes out at the rate asked for: the section alone."""
    workload = _visible(request, pk)
    return render(request, "workloads/_rescaled.html", {"workload": workload} | _at_rate(request, workload))


def _at_rate(request: HttpRequest, workload: Workload) -> dict[str, Any]:
    """The section of the rate in the address: what was typed, and what came of it or what is wrong with it."""
    typed = request.GET.get("rate", "")
    found: Rescaling | None = None
    problem = ""
    if typed:
        try:
            found = rescaling(workload, rate_of(typed))
        except SpecError as error:
            problem = f"Requests/s: {error}."
    return {"typed_rate": typed, "rescaling": found, "rate_problem": problem}


@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest) -> HttpResponse:
    team = writing_team(_user(request))
    if request.method == "POST":
        form = UploadForm(team, _user(request), request.POST, request.FILES, too_large="file" in too_large(request))
    else:
        form = UploadForm(team, _user(request))
    if form.is_bound and form.is_valid() and (draft := form.save()):
        return redirect("workloads:report", pk=draft.pk)
    found = {"form": form, "formats": readable(), "limits": limits(), "drafts": _drafts(request)}
    return render(request, "workloads/upload.html", found)


@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, pk: int) -> HttpResponse:
    """What reading an uploaded file found, before it is saved; posted, it is."""
    draft = Workload.objects.drafts_of(request.user).filter(pk=pk).first()
    if draft is None:  # saved already, or never there
        return redirect("workloads:detail", pk=_visible(request, pk).pk)
    team, user = draft.team or writing_team(_user(request)), _user(request)
    form = SaveForm(team, user, draft, request.POST if request.method == "POST" else None)
    return _answer(request, form, "workloads/report.html", {"page": workload_page(draft), "draft": draft})


@require_POST
def discard(request: HttpRequest, pk: int) -> HttpResponse:
    draft = get_object_or_404(Workload.objects.drafts_of(request.user), pk=pk)
    services.discard(_user(request), draft)
    messages.success(request, f"{draft.file_name} is discarded: nothing of it is kept.")
    return redirect("workloads:upload")


@require_http_methods(["GET", "HEAD", "POST"])
def new_mix(request: HttpRequest) -> HttpResponse:
    team, user = writing_team(_user(request)), _user(request)
    if request.method != "POST":
        form = MixForm(team, user)
        return render(request, "workloads/mix.html", {"form": form, "preview": mix_preview(form)})
    going = request.POST.get("go", "")
    if going == "add" or going.startswith("remove-"):
        form = MixForm.restarted(team, user, request.POST, going)
        return render(request, "workloads/mix.html", {"form": form, "preview": mix_preview(form)})
    form = MixForm(team, user, request.POST)
    context = {"preview": preview_of(form.spec)} if form.is_valid() else {}
    return _answer(request, form, "workloads/mix.html", context)


@require_POST
def mix_preview_part(request: HttpRequest) -> HttpResponse:
    """What the form would generate: the part below it alone."""
    form = MixForm(writing_team(_user(request)), _user(request), _unnamed(request.POST))
    return render(request, "workloads/_mix_preview.html", {"preview": mix_preview(form)})


def _unnamed(typed: QueryDict) -> QueryDict:
    """A name that is taken stands in no preview's way."""
    data = typed.copy()
    data["name"] = ""
    return data


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    workload = get_object_or_404(Workload.objects.editable_by(request.user), pk=pk)
    if is_used(workload):
        named = "; ".join(f"{one.name} ({one.counted})" for one in dependents(request.user, workload))
        messages.error(request, f"{workload.name} is kept, for questions ask about it: {named}.")
        return redirect("workloads:detail", pk=pk)
    services.delete(_user(request), workload)
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


def _drafts(request: HttpRequest) -> list[DraftRow]:
    """What the user uploaded and has not saved yet."""
    rows = Workload.objects.drafts_of(request.user).only("file_name", "requests", "created_at")
    return [DraftRow(row) for row in rows]


def _visible(request: HttpRequest, pk: int) -> Workload:
    return get_object_or_404(Workload.objects.visible_to(request.user), pk=pk)


def _user(request: HttpRequest) -> User:
    return request.user  # type: ignore[return-value]
