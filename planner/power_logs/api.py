"""REST v1 of the power logs, to be read: what was drawn, and the machine with the power that it shows."""

import json
from typing import Any

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.listing import Filter, Listing
from planner.api.operation import RestView, operation
from planner.api.queries import words_of
from planner.api.shapes import address, anything, many, maybe, number, page, text, time, told, whole, with_more
from planner.calibrations.api import QUESTION
from planner.calibrations.dependents import dependents
from planner.power_logs.models import PowerLog
from planner.power_logs.services import PREFIX

WATTS = maybe(number())
DRAWN_SHAPE = told("All used devices together.", mean_w=WATTS, p50_w=WATTS, p99_w=WATTS, idle_w=WATTS, energy_j=WATTS)
ROW = told(
    "",
    id=whole(),
    name=text(),
    machine=text(),
    accelerator=text(),
    created_at=time(),
    drawn=DRAWN_SHAPE,
    prediction=anything("Null where nothing was said of the run."),
    url=address(),
)
WHOLE = with_more(
    ROW, report=anything(), machine_with_power=anything("The MACHINE.json, or null."), questions=many(QUESTION)
)
LISTING = Listing(
    orders={"created_at": "created_at", "name": "name", "id": "pk"},
    default="-created_at",
    filters=(
        Filter(words_of("q", "Part of the name."), "name__icontains"),
        Filter(words_of("machine", "A machine's id."), "machine"),
        Filter(words_of("accelerator", "An accelerator's id."), "accelerator"),
    ),
    updated="created_at",
)
DRAWN = ("mean_w", "p50_w", "p99_w", "idle_w", "energy_j")
"""Of all used devices together, in the list."""


class PowerLogs(RestView):
    """The team's power logs, the last made first."""

    @operation("Power logs", query=LISTING.query, answers={200: page(ROW)})
    def get(self, request: Request) -> Response:
        found = LISTING.page(request, PowerLog.objects.visible_to(request.user))
        return found.answer(_described(row, request.build_absolute_uri(f"{row.pk}")) for row in found)


class PowerLogDetail(RestView):
    """One, with its report, its MACHINE.json where the run is known, and the questions that name it."""

    @operation("One power log", answers={200: WHOLE})
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
