"""A kind's section of the result page, by itself: asked for, running, done or failed."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from planner.analyses import services
from planner.analyses.asking import given_by
from planner.analyses.page import Section, known, section
from planner.analyses.page import sections as sections_of
from planner.studies.actions import study_for
from planner.studies.models import Study
from planner.studies.services import editable
from planner.studies.views import STOP_POLLING
from simcore.analyses import kind_of
from simcore.spec import SpecError


@require_safe
def sections(request: HttpRequest, study_id: int) -> HttpResponse:
    """All sections: what the page of a running study asks for until it is done."""
    study = study_for(request, study_id)
    found = sections_of(study, request.user, request.GET.dict())
    context = {"study": study, "sections": found, "can_edit": editable(request.user, study)}
    template = "analyses/_sections.html" if request.htmx else "analyses/page.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=_code(request, study.is_active))


@require_http_methods(["GET", "HEAD", "POST"])
def analysis(request: HttpRequest, study_id: int, kind: str) -> HttpResponse:
    """One section: as it is, or asked for now."""
    study = study_for(request, study_id)
    if request.method != "POST":
        found = _section(study, kind, request.GET)
        return _shown(request, found, _code(request, found.is_active))
    _may_ask(request, study)
    found = _section(study, kind, request.POST)
    try:
        services.request(request.user, study, kind, found.given, found.supposed)
    except SpecError:
        return _shown(request, found, 200 if request.htmx else 422)  # type: ignore[attr-defined]  # htmx drops a 422
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{found.address}{found.query}")
    return _shown(request, _section(study, kind, request.POST))


@require_POST
def cancel(request: HttpRequest, study_id: int, kind: str) -> HttpResponse:
    study = study_for(request, study_id)
    _may_ask(request, study)
    found = _section(study, kind, request.POST)
    if found.asked is not None:
        services.cancel(request.user, found.asked)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{found.address}{found.query}")
    return _shown(request, _section(study, kind, request.POST))


def _section(study: Study, kind: str, query: QueryDict) -> Section:
    if not known(kind):
        raise Http404("No such analysis.")
    return section(study, kind, given_by(query.dict(), kind_of(kind)), query.dict()).opened


def _may_ask(request: HttpRequest, study: Study) -> None:
    if not editable(request.user, study):
        raise PermissionDenied("You may read this study, but have nothing simulated for it.")


def _shown(request: HttpRequest, found: Section, status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {"study": found.study, "can_edit": editable(request.user, found.study)}
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "analyses/_section.html", context | {"section": found, "renewed": True}, status=status)
    return render(request, "analyses/page.html", context | {"sections": [found], "alone": found}, status=status)


def _code(request: HttpRequest, active: bool) -> int:
    polled: bool = request.htmx  # type: ignore[attr-defined]
    return STOP_POLLING if polled and not active else 200
