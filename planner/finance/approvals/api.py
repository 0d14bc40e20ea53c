"""REST v1 of approvals: those of a study and of a question, one with its lines, another, one withdrawn."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.listing import Listing
from planner.api.operation import RestView, body, operation
from planner.api.queries import words_of
from planner.api.shapes import (
    address,
    asked,
    flag,
    many,
    maybe,
    moment,
    money,
    page,
    text,
    time,
    told,
    whole,
    with_more,
)
from planner.finance.approvals import services
from planner.finance.approvals.kept import COLUMNS, VIEWS, design_of, lines_of, months_of, total_of
from planner.finance.approvals.views import approval_of, must_approve
from planner.finance.models import Approval
from planner.finance.views import costs_for
from planner.scenarios.models import Scenario
from planner.studies.actions import study_for

CHOSEN = (
    words_of("design", "One of the study's designs; else the answer's."),
    words_of("set", "Assumptions by their number, `own` for none; else those saved last."),
)
ROW = told(
    "An approval of a study's costs, as they were then.",
    id=whole(),
    study=whole(),
    scenario=whole(),
    revision=whole(),
    design_id=text("The design that was chosen; empty: the answer."),
    design=text("Its name."),
    set=maybe(whole("The assumptions; null: the study's own.")),
    assumption_set=text("Their hash, as exported rows carry it."),
    engine_version=text(),
    definition_version=text(),
    currency=text(),
    first_month=text("Such as 2027-01."),
    last_month=text(),
    months=whole(),
    totals=told("Of all months, by view.", **{view: money() for view in VIEWS}),
    approved_by=text(),
    approved_at=time(),
    note=text(),
    stands=flag("Whether it was not withdrawn."),
    withdrawn_by=maybe(text()),
    withdrawn_at=maybe(time()),
    url=address(),
)
LINE = told("", view=text(), period=text(), pool=text(), machine=text(), category=text(), amount_usd=money())
ONE = with_more(ROW, lines=many(LINE, "Each line's amount, in all three views."))
LISTING = Listing(
    orders={"approved_at": "created_at", "updated_at": "updated_at", "id": "pk"},
    default="-approved_at",
    updated="updated_at",
)
NEW = asked("", note=text("Why, or for what.", maxLength=services.LONGEST_NOTE))


class NotApprovable(APIException):
    status_code = 409
    default_code = "not_approvable"


class Approvals(RestView):
    """Approvals of a study's costs, withdrawn ones too. POST: the costs of the design and assumptions that the address
    names are approved, by whom the token or session is of: an owner or editor of the question's team."""

    @operation("A study's approvals", query=LISTING.query, answers={200: page(ROW)})
    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        return _listed(request, services.of_scenario(request.user, study.revision.scenario_id).filter(study=study))

    @operation(
        "Approve a study's costs", query=CHOSEN, body=NEW, answers={201: ROW}, errors=(409,),
        headers={201: ("Location",)},
    )  # fmt: skip
    def post(self, request: Request, study_id: int) -> Response:
        """409 where they are not worked out, the study is not complete, or they are approved already."""
        study = study_for(request, study_id)
        must_approve(request, study)
        costs = costs_for(request, study)
        try:
            made = services.approve(request.user, costs, body(request).get("note", ""))
        except services.NotApprovableError as error:
            raise NotApprovable(str(error)) from None
        said = _told(request, made)
        return Response(said, status=201, headers={"Location": said["url"]})


class OneApproval(RestView):
    """One approval with the lines that were approved. DELETE: it is withdrawn; the row stays, and says by whom."""

    @operation("One approval", answers={200: ONE})
    def get(self, request: Request, study_id: int, approval_id: int) -> Response:
        approval = approval_of(request, study_for(request, study_id), approval_id)
        lines = [
            {"view": view, **{name: str(getattr(line, name)) for name in COLUMNS}}
            for view in VIEWS
            for line in lines_of(approval, view)
        ]
        return Response({**_told(request, approval), "lines": lines})

    @operation("Withdraw an approval", answers={204: None})
    def delete(self, request: Request, study_id: int, approval_id: int) -> Response:
        study = study_for(request, study_id)
        approval = approval_of(request, study, approval_id)
        must_approve(request, study)
        services.withdraw(request.user, approval)
        return Response(status=204)


class ScenarioApprovals(RestView):
    """Approvals of all revisions of a question; the first that stands is the last approved one."""

    @operation("A question's approvals", query=LISTING.query, answers={200: page(ROW)})
    def get(self, request: Request, scenario_id: int) -> Response:
        if not Scenario.objects.visible_to(request.user).filter(pk=scenario_id).exists():
            raise Http404("No such question.")
        return _listed(request, services.of_scenario(request.user, scenario_id))


def _listed(request: Request, rows: QuerySet[Approval]) -> Response:
    found = LISTING.page(request, rows)
    return found.answer(_told(request, one) for one in found)


def _told(request: Request, one: Approval) -> dict[str, Any]:
    months = months_of(one)
    return {
        "id": one.pk,
        "study": one.study_id,
        "scenario": one.study.revision.scenario_id,
        "revision": one.study.revision.number,
        "design_id": one.design_id,
        "design": design_of(one),
        "set": one.chosen_id,
        "assumption_set": one.assumptions_hash,
        "engine_version": one.engine_version,
        "definition_version": one.definition_version,
        "currency": one.currency,
        "first_month": months[0],
        "last_month": months[-1],
        "months": len(months),
        "totals": {view: str(total_of(one, view)) for view in VIEWS},
        "approved_by": one.approved_by_name,
        "approved_at": moment(one.created_at),
        "note": one.note,
        "stands": one.withdrawn_at is None,
        "withdrawn_by": one.withdrawn_by_name or None,
        "withdrawn_at": moment(one.withdrawn_at),
        "url": request.build_absolute_uri(reverse("api:approval", args=[one.study_id, one.pk])),
    }
