"""A scenario's own page and what is done there: compare revisions, restore one, clone, share and revoke."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from planner.scenarios.errors import FieldErrors
from planner.scenarios.history import History, compare
from planner.scenarios.labels import label_of
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import save_revision
from planner.sharing import cloning, links
from planner.sharing.models import ShareLink
from planner.studies.models import Study
from planner.studies.services import start_study


@require_safe
def scenario(request: HttpRequest, scenario_id: int) -> HttpResponse:
    """Revisions, links, and with ``a`` and ``b`` what differs between two revisions."""
    return _page(request, scenario_for(request, scenario_id))


@require_POST
def restore(request: HttpRequest, scenario_id: int, number: int) -> HttpResponse:
    """An old revision's inputs, and the rows that it keeps, as the next revision, and the answer to it."""
    revision = _revision(request, scenario_id, number)
    try:
        restored = save_revision(request.user, revision.scenario, revision.inputs, kept=revision.rows)
        study = start_study(request.user, restored)
    except FieldErrors as error:
        return _refused(request, revision, error)
    return redirect("studies:result", study.pk)


@require_POST
def clone(request: HttpRequest, scenario_id: int, number: int) -> HttpResponse:
    """A revision as a question of its own."""
    revision = _revision(request, scenario_id, number)
    try:
        study = cloning.clone_own(request.user, revision)
    except FieldErrors as error:
        return _refused(request, revision, error)
    return redirect("studies:result", study.pk)


@never_cache
@require_POST
def share(request: HttpRequest, scenario_id: int) -> HttpResponse:
    """A new link. This answer is the only one that shows its address."""
    found = scenario_for(request, scenario_id)
    studies = Study.objects.visible_to(request.user).filter(revision__scenario=found)
    pk = request.POST.get("study", "")
    study = studies.filter(pk=pk).first() if pk.isdecimal() and len(pk) < 19 else None
    if study is None:
        raise Http404("No such answer of this question.")
    link, token = links.create(
        request.user, study, request.POST.get("label", ""), may_clone="may_clone" in request.POST
    )
    address = request.build_absolute_uri(f"/shared/{token}/")
    return _page(request, found, {"new_link": link, "address": address})


@require_POST
def revoke(request: HttpRequest, scenario_id: int, link_id: int) -> HttpResponse:
    found = scenario_for(request, scenario_id)
    mine = ShareLink.objects.editable_by(request.user).filter(pk=link_id, study__revision__scenario=found).first()
    if mine is None:
        raise Http404("No such link of this question.")
    links.revoke(mine)
    messages.success(request, f"{mine.title} is revoked: it opens no more.")
    return redirect("scenarios:scenario", scenario_id)


def scenario_for(request: HttpRequest, scenario_id: int) -> Scenario:
    """The scenario, if the visitor's teams own it; 404 otherwise."""
    found = (
        Scenario.objects.visible_to(request.user).select_related("team", "created_by").filter(pk=scenario_id).first()
    )
    if found is None:
        raise Http404("No such question.")
    return found


def _revision(request: HttpRequest, scenario_id: int, number: int) -> Revision:
    found: Revision | None = scenario_for(request, scenario_id).revisions.filter(number=number).first()
    if found is None:
        raise Http404("No such revision.")
    return found


def _refused(request: HttpRequest, revision: Revision, error: FieldErrors) -> HttpResponse:
    """What the revision rests on is not there any more."""
    for name, message in error.fields.items():
        label = "" if name == "__all__" else f"{label_of(name)}: "
        messages.error(request, f"Revision {revision.number} cannot be asked any more. {label}{message}")
    return redirect("scenarios:scenario", revision.scenario_id)


def _page(request: HttpRequest, found: Scenario, more: dict[str, object] | None = None) -> HttpResponse:
    history = History(request.user, found)
    context = {
        "scenario": found,
        "history": history,
        "compared": compare(history, request.GET.get("a", ""), request.GET.get("b", "")),
        "asked_to_compare": "a" in request.GET or "b" in request.GET,
        "can_edit": Scenario.objects.editable_by(request.user).filter(pk=found.pk).exists(),
        "to_share": request.GET.get("study", ""),
        **(more or {}),
    }
    return render(request, "scenarios/scenario.html", context)
