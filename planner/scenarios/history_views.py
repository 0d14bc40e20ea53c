"""A scenario's own page and what is done there: compare revisions, restore one, clone, share and revoke."""

from datetime import timedelta

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from planner.accounts.visitor import person
from planner.deleted.notice import say_deleted
from planner.scenarios import deleting
from planner.scenarios.errors import FieldErrors
from planner.scenarios.history import History, compare
from planner.scenarios.labels import label_of
from planner.scenarios.lending import is_member
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import save_revision
from planner.sharing import cloning, links
from planner.sharing.models import ShareLink
from planner.studies.models import Study
from planner.studies.services import start_study

LINK_DAYS = (("7", "in a week"), ("30", "in 30 days"), ("90", "in 90 days"), ("365", "in a year"), ("", "never"))


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
def delete(request: HttpRequest, scenario_id: int) -> HttpResponse:
    """With its revisions, answers and links; the page that follows offers to undo it."""
    found = scenario_for(request, scenario_id)
    title = found.latest.title
    try:
        stopped = deleting.delete(request.user, found)
    except deleting.ShippedError as error:
        messages.error(request, str(error))
        return redirect("scenarios:scenario", scenario_id)
    under_way = f" {stopped} {'study' if stopped == 1 else 'studies'} under way stopped." if stopped else ""
    say_deleted(request, f"{title} is deleted, with its answers and links.{under_way}", "scenarios", scenario_id)
    return redirect("scenarios:question")


@require_POST
def clone(request: HttpRequest, scenario_id: int, number: int) -> HttpResponse:
    """A revision as a question of its own."""
    revision = _revision(request, scenario_id, number)
    try:
        study = _cloned(request, revision)
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
    days = request.POST.get("days", "")
    if days not in dict(LINK_DAYS):
        raise Http404("Found no such end of a link.")
    link, token = links.create(
        request.user,
        study,
        request.POST.get("label", ""),
        may_clone="may_clone" in request.POST,
        follows=request.POST.get("shows") == "latest",
        holds=timedelta(days=int(days)) if days else None,
    )
    address = request.build_absolute_uri(f"/shared/{token}/")
    return _page(request, found, {"new_link": link, "address": address})


@require_POST
def revoke(request: HttpRequest, scenario_id: int, link_id: int) -> HttpResponse:
    found = scenario_for(request, scenario_id)
    mine = ShareLink.objects.editable_by(request.user).filter(pk=link_id, study__revision__scenario=found).first()
    if mine is None:
        raise Http404("No such link of this question.")
    links.revoke(mine, request.user)
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


def _cloned(request: HttpRequest, revision: Revision) -> Study:
    """One that was shared with the visitor comes with copies of what it rests on."""
    if is_member(person(request), revision.scenario):
        return cloning.clone_own(request.user, revision)
    answered = Study.objects.visible_to(request.user).filter(revision=revision).select_related("workload").first()
    if answered is None:
        raise FieldErrors({"__all__": "It was not answered; expected a revision with an answer."})
    return cloning.clone_shared(request.user, answered)


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
        "can_share": Scenario.objects.owned_by(request.user).filter(pk=found.pk).exists(),
        "is_member": is_member(person(request), found),
        "link_days": LINK_DAYS,
        "to_share": request.GET.get("study", ""),
        **(more or {}),
    }
    return render(request, "scenarios/scenario.html", context)
