"""REST v1 of the files of a study: the very bytes that its pages offer, for a program that brings a token."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.errors import Conflict
from planner.api.operation import File, RestView, operation
from planner.api.queries import choice_of
from planner.api.shapes import address, flag, many, text, told, whole
from planner.finance import exports
from planner.finance.api import CHOSEN, UNDER_WAY, under_way, worked_out
from planner.finance.views import costs_for, export
from planner.spreadsheet import LOCALES
from planner.studies import actions
from planner.studies.actions import study_for
from planner.studies.api import or_400
from planner.studies.api_shapes import MOVES
from planner.studies.supposing import supposed

OF_DESIGNS = {"designs.csv": actions.designs_csv, "designs.json": actions.designs_json}
NAMES = (*OF_DESIGNS, *exports.EXPORTS)
KINDS = ("text/csv", "application/json", exports.CONTENT_TYPES["xlsx"])
READY = flag("False: 409 until its costs are worked out.")
WRITTEN = (
    choice_of("locale", LOCALES, "Of a CSV file: `de-DE` separates by semicolons and has decimal commas."),
    choice_of("bom", ("0", "1"), "Of a CSV file: `1` begins with the mark by which Excel knows UTF-8."),
)
LISTED = told(
    "",
    study=whole(),
    results=many(told("", name=text(), content_type=text(), ready=READY, url=address())),
)


class Whatever(BaseRenderer):
    """Files are sent as they are, whatever Accept says beside ``*/*``: a file has one form."""

    media_type, format, charset = "*/*", "file", None
    render_style = "binary"

    def render(self, data: Any, *_: Any) -> Any:
        return JSONRenderer().render(data)  # of what is no file: a problem


class Exports(RestView):
    """The files of a study."""

    @operation("A study's files", answers={200: LISTED})
    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        known = costs_for(request, study).is_known
        base = request.build_absolute_uri().split("?")[0]
        rows = [
            {
                "name": name,
                "content_type": exports.CONTENT_TYPES[name.rpartition(".")[2]].partition(";")[0],
                "ready": known or name in OF_DESIGNS,
                "url": f"{base}{name}",
            }
            for name in NAMES
        ]
        return Response({"study": study_id, "results": rows})


class OneExport(RestView):
    """A file of a study, byte for byte as its page has it: `designs.csv`, `designs.json`, or one of its costs."""

    renderer_classes = (JSONRenderer, Whatever)

    @operation(
        "A file of a study", query=(*CHOSEN, *WRITTEN, *MOVES), answers={200: File(KINDS), 202: UNDER_WAY},
        errors=(409,), headers={202: ("Retry-After",)},
    )  # fmt: skip
    def get(self, request: Request, study_id: int, file: str) -> HttpResponse:
        study = study_for(request, study_id)
        if file not in NAMES:
            raise Http404(f"No such file: expected one of {', '.join(NAMES)}.")
        request._request.user = request.user
        if made := OF_DESIGNS.get(file):
            or_400(supposed, study, request)
            return made(request._request, study_id)
        costs = costs_for(request, study)
        if costs.section.is_active:
            return under_way(costs)
        worked_out(costs)
        name, _, kind = file.rpartition(".")
        response = export(request._request, study_id, name, kind)
        if response.status_code != 200:
            words = response.content.decode()[:1000].strip()
            raise Conflict(words) if response.status_code == 409 else ValidationError({"file": [words]})
        return response
