"""Pages of what was billed: the variance, a file's report before it is saved, and what becomes of it."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any, get_args

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from planner.accounts.visitor import person
from planner.finance.actuals import services
from planner.finance.actuals.compared import COLUMNS, Compared
from planner.finance.actuals.focus import COSTS
from planner.finance.actuals.matching import MonthTotal
from planner.finance.actuals.page import ActualsPage, view_of
from planner.finance.actuals.reading import FORMAT_NAMES
from planner.finance.actuals.table import MOST_BYTES, MOST_ROWS, FileError
from planner.finance.costs import Costs
from planner.finance.models import ActualRow, Actuals
from planner.finance.views import costs_for
from planner.spreadsheet import guarded
from planner.studies.actions import study_for
from planner.studies.models import Study
from planner.workloads.upload_limit import too_large
from simcore.economics.lines import View

ROWS_A_PAGE = 200


@require_http_methods(["GET", "HEAD", "POST"])
def actuals(request: HttpRequest, study_id: int) -> HttpResponse:
    """``?design=…&set=…&view=book&month=2027-01``; POST reads a file, whose report comes next."""
    study = study_for(request, study_id)
    costs = costs_for(request, study)
    if request.method != "POST":
        return _page(request, costs)
    _editor(request, study)
    if not costs.is_known or ActualsPage(costs, "book", ()).problem:
        return _page(request, costs, ["The costs are not known yet: there is no forecast to compare with."], 409)
    asked = (str(request.POST.get("cost") or COSTS[0]), str(request.POST.get("hours_of") or "machines"))
    upload = request.FILES.get("file")
    try:
        if "file" in too_large(request):
            raise FileError(f"found a file that is too large, expected at most {MOST_BYTES // 1_000_000} MB")
        if upload is None:
            raise FileError("found no file, expected one of the two formats")
        kept = services.keep(request.user, costs, upload, upload.name or "actuals", *checked(*asked))
    except FileError as error:
        return _page(request, costs, list(error.lines), 422, asked)
    query = urlencode(ActualsPage(costs, asked_view(request, []), ()).address)
    return redirect(f"{reverse('finance:actuals_report', args=[study.pk, kept.pk])}?{query}")


@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, study_id: int, actuals_id: int) -> HttpResponse:
    """What a file has and what of it counts. POST: ``match`` with other services, ``save`` or ``discard``."""
    study = study_for(request, study_id)
    kept = _kept(request, study, actuals_id)
    costs = costs_for(request, study)
    page = ActualsPage(costs, asked_view(request, [kept]), [kept])
    back = f"{reverse('finance:actuals', args=[study.pk])}?{page.query}"
    if request.method == "POST":
        _editor(request, study)
        try:
            done = _act(request, kept, costs)
        except ValueError as error:
            messages.error(request, f"{error}.")
            done = ""
        return redirect(back if done else f"{request.path}?{page.query}")
    uncounted = Paginator(kept.rows.exclude(reason=""), ROWS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study, "kept": kept, "page": page, "uncounted": uncounted, "back": back,
        "months": [MonthTotal.from_json(told) for told in kept.report["months"]],
        "services": _services(kept), "reasons": [_sums(one) for one in kept.report["reasons"]],
        "can_edit": services.may_keep(request.user, study), "format": FORMAT_NAMES[kept.format],
    }  # fmt: skip
    return render(request, "finance/actuals_report.html", context)


@require_POST
def delete(request: HttpRequest, study_id: int, actuals_id: int) -> HttpResponse:
    study = study_for(request, study_id)
    _editor(request, study)
    kept = _kept(request, study, actuals_id)
    services.delete(kept, person(request))
    messages.success(request, f"{kept.file_name} counts no more.")
    return redirect("finance:actuals", study.pk)


@require_safe
def uncounted_csv(request: HttpRequest, study_id: int, actuals_id: int) -> HttpResponse:
    """Every row that does not count, with the reason."""
    kept = _kept(request, study_for(request, study_id), actuals_id)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(ROW_COLUMNS)
    for row in kept.rows.exclude(reason="").iterator(chunk_size=1000):
        writer.writerow([guarded(text) if isinstance(text, str) else text for text in cells_of(row)])
    return _file(out.getvalue(), f"actuals-{kept.pk}-uncounted.csv")


@require_safe
def variance_csv(request: HttpRequest, study_id: int) -> HttpResponse:
    """Every effect of every month compared."""
    compared = compared_for(request, study_for(request, study_id))
    if compared is None:
        raise Http404("Its costs have not been worked out yet: the finance page does that.")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in compared.rows():
        writer.writerow([f"{one:f}" if isinstance(one, Decimal) else guarded(str(one)) for one in row])
    return _file(out.getvalue(), f"study-{study_id}-variance.csv")


ROW_COLUMNS = (
    *("line", "reason", "period_start", "period_end", "service", "pool", "design", "category", "description"),
    *("cost", "currency"),
)


def cells_of(row: ActualRow) -> list[Any]:
    """Under ``ROW_COLUMNS``. The cost is decimal text: a number, whatever its sign."""
    times = (f"{time:%Y-%m-%dT%H:%M:%SZ}" for time in (row.period_start, row.period_end))
    texts = (row.service, row.pool, row.design, row.category, row.description)
    return [row.line, row.reason, *times, *texts, Decimal(row.cost), row.currency]


def every_of(request: HttpRequest, costs: Costs) -> list[Actuals]:
    rows = Actuals.objects.visible_to(request.user).filter(study=costs.study)
    return list(rows.select_related("created_by", "deleted_by"))


def compared_for(request: HttpRequest, study: Study) -> Compared | None:
    """None while there is no forecast."""
    costs = costs_for(request, study)
    if not costs.is_known or ActualsPage(costs, "book", ()).problem:
        return None
    every = every_of(request, costs)
    return Compared(costs, asked_view(request, every), every)


def asked_view(request: HttpRequest, every: list[Actuals]) -> View:
    asked = request.GET.get("view", "")
    return next((view for view in get_args(View) if view == asked), view_of(every))


def checked(cost: str, hours_of: str) -> tuple[str, str]:
    """FileError where a choice is none."""
    for name, found, choices in (("cost", cost, COSTS), ("hours_of", hours_of, services.HOURS_OF)):
        if found not in choices:
            raise FileError(f"{name}: found {found!r}, expected one of {', '.join(choices)}")
    return cost, hours_of


def _page(
    request: HttpRequest,
    costs: Costs,
    problems: list[str] | None = None,
    status: int = 200,
    asked: tuple[str, str] = (COSTS[0], "machines"),
) -> HttpResponse:
    every = every_of(request, costs)
    page = ActualsPage(costs, asked_view(request, every), every, request.GET.get("month", ""), problems or [], asked)
    can_edit = services.may_keep(request.user, costs.study)
    limits = {"mb": MOST_BYTES // 1_000_000, "rows": f"{MOST_ROWS:,}"}
    context = {"study": costs.study, "page": page, "can_edit": can_edit, "limits": limits}
    return render(request, "finance/actuals.html", context, status=status)


def _act(request: HttpRequest, kept: Actuals, costs: Costs) -> str:
    """What was done, if it ends the looking."""
    go = request.POST.get("go", "")
    if go == "match":
        services.match(request.user, kept, costs, request.POST.getlist("service"))
        return ""
    if go == "save":
        services.save(kept, person(request))
        messages.success(request, f"{kept.file_name} is saved: its months are compared.")
    elif go == "discard":
        services.delete(kept, person(request))
        messages.success(request, f"{kept.file_name} is forgotten.")
    else:
        raise ValueError(f"go: found {go!r}, expected match, save or discard")
    return go


def _kept(request: HttpRequest, study: Study, actuals_id: int) -> Actuals:
    kept = Actuals.objects.visible_to(request.user).filter(study=study, pk=actuals_id).first()
    if kept is None:
        raise Http404("No such actuals of this study.")
    return kept


def _editor(request: HttpRequest, study: Study) -> None:
    if not services.may_keep(request.user, study):
        raise PermissionDenied("You may read this study, but not what its team was billed, nor add to it.")


def _services(kept: Actuals) -> list[dict[str, Any]]:
    chosen = kept.rules["services"]
    return [_sums(one) | {"is_chosen": one["name"] in chosen} for one in kept.report["services"]]


def _sums(one: dict[str, Any]) -> dict[str, Any]:
    costs = ", ".join(f"{Decimal(cost):,.2f} {currency}" for currency, cost in one["costs"].items())
    return one | {"costs": costs}


def _file(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
