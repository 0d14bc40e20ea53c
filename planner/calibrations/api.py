"""REST v1 of the calibrations, to be read: what was fitted, where it holds, how far off it is."""

import json
from typing import Any

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.listing import Filter, Listing
from planner.api.operation import RestView, operation
from planner.api.queries import words_of
from planner.api.shapes import address, anything, many, page, text, time, told, whole, with_more
from planner.calibrations.dependents import dependents
from planner.calibrations.models import Calibration
from planner.calibrations.services import PREFIX

ROW = told(
    "",
    id=whole(),
    name=text(),
    model=text(),
    accelerator=text(),
    created_at=time(),
    engine=anything(),
    measured_engine=anything(),
    date=anything(),
    validity=anything("What was measured."),
    errors=anything("A phase each: points, and mean absolute errors."),
    url=address(),
)
QUESTION = told("A question that names it.", name=text(), revisions=whole(), studies=whole(), page=address())
WHOLE = with_more(ROW, latency=anything("The LATENCY.json."), found=anything(), questions=many(QUESTION))
LISTING = Listing(
    orders={"created_at": "created_at", "name": "name", "id": "pk"},
    default="-created_at",
    filters=(
        Filter(words_of("q", "Part of the name."), "name__icontains"),
        Filter(words_of("model", "A model's id."), "model"),
        Filter(words_of("accelerator", "An accelerator's id."), "accelerator"),
    ),
    updated="created_at",
)
TOLD = ("engine", "measured_engine", "date", "validity", "errors")
"""Of a LATENCY.json, in the list."""


class Calibrations(RestView):
    """The team's calibrations, the last made first."""

    @operation("Calibrations", query=LISTING.query, answers={200: page(ROW)})
    def get(self, request: Request) -> Response:
        found = LISTING.page(request, Calibration.objects.visible_to(request.user))
        return found.answer(_described(row, request.build_absolute_uri(f"{row.pk}")) for row in found)


class CalibrationDetail(RestView):
    """One, with its LATENCY.json, what was flagged in its files, and the questions that name it."""

    @operation("One calibration", answers={200: WHOLE})
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
