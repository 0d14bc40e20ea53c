"""REST v1 of the calibrations, to be read: what was fitted, where it holds, how far off it is."""

import json
from typing import Any

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.api.pagination import Pagination
from planner.calibrations.dependents import dependents
from planner.calibrations.models import Calibration
from planner.calibrations.services import PREFIX

TOLD = ("engine", "measured_engine", "date", "validity", "errors")
"""Of a LATENCY.json, in the list."""


class Calibrations(APIView):
    """The team's calibrations, the last made first."""

    def get(self, request: Request) -> Response:
        pages = Pagination()
        rows = pages.paginate_queryset(Calibration.objects.visible_to(request.user), request, view=self) or []
        return pages.get_paginated_response([_described(row, request.build_absolute_uri(f"{row.pk}")) for row in rows])


class CalibrationDetail(APIView):
    """One, with its LATENCY.json, what was flagged in its files, and the questions that name it."""

    def get(self, request: Request, calibration_id: int) -> Response:
        row = Calibration.objects.visible_to(request.user).filter(pk=calibration_id).first()
        if row is None:
            raise Http404
        used = [one.as_json(request._request) for one in dependents(request.user, f"{PREFIX}{row.pk}")]
        whole = {"latency": json.loads(row.content), "found": row.found, "questions": used}
        return Response(_described(row, request.build_absolute_uri()) | whole)


def _described(row: Calibration, url: str) -> dict[str, Any]:
    content = json.loads(row.content)
    return {
        "id": row.pk,
        "name": row.name,
        "model": row.model,
        "accelerator": row.accelerator,
        "created_at": row.created_at.isoformat(),
        **{name: content.get(name) for name in TOLD},
        "url": url.split("?")[0],
    }
