"""The first screen: the question, what is known of it at once, and the questions asked before."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from planner.accounts.owned import Visitor
from planner.accounts.visitor import person
from planner.catalogue.kept import NOTHING
from planner.scenarios.choices import Choices
from planner.scenarios.drafts import drop_draft, keep_draft, starting_form
from planner.scenarios.errors import FieldErrors
from planner.scenarios.forms import QuestionForm
from planner.scenarios.granting import shared_with
from planner.scenarios.lending import borrower
from planner.scenarios.page import QuestionPage
from planner.scenarios.preview import Preview
from planner.scenarios.preview import preview as preview_of
from planner.sharing.seen import seen_by
from planner.studies.models import Study
from planner.studies.page import result_page
from planner.studies.services import ask_new, editable

RECENT = 8


@require_http_methods(["GET", "HEAD", "POST"])
def question(request: HttpRequest) -> HttpResponse:
    """The sentence, and under it the answer to the question that it starts from."""
    if request.method == "POST":
        return _posted(request)
    study = _last_asked(request.user)
    form = starting_form(request.user, request, study.revision.inputs if study else {})
    return _page(request, form, study)


@require_safe
def preview(request: HttpRequest) -> HttpResponse:
    """What the fluid bound says about the values typed so far; ``of``: the study whose question is changed."""
    pk = request.GET.get("of", "")
    studies = Study.objects.visible_to(request.user).select_related("revision__scenario")
    study = studies.filter(pk=pk).first() if pk.isdecimal() and len(pk) < 19 else None
    user = borrower(person(request), study.revision.scenario) if study else request.user
    offered = Choices.of(user, study.revision.rows if study else NOTHING)
    found = preview_of(request.user, request.GET, offered)
    context = {"preview": found, "renewed": True}
    return render(request, "scenarios/_preview.html", context)


def upload_instead(request: HttpRequest) -> HttpResponse:
    """To the upload step; a workload's page leads back here with it chosen, and all else that was typed is kept."""
    keep_draft(request)
    return redirect("workloads:upload")


def refused(request: HttpRequest, error: FieldErrors, offered: Choices) -> QuestionForm:
    """The form as typed, with what is wrong; also what only the translation to a study could find."""
    form = QuestionForm(request.user, request.POST, offered=offered)
    form.is_valid()
    for name, message in error.fields.items():
        if name not in form.errors:
            form.add_error(name if name in form.fields else None, message)
    return form


def first_preview(form: QuestionForm) -> Preview:
    """The preview that a page starts with: of the form's own values."""
    if form.is_bound:
        return Preview()
    return preview_of(form.offered.user, {name: form[name].value() for name in form.fields}, form.offered)


def _posted(request: HttpRequest) -> HttpResponse:
    if request.POST.get("go") == "upload":
        return upload_instead(request)
    try:
        study = ask_new(request.user, request.POST)
    except FieldErrors as error:
        return _page(request, refused(request, error, Choices.of(request.user)), None)
    drop_draft(request)
    return redirect("studies:result", study.pk)


def _page(request: HttpRequest, form: QuestionForm, study: Study | None) -> HttpResponse:
    context = {
        "page": QuestionPage(form),
        "preview": first_preview(form),
        "ask_url": reverse("scenarios:question"),
        "study": study,
        "result_page": result_page(study, {}) if study else None,
        "can_edit": study is not None and editable(request.user, study),
        "seen_by": seen_by(request.user, study.revision.scenario) if study else None,
        "recent": _recent(request.user),
        "shared_with_me": shared_with(request.user),
    }
    return render(request, "scenarios/question.html", context)


def _last_asked(user: Visitor) -> Study | None:
    """The user's latest study, else the shipped example's."""
    studies = Study.objects.visible_to(user).select_related("revision__scenario")
    shipped = studies.filter(revision__scenario__shipped_id__isnull=False)
    return studies.filter(created_by_id=user.pk).first() or shipped.first()


def _recent(user: Visitor) -> list[Study]:
    """The latest study of each question, newest first."""
    studies = Study.objects.visible_to(user).select_related("revision__scenario", "created_by")
    latest: dict[int, Study] = {}
    for study in studies[: 4 * RECENT]:
        latest.setdefault(study.revision.scenario_id, study)
    return list(latest.values())[:RECENT]
