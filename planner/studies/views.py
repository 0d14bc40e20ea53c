"""The result page and its parts: progress, the power chart, one design, the answer in short."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from planner.accounts.models import User
from planner.accounts.owned import Guest
from planner.accounts.teams import working_team, writing_team
from planner.accounts.visitor import person
from planner.catalogue.changes import changes_since
from planner.catalogue.kept import NOTHING
from planner.plain_text import plain
from planner.scenarios import meanwhile
from planner.scenarios.choices import Choices
from planner.scenarios.drafts import drop_draft
from planner.scenarios.errors import FieldErrors
from planner.scenarios.forms import QuestionForm
from planner.scenarios.lending import borrower, is_lent
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.page import QuestionPage
from planner.scenarios.services import TODAY, SavedMeanwhileError, Start, save_revision
from planner.scenarios.views import first_preview, refused, upload_instead
from planner.sharing.seen import seen_by
from planner.studies import asked as asked_of
from planner.studies.actions import study_for
from planner.studies.models import Study
from planner.studies.page import VIEWS, ResultPage, result_page
from planner.studies.panel import design_panel
from planner.studies.pilot import Judged, judge, kit_of, pilot_page, save_calibrations
from planner.studies.pilot import read as read_results
from planner.studies.repriced import price_change
from planner.studies.results import headline as headline_of
from planner.studies.results import study_result
from planner.studies.services import ask_new, editable, start_study
from planner.studies.simulating import check, keep, simulated_before
from planner.studies.tables import Extent
from simcore.answer.result import StudyResult
from simcore.measurements import Measurements
from simcore.rows import DesignRow
from simcore.spec import Case, SpecError

STOP_POLLING = 286
"""htmx swaps the answer in and asks no more."""


@require_safe
def result(request: HttpRequest, study_id: int) -> HttpResponse:
    """The question, its answer so far, the frontiers and their tables; of a guest's link, nothing to change them by."""
    study = study_for(request, study_id)
    if isinstance(request.user, Guest) or is_lent(person(request), study.revision.scenario):
        read = {"asked": asked_of.sentence(study), "set_apart": asked_of.set_apart(study), "read_only": True}
        return _rendered(request, study, read)
    form = QuestionForm(request.user, initial=study.revision.inputs, offered=_offered(request, study))
    return _page(request, study, form)


@require_POST
def ask(request: HttpRequest, study_id: int) -> HttpResponse:
    """The question changed: a new revision, or a question of the asker's own where this one is not theirs to change."""
    study = study_for(request, study_id)
    if request.POST.get("go") == "upload":
        return upload_instead(request)
    try:
        new = _asked(request, study.revision)
    except SavedMeanwhileError as error:
        return meanwhile.page(request, error)
    except FieldErrors as error:
        return _page(request, study, refused(request, error, _offered(request, study)))
    drop_draft(request)
    return redirect("studies:result", new.pk)


@require_POST
def simulate(request: HttpRequest, study_id: int) -> HttpResponse:
    """What is supposed in the address, kept as a revision of the question and simulated where it must be; else the
    designs that may come first and were not tried, of the question as it is."""
    study = study_for(request, study_id)
    page = result_page(study, request.GET)
    if page.supposed and (page.must_simulate or request.POST.get("go") == "keep"):
        return _kept(request, study, page)
    if not page.may_check:
        return _to_result(study, page.own_query)
    return _to_result(check(request.user, study.revision, page.untried), page.own_query)


def _kept(request: HttpRequest, study: Study, page: ResultPage) -> HttpResponse:
    try:
        return _to_result(keep(request.user, study, page.found), page.reset_all)
    except SavedMeanwhileError as error:
        return meanwhile.page(request, error)
    except FieldErrors as error:
        messages.error(request, " ".join(error.fields.values()))
        return _to_result(study, page.own_query)


def _to_result(study: Study, query: str) -> HttpResponse:
    """``query``: with its question mark, which goes where it stands alone."""
    return redirect(f"{reverse('studies:result', args=[study.pk])}{query.removesuffix('?')}")


@require_safe
def status(request: HttpRequest, study_id: int) -> HttpResponse:
    """What a running page asks for. ``seen``: the step of progress that it shows already."""
    study = study_for(request, study_id)
    page = result_page(study, request.GET)
    renewed = not study.is_active or request.GET.get("seen") != page.progress.step
    context = _context(request, study) | _supposed(request, page) | {"renewed": renewed}
    code = 200 if study.is_active else STOP_POLLING
    return render(request, "studies/_update.html", context, status=code)


@require_safe
def view(request: HttpRequest, study_id: int) -> HttpResponse:
    """What a page shows where another chart is chosen, or something is supposed: all that follows from its address."""
    study = study_for(request, study_id)
    page = result_page(study, request.GET)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{reverse('studies:result', args=[study_id])}?{request.GET.urlencode()}")
    return render(request, "studies/_view.html", _context(request, study) | _supposed(request, page))


@require_safe
def table(request: HttpRequest, study_id: int, chart: str) -> HttpResponse:
    """The table of a chart: as much of it as the page asks for, or all of it on a page of its own."""
    study = study_for(request, study_id)
    if chart not in VIEWS:
        raise Http404("Its charts are those of cost, of power and of both.")
    page = result_page(study, {"table": Extent.ALL, **request.GET.dict(), "view": chart})
    template = "studies/_rows.html" if request.htmx else "studies/designs.html"  # type: ignore[attr-defined]
    return render(request, template, _context(request, study) | {"result_page": page, "chart": page.chart})


@require_safe
def design(request: HttpRequest, study_id: int, design_id: str) -> HttpResponse:
    """One design under what is supposed: a panel beside the charts, or a page of its own."""
    study = study_for(request, study_id)
    page = result_page(study, request.GET)
    found = page.result
    row = found.row(design_id)
    if row is None and request.htmx:  # type: ignore[attr-defined]
        return render(request, "studies/_no_design.html")
    if row is None:
        raise Http404("No such design in this study, or it has not been tried yet.")
    template = "studies/_panel.html" if request.htmx else "studies/design.html"  # type: ignore[attr-defined]
    context = {"panel": design_panel(found, row), "result_page": page}
    return render(request, template, _context(request, study) | context)


@require_http_methods(["GET", "HEAD", "POST"])
def pilot(request: HttpRequest, study_id: int, design_id: str) -> HttpResponse:
    """How to test the design before it is bought; a benchmark's result is judged, and not kept."""
    study = study_for(request, study_id)
    found = study_result(study)
    row = found.row(design_id)
    if row is None:
        raise Http404("No such design in this study, or it has not been tried yet.")
    judged, problem, flags = _judged(request, study, found, row)
    context = {"pilot": pilot_page(study, found, row), "judged": judged, "problem": problem, "flags": flags}
    status = 422 if problem else 200
    return render(request, "studies/pilot.html", _context(request, study) | context, status=status)


@require_safe
def brief(request: HttpRequest, study_id: int) -> HttpResponse:
    """The answer in short, as the first screen shows it while the study runs."""
    study = study_for(request, study_id)
    context = _context(request, study) | {"result_page": result_page(study, {})}
    return render(request, "studies/_brief.html", context, status=200 if study.is_active else STOP_POLLING)


@require_safe
def headline(request: HttpRequest, study_id: int) -> HttpResponse:
    """One line for a list of questions."""
    study = study_for(request, study_id)
    context = {"study": study, "headline": headline_of(study), "price_change": price_change(request.user, study)}
    return render(request, "studies/_headline.html", context)


def _judged(
    request: HttpRequest, study: Study, result: StudyResult, row: DesignRow
) -> tuple[list[Judged], str, list[str]]:
    """What uploaded results say of the design, what is wrong with them, and what in them was flagged. With a name
    iteration times are fitted to them, too."""
    if request.method != "POST":
        return [], "", []
    uploads, name = request.FILES.getlist("result"), plain(request.POST.get("calibration", ""))
    if not uploads:
        return [], "Found no file, expected the JSON that --save-result writes.", []
    judged: list[Judged] = []
    flags: list[str] = []
    try:
        found = read_results(uploads)
        flags = [str(flag) for flag in found.flags.listed]
        judged = judge(kit_of(study, result, row), found)
        if name:
            _calibrate(request, name, result.designs[row.design_id].case, found)
    except SpecError as error:
        return judged, f"{error}.", flags
    return judged, "", flags


def _calibrate(request: HttpRequest, name: str, case: Case, found: Measurements) -> None:
    team = writing_team(request.user)
    for made in save_calibrations(team, request.user, name[:100], case, found):  # type: ignore[arg-type]
        messages.success(request, f"{made.name} is saved: a question can choose it as its iteration times.")


def _asked(request: HttpRequest, revision: Revision) -> Study:
    """A changed question keeps the catalogue's rows of the answer that it was changed on, unless today's are wanted."""
    scenario = revision.scenario
    mine = Scenario.objects.editable_by(request.user).filter(pk=scenario.pk, shipped_id__isnull=True).exists()
    if mine:
        kept = NOTHING if request.POST.get("rows") == TODAY else revision.rows
        start = Start(revision, _revision_seen(request))
        return start_study(request.user, save_revision(request.user, scenario, request.POST, kept=kept, start=start))
    return ask_new(request.user, request.POST)


def _offered(request: HttpRequest, study: Study) -> Choices:
    return Choices.of(borrower(person(request), study.revision.scenario), study.revision.rows)


def _revision_seen(request: HttpRequest) -> int:
    """The latest revision when the page was first shown, which a page with errors hands on; 0 where none says."""
    said = request.POST.get("revision_seen", "")
    return int(said) if said.isdecimal() and len(said) < 10 else 0


def _page(request: HttpRequest, study: Study, form: QuestionForm) -> HttpResponse:
    question = {
        "page": QuestionPage(form),
        "preview": first_preview(form),
        "ask_url": reverse("studies:ask", args=[study.pk]),
        "changed_study": study,
        "revision_seen": _revision_seen(request) or study.revision.scenario.latest.number,
        "catalogue_changes": changes_since(request.user, study.revision.rows),
        "seen_by": seen_by(request.user, study.revision.scenario),
    }
    return _rendered(request, study, question)


def _rendered(request: HttpRequest, study: Study, question: dict[str, Any]) -> HttpResponse:
    page = result_page(study, request.GET)
    context = _context(request, study) | question | _supposed(request, page)
    return render(request, "studies/result.html", context)


def _supposed(request: HttpRequest, page: ResultPage) -> dict[str, Any]:
    """The page, whether its visitor may have simulated what it supposes, and the study that has been."""
    may = isinstance(request.user, User) and working_team(request.user) is not None
    before = simulated_before(request.user, page.study, page.moves.changes) if page.must_simulate and may else None
    return {"result_page": page, "may_simulate": may, "simulated_before": before}


def _context(request: HttpRequest, study: Study) -> dict[str, Any]:
    return {"study": study, "can_edit": editable(request.user, study)}
