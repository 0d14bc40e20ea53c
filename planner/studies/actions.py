"""What a page's buttons do to a study, and its downloads."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe

from planner.accounts.owned import Visitor
from planner.scenarios.errors import FieldErrors
from planner.studies import exports, services
from planner.studies.models import Study
from planner.studies.supposing import supposed


def study_for(request: HttpRequest, study_id: int) -> Study:
    """The study, if the visitor's teams own it; 404 otherwise, so that a stranger cannot tell that it is there."""
    rows = Study.objects.visible_to(request.user).select_related("revision__scenario", "workload")
    study = rows.filter(pk=study_id).first()
    if study is None:
        raise Http404("No such study.")
    return study


@require_POST
def cancel(request: HttpRequest, study_id: int) -> HttpResponse:
    return _moved(request, study_id, services.cancel)


@require_POST
def retry(request: HttpRequest, study_id: int) -> HttpResponse:
    return _moved(request, study_id, services.retry)


@require_safe
def designs_csv(request: HttpRequest, study_id: int) -> HttpResponse:
    study = study_for(request, study_id)
    return _file(request, study, exports.designs_csv, "csv", "text/csv; charset=utf-8")


@require_safe
def designs_json(request: HttpRequest, study_id: int) -> HttpResponse:
    def text(study: Study, query: Mapping[str, Any]) -> str:
        return json.dumps(exports.designs_json(study, query), indent=1, ensure_ascii=False)

    return _file(request, study_for(request, study_id), text, "json", "application/json")


def _moved(request: HttpRequest, study_id: int, action: Callable[[Study, Visitor], None]) -> HttpResponse:
    study = study_for(request, study_id)
    if not services.editable(request.user, study):
        raise PermissionDenied("You may read this study, but not change it.")
    action(study, request.user)
    return redirect("studies:result", study_id)


def _file(
    request: HttpRequest, study: Study, made: Callable[[Study, Mapping[str, Any]], str], kind: str, content_type: str
) -> HttpResponse:
    """A download named after the question; of a study that is not complete, or under what is supposed, it says so in
    its name."""
    try:
        text = made(study, request.GET)
    except FieldErrors as error:
        return HttpResponseBadRequest("\n".join(f"{name}: {said}" for name, said in error.fields.items()), "text/plain")
    name = slugify(study.revision.title.replace("/", " per "))[:60] or "study"
    partial = "-partial" if study.is_partial else ""
    what_if = "-what-if" if supposed(study, request.GET)[1].changes else ""
    response = HttpResponse(text, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}-{study.pk}{partial}{what_if}.{kind}"'
    return response
