"""REST v1 of a study's costs: the rows of the finance page's files."""

from __future__ import annotations

import json
from typing import get_args

from django.http import Http404
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.listing import Table
from planner.api.operation import RestView, operation
from planner.api.queries import choice_of, words_of
from planner.api.shapes import address, anything, keyed, many, maybe, text, told, whole
from planner.finance import exports
from planner.finance.costs import Costs
from planner.finance.views import costs_for
from planner.studies.actions import study_for
from simcore.economics.lines import View
from simcore.spec import SpecError

CHOSEN = (
    choice_of("view", get_args(View), "`book` unless it says otherwise."),
    words_of("design", "One of the study's designs; else the answer's."),
    words_of("set", "Assumptions by their number, `own` for none; else those saved last."),
)
TABLE = Table()
ROWS = told(
    "The rows of the file of that name.",
    study=whole(),
    view=text(),
    count=whole(),
    next=maybe(address()),
    previous=maybe(address()),
    results=many(keyed(anything())),
)
UNDER_WAY = told("", study=whole(), state=text(), count=whole(), results=many(anything()))
COSTS = keyed(anything(), "costs.json.")


class NotWorkedOut(APIException):
    status_code = 409
    default_code = "not_worked_out"


class NotPriced(APIException):
    status_code = 409
    default_code = "not_priced"


class CostRows(RestView):
    """``lines``, ``cash-flow``, ``unit-costs`` or ``focus``, with the columns of the file of that name; all rows unless
    ``limit`` asks for fewer. 202 while the costs are being worked out, 409 until somebody has asked for that."""

    @operation(
        "A study's cost rows", query=(*CHOSEN, *TABLE.query), answers={200: ROWS, 202: UNDER_WAY}, errors=(409,),
        headers={202: ("Retry-After",)},
    )  # fmt: skip
    def get(self, request: Request, study_id: int, name: str) -> Response:
        costs, view = costs_for(request, study_for(request, study_id)), _view(request)
        table = exports.TABLES.get(name)
        if table is None:
            raise Http404(f"No such rows: expected one of costs, {', '.join(exports.TABLES)}.")
        if costs.section.is_active:
            return under_way(costs)
        try:
            rows = table.told(worked_out(costs), view)
        except SpecError as error:
            raise NotPriced(f"{error}.") from error
        numbered = list(enumerate(rows))
        # The next page is of the same assumptions, whatever is saved meanwhile: then a row's place is its name.
        page = TABLE.page(request, numbered, lambda pair: str(pair[0]), set=costs.set_name)
        return page.answer((row for _, row in page), study=study_id, view=view)


class AllCosts(RestView):
    """costs.json: the lines with the physics and assumptions that they follow from, cash flow, NPV and the bridge
    between the views."""

    @operation(
        "All of a study's costs", query=CHOSEN, answers={200: COSTS, 202: UNDER_WAY}, errors=(409,),
        headers={202: ("Retry-After",)},
    )  # fmt: skip
    def get(self, request: Request, study_id: int) -> Response:
        costs, view = costs_for(request, study_for(request, study_id)), _view(request)
        if costs.section.is_active:
            return under_way(costs)
        try:
            return Response(exports.all_told(worked_out(costs), view))
        except SpecError as error:
            raise NotPriced(f"{error}.") from error


def worked_out(costs: Costs) -> Costs:
    """409 where they are not, saying what to ask."""
    if costs.is_known:
        return costs
    if costs.section.problem:
        raise NotWorkedOut(costs.section.problem)
    given = json.dumps({"parameters": dict(costs.section.given)})
    at = f"/api/v1/studies/{costs.study.pk}/analyses/costing"
    raise NotWorkedOut(f"These costs have not been worked out yet: POST {given} to {at} has that done.")


def under_way(costs: Costs) -> Response:
    """202: to be asked again."""
    state = {"study": costs.study.pk, "state": costs.section.state, "count": 0, "results": []}
    return Response(state, status=202, headers={"Retry-After": "2"})


def _view(request: Request) -> View:
    asked = request.query_params.get("view", "book")
    for view in get_args(View):
        if asked == view:
            found: View = view
            return found
    raise ValidationError({"view": [f"Found '{asked}', expected one of {', '.join(get_args(View))}."]})
