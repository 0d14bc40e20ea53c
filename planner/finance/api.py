"""REST v1 of a study's costs: the rows of the finance page's files."""

from __future__ import annotations

import json
from typing import get_args

from django.http import Http404
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.finance import exports
from planner.finance.costs import Costs
from planner.finance.views import costs_for
from planner.studies.actions import study_for
from planner.studies.api import DesignPagination
from simcore.economics.lines import View
from simcore.spec import SpecError


class NotWorkedOut(APIException):
    status_code = 409
    default_code = "not_worked_out"


class NotPriced(APIException):
    status_code = 409
    default_code = "not_priced"


class CostRows(APIView):
    """``lines``, ``cash-flow`` or ``unit-costs``, with the columns of the file of that name; all rows unless ``limit``
    asks for fewer. 202 while the costs are being worked out, 409 until somebody has asked for that."""

    def get(self, request: Request, study_id: int, name: str) -> Response:
        costs, view = costs_for(request, study_for(request, study_id)), _view(request)
        table = exports.TABLES.get(name)
        if table is None:
            raise Http404(f"No such rows: expected one of costs, {', '.join(exports.TABLES)}.")
        if costs.section.is_active:
            return _under_way(costs)
        try:
            rows = table.told(_known(costs), view)
        except SpecError as error:
            raise NotPriced(f"{error}.") from error
        pages = DesignPagination()
        page = pages.paginate_queryset(rows, request, view=self)
        found = {"study": study_id, "view": view, "count": len(rows), "next": None, "previous": None}
        if page is not None:
            found |= {"next": pages.get_next_link(), "previous": pages.get_previous_link()}
        return Response({**found, "results": rows if page is None else page})


class AllCosts(APIView):
    """costs.json: the lines with the physics and assumptions that they follow from, cash flow, NPV and the bridge
    between the views."""

    def get(self, request: Request, study_id: int) -> Response:
        costs, view = costs_for(request, study_for(request, study_id)), _view(request)
        if costs.section.is_active:
            return _under_way(costs)
        try:
            return Response(exports.all_told(_known(costs), view))
        except SpecError as error:
            raise NotPriced(f"{error}.") from error


def _known(costs: Costs) -> Costs:
    if costs.is_known:
        return costs
    if costs.section.problem:
        raise NotWorkedOut(costs.section.problem)
    given = json.dumps({"parameters": dict(costs.section.given)})
    at = f"/api/v1/studies/{costs.study.pk}/analyses/costing"
    raise NotWorkedOut(f"These costs have not been worked out yet: POST {given} to {at} has that done.")


def _under_way(costs: Costs) -> Response:
    state = {"study": costs.study.pk, "state": costs.section.state, "count": 0, "results": []}
    return Response(state, status=202, headers={"Retry-After": "2"})


def _view(request: Request) -> View:
    asked = request.query_params.get("view", "book")
    for view in get_args(View):
        if asked == view:
            found: View = view
            return found
    raise ValidationError({"view": [f"Found '{asked}', expected one of {', '.join(get_args(View))}."]})
