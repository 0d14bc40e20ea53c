"""REST v1 of what was billed: files of actuals, and the variance between them and the forecast."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.listing import Table
from planner.api.operation import RestView, given, operation
from planner.api.parsers import PlainJsonParser
from planner.api.shapes import Shape, anything, asked, flag, many, maybe, moment, money, page, text, time, told, whole
from planner.finance.actuals import services
from planner.finance.actuals.compared import COLUMNS, Compared
from planner.finance.actuals.focus import COSTS
from planner.finance.actuals.page import ActualsPage
from planner.finance.actuals.services import in_force
from planner.finance.actuals.table import MOST_BYTES, FileError
from planner.finance.actuals.views import asked_view, checked, every_of
from planner.finance.api import CHOSEN, NotWorkedOut
from planner.finance.costs import Costs
from planner.finance.models import Actuals
from planner.finance.views import costs_for
from planner.studies.actions import study_for
from planner.studies.models import Study
from planner.workloads.upload_limit import too_large

TABLE = Table()
MONTH = told(
    "What a month's rows add up to; null: no row says it.",
    month=text("Such as 2027-01."),
    rows=whole(),
    cost=money("USD, exact; in cents where it is compared."),
    accelerator_hours=maybe(money()),
    used_accelerator_hours=maybe(money()),
    tokens=anything("By kind, `tokens` where none is said."),
    kwh=maybe(money()),
    first=text("Where its rows begin, as `last` is where they end."),
    last=text(),
    notes=many(text()),
    pools=anything("Cost by pool."),
)
ROW = told(
    "A file of actuals.",
    id=whole(),
    file_name=text(),
    format=text("`focus` or `months`."),
    content_hash=text(),
    design=text("Whose forecast it was matched with."),
    rules=anything("By which rows were matched."),
    created_at=time(),
    saved_at=maybe(time("Null: looked at, not saved.")),
    deleted_at=maybe(time()),
    counts=flag("Whether one of its months is compared."),
    rows=whole(),
    counted=whole("Of the rows, those that count."),
    months=many(MONTH),
    services=anything("Rows and cost by service."),
    reasons=anything("Why rows do not count: how many, and their cost."),
)
FILE: Shape = asked(
    "What was billed.",
    required=("file",),
    file=text("FOCUS cost and usage or a table of months, CSV, packed or not.", format="binary"),
    service=text("One of the study's services; may come several times. Left out: those called as the study is."),
    cost=text(f"Of a FOCUS file: one of {', '.join(COSTS)}."),
    hours_of=text("Of a FOCUS file, what an hour is of: `machines` or `accelerators`."),
    dry_run=text("`true`: the report alone, nothing is kept."),
)
EFFECT = told(
    "One effect of a month; the effects add up to actual - forecast, to the cent.",
    period_start=time(),
    view=text(),
    effect=text("`volume`, `token_mix`, `efficiency`, `use`, `price`, or several joined by `_and_`: told as one."),
    amount_usd=money(),
    forecast_usd=money(),
    actual_usd=money(),
    from_to=text(),
    formula=text(),
    actuals=text("The file's id."),
)


class NoneCounts(APIException):
    status_code = 409
    default_code = "none_counts"


class AllActuals(RestView):
    """Files of what was billed, the newest first, deleted ones too. POST: another; with ``dry_run`` its report."""

    parser_classes = (MultiPartParser, PlainJsonParser)

    @operation("A study's actuals", query=(*CHOSEN, *TABLE.query), answers={200: page(ROW)})
    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        every = list(Actuals.objects.visible_to(request.user).filter(study=study))
        active = {kept.pk for kept, _ in in_force(every).values()}
        found = TABLE.page(request, [_told(kept, active) for kept in every], lambda row: str(row["id"]))
        return found.answer(found)

    @operation(
        "Add what was billed", query=CHOSEN, form=FILE, answers={200: ROW, 201: ROW}, errors=(409,),
        headers={201: ("Location",)}, at_once=False,
    )  # fmt: skip
    def post(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        _may_write(request, study)
        costs = _forecast(request, study)
        data = request.data if isinstance(request.data, dict) else {}
        is_dry = str(data.get("dry_run", "")).lower() in ("1", "true", "yes")
        with transaction.atomic():
            kept = _read(request, costs)
            if is_dry:
                found = _told(kept, set())
                transaction.set_rollback(True)
                return Response(found)
            try:
                services.save(kept, request.user)
            except ValueError as error:
                raise NoneCounts(f"{error}: see the reasons of a dry run.") from None
        kept.refresh_from_db()
        at = request.build_absolute_uri(f"/api/v1/studies/{study_id}/finance/actuals/{kept.pk}")
        return Response(_told(kept, {kept.pk}), 201, headers={"Location": at})


class OneActuals(RestView):
    """One file of actuals. DELETE: it counts no more; the history is kept."""

    @operation("One file of actuals", answers={200: ROW})
    def get(self, request: Request, study_id: int, actuals_id: int) -> Response:
        study, kept = self._kept(request, study_id, actuals_id)
        every = list(Actuals.objects.visible_to(request.user).filter(study=study))
        return Response(_told(kept, {one.pk for one, _ in in_force(every).values()}))

    @operation("Take actuals back", answers={204: None})
    def delete(self, request: Request, study_id: int, actuals_id: int) -> Response:
        study, kept = self._kept(request, study_id, actuals_id)
        _may_write(request, study)
        services.delete(kept, request.user)
        return Response(status=204)

    def _kept(self, request: Request, study_id: int, actuals_id: int) -> tuple[Study, Actuals]:
        study = study_for(request, study_id)
        kept = Actuals.objects.visible_to(request.user).filter(study=study, pk=actuals_id).first()
        if kept is None:
            raise Http404("No such actuals of this study.")
        return study, kept


class VarianceRows(RestView):
    """Why each month compared cost another amount than was forecast: a row an effect."""

    @operation("Forecast against actual", query=(*CHOSEN, *TABLE.query), answers={200: page(EFFECT)}, errors=(409,))
    def get(self, request: Request, study_id: int) -> Response:
        costs = _forecast(request, study_for(request, study_id))
        every = every_of(request, costs)
        view = given(request).get("view") or asked_view(request, every)
        rows = [dict(zip(COLUMNS, map(_cell, row), strict=True)) for row in Compared(costs, view, every).rows()]
        found = TABLE.page(request, list(enumerate(rows)), lambda pair: str(pair[0]), set=costs.set_name)
        return found.answer(row for _, row in found)


def _forecast(request: Request, study: Study) -> Costs:
    costs = costs_for(request, study)
    problem = ActualsPage(costs, "book", ()).problem
    if not costs.is_known or problem:
        raise NotWorkedOut(problem or "These costs have not been worked out yet: there is no forecast to compare with.")
    return costs


def _may_write(request: Request, study: Study) -> None:
    if not services.may_keep(request.user, study):
        raise PermissionDenied("You may read this study, but not what its team was billed, nor add to it.")


def _read(request: Request, costs: Costs) -> Actuals:
    upload = request.FILES.get("file")
    if "file" in too_large(request._request):
        raise ValidationError({"file": [f"Found a file that is too large, expected at most {MOST_BYTES:,} bytes."]})
    if upload is None:
        raise ValidationError({"file": ["Found no file, expected multipart/form-data with one."]})
    cost, hours_of = str(request.data.get("cost") or COSTS[0]), str(request.data.get("hours_of") or "machines")
    try:
        kept = services.keep(request.user, costs, upload, upload.name or "actuals", *checked(cost, hours_of))
    except FileError as error:
        raise ValidationError({"file": [f"{line}." for line in error.lines]}) from None
    chosen = request.data.getlist("service")  # a form: there is a file
    return services.match(request.user, kept, costs, chosen) if chosen else kept


def _told(kept: Actuals, active: set[int]) -> dict[str, Any]:
    report = kept.report
    return {
        "id": kept.pk,
        "file_name": kept.file_name,
        "format": kept.format,
        "content_hash": kept.content_hash,
        "design": kept.design_id,
        "rules": kept.rules,
        "created_at": moment(kept.created_at),
        "saved_at": moment(kept.saved_at),
        "deleted_at": moment(kept.deleted_at),
        "counts": kept.pk in active,
        "rows": report["rows"],
        "counted": report["counted"],
        "months": report["months"],
        "services": report["services"],
        "reasons": report["reasons"],
    }


def _cell(value: object) -> object:
    return f"{value:f}" if isinstance(value, Decimal) else value
