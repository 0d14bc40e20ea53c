"""The finance page of a study's answer, or of one of its designs."""

from __future__ import annotations

from typing import get_args

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from planner.accounts.owned import Guest, Visitor
from planner.finance import assumed, exports
from planner.finance.approvals.shown import Approvals
from planner.finance.assumed import assumptions_of
from planner.finance.centres import sharing_of
from planner.finance.costs import Costs
from planner.finance.fields import FieldError, read
from planner.finance.form import AssumptionsForm
from planner.finance.models import AssumptionSet
from planner.finance.page import FinancePage
from planner.finance.quotes import offered
from planner.spreadsheet import csv_form
from planner.studies import services
from planner.studies.actions import study_for
from planner.studies.models import Study
from simcore.economics.lines import View
from simcore.spec import SpecError


@require_safe
def finance(request: HttpRequest, study_id: int) -> HttpResponse:
    """``?design=…&set=…&view=book&month=2027-01&since=…``, all optional."""
    return _page(request, costs_for(request, study_for(request, study_id)))


@require_POST
def save(request: HttpRequest, study_id: int) -> HttpResponse:
    """The assumptions as a new set; what is wrong is said at its field."""
    study = study_for(request, study_id)
    if not services.editable(request.user, study):
        raise PermissionDenied("You may read this study, but not change it.")
    costs = costs_for(request, study)
    machines = [one.machine for one in costs.assumptions.machines]
    entered = {name: str(text) for name, text in request.POST.items()}
    try:
        values = read(entered, machines, offered(request.user, study, costs.assumptions))
    except FieldError as error:
        return _page(request, costs, entered, (error.name, error.words), status=422)
    values |= sharing_of(costs.chosen)
    chosen = assumed.save(request.user, study, values)
    query = {"design": costs.design_id, "set": str(chosen.pk), "view": request.GET.get("view", "")}
    return redirect(f"{reverse('finance:finance', args=[study.pk])}?{urlencode({k: v for k, v in query.items() if v})}")


@require_safe
def export(request: HttpRequest, study_id: int, name: str, kind: str) -> HttpResponse:
    """``lines.csv``, ``cash-flow.csv``, ``unit-costs.csv``, ``focus.csv``, ``costs.json``, ``costs.xlsx``; CSV as
    ``?locale=de-DE&bom=1`` asks."""
    costs = costs_for(request, study_for(request, study_id))
    made = exports.EXPORTS.get(f"{name}.{kind}")
    if made is None:
        raise Http404(f"No such export: expected one of {', '.join(exports.EXPORTS)}.")
    if not costs.is_known:
        raise Http404("Its costs have not been worked out yet: the finance page does that.")
    asked = request.GET.get("view", "book")
    if asked not in get_args(View):
        return HttpResponse(f"view: found {asked!r}, expected one of {', '.join(get_args(View))}\n", "text/plain", 400)
    try:
        form = csv_form(request.GET)
    except SpecError as error:
        return HttpResponse(f"{error}\n", "text/plain; charset=utf-8", 400)
    try:
        text = made(costs, asked_view(request), form)
    except SpecError as error:
        return HttpResponse(f"{error}\n", "text/plain; charset=utf-8", status=409)
    response = HttpResponse(text, content_type=exports.CONTENT_TYPES[kind])
    file_name = f"study-{study_id}-{costs.assumptions_hash}-{name}.{kind}"
    response["Content-Disposition"] = f'attachment; filename="{file_name}"'
    return response


def costs_for(request: HttpRequest, study: Study) -> Costs:
    """As the address says; without a set the one that was saved last. 404: none of this study.

    What a link shows stays as it is: there it is the study's own unless the address names a set.
    """
    return costs_of(request.user, study, request.GET.get("design", ""), request.GET.get("set", ""))


def costs_of(user: Visitor, study: Study, design_id: str, asked: str) -> Costs:
    """As ``costs_for``, of a design and a set that are named elsewhere than in the address."""
    sets = AssumptionSet.objects.visible_to(user).filter(study=study)
    if asked == "own" or (not asked and isinstance(user, Guest)):
        chosen = None
    elif asked:
        chosen = sets.filter(pk=asked).first() if asked.isdecimal() and len(asked) < 19 else None
        if chosen is None:
            raise Http404("No such assumptions of this study.")
    else:
        chosen = sets.first()
    costs = Costs(study, design_id, chosen)
    try:
        assumptions_of(study, chosen)
    except SpecError as error:
        raise Http404(f"These assumptions can no longer be read: {error}") from None
    return costs


def _page(
    request: HttpRequest,
    costs: Costs,
    entered: dict[str, str] | None = None,
    error: tuple[str, str] = ("", ""),
    status: int = 200,
) -> HttpResponse:
    is_guest = isinstance(request.user, Guest)
    found = offered(request.user, costs.study, costs.assumptions)
    form = AssumptionsForm(costs, entered or {}, error, found)
    since = request.GET.get("since", "")
    page = FinancePage(costs, asked_view(request), request.GET.get("month", ""), form, is_guest, since)
    can_edit = services.editable(request.user, costs.study)
    context = {
        "study": costs.study,
        "page": page,
        "can_edit": can_edit,
        "exports": exports.OFFERED,
        "approvals": Approvals(costs, page.view, request.user, since),
    }
    return render(request, "finance/finance.html", context, status=status)


def asked_view(request: HttpRequest) -> View:
    asked = request.GET.get("view", "")
    return next((view for view in get_args(View) if view == asked), "book")
