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
from planner.finance.api import CHOSEN as COSTS
from planner.finance.api import NotPriced, worked_out
from planner.finance.approvals import services
from planner.finance.approvals.kept import COLUMNS, VIEWS, design_of, lines_of, months_of, total_of
from planner.finance.approvals.shown import Approvals
from planner.finance.approvals.views import approval_of, must_approve
from planner.finance.models import Approval
from planner.finance.views import asked_view, costs_for
from planner.scenarios.models import Scenario
from planner.studies.actions import study_for

CHOSEN = tuple(one for one in COSTS if one.name != "view")
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


STEP = told(
    "",
    kinds=many(text(), "More than one: they cannot be told apart."),
    inputs=many(text(), "What changed, old → new."),
    amount_usd=money(),
    after_usd=money("What it costs with this change, and those before it."),
    design=text("The answer with it."),
)
SINCE = told(
    "Why the costs are others than those approved; the steps add up to the difference, to the cent.",
    approval=ROW,
    study=whole(),
    view=text(),
    approved_usd=money(),
    now_usd=money(),
    difference_usd=money(),
    steps=many(STEP, "None: no input has changed."),
    beside=many(text(), "Inputs that changed and move no amount."),
    problem=maybe(text("Why the difference is not told by input.")),
)


class NotApprovable(APIException):
    status_code = 409
    default_code = "not_approvable"


class AllApprovals(RestView):
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


class Waterfall(RestView):
    """From an approval of the question (the last that stands, else ``since``) to the costs that the address names."""

    @operation(
        "What changed since an approval",
        query=(*COSTS, words_of("since", "The approval's id; else the last that stands.")),
        answers={200: SINCE},
        errors=(409,),
    )
    def get(self, request: Request, study_id: int) -> Response:
        """404 where nothing of the question is approved, 409 where the costs are not worked out."""
        costs, view = worked_out(costs_for(request, study_for(request, study_id))), asked_view(request)
        asked = request.query_params.get("since", "")
        found = Approvals(costs, view, request.user, asked)
        if found.problem_of_figures:
            raise NotPriced(found.problem_of_figures)
        since = found.since
        if since is None or (asked and str(since.approval.pk) != asked):
            raise Http404("No such approval of this question." if asked else "Nothing of this question is approved.")
        return Response(
            {
                "approval": _told(request, since.approval),
                "study": study_id,
                "view": view,
                "approved_usd": str(since.approved_usd),
                "now_usd": str(since.now_usd),
                "difference_usd": str(since.difference_usd),
                "steps": [
                    {
                        "kinds": row.kinds,
                        "inputs": row.inputs,
                        "amount_usd": str(row.usd),
                        "after_usd": str(row.after_usd),
                        "design": row.design,
                    }
                    for row in since.rows
                ],
                "beside": since.beside,
                "problem": since.problem or None,
            }
        )


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
