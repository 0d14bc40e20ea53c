"""REST v1 of the power logs, to be read: what was drawn, and the machine with the power that it shows."""

import json
from typing import Any

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.api.pagination import Pagination
from planner.calibrations.dependents import dependents
from planner.power_logs.models import PowerLog
from planner.power_logs.services import PREFIX

DRAWN = ("mean_w", "p50_w", "p99_w", "idle_w", "energy_j")
"""Of all used devices together, in the list."""


class PowerLogs(APIView):
    """The team's power logs, the last made first."""

    def get(self, request: Request) -> Response:
        pages = Pagination()
        rows = pages.paginate_queryset(PowerLog.objects.visible_to(request.user), request, view=self) or []
        return pages.get_paginated_response([_described(row, request.build_absolute_uri(f"{row.pk}")) for row in rows])


class PowerLogDetail(APIView):
    """One, with its report, its MACHINE.json where the run is known, and the questions that name it."""

    def get(self, request: Request, power_log_id: int) -> Response:
        row = PowerLog.objects.visible_to(request.user).filter(pk=power_log_id).first()
        if row is None:
            raise Http404
        used = [one.as_json(request._request) for one in dependents(request.user, f"{PREFIX}{row.pk}")]
        made = json.loads(row.content) if row.content else None
        whole = {"report": row.report, "machine_with_power": made, "questions": used}
        return Response(_described(row, request.build_absolute_uri()) | whole)


def _described(row: PowerLog, url: str) -> dict[str, Any]:
    return {
        "id": row.pk,
        "name": row.name,
        "machine": row.machine,
        "accelerator": row.accelerator,
        "created_at": row.created_at.isoformat(),
        "drawn": {name: row.report["all"][name] for name in DRAWN},
        "prediction": row.report.get("prediction"),
        "url": url.split("?")[0],
    }
