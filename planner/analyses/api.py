"""REST v1 of the analyses of a study: the figures that its page shows."""

from dataclasses import fields
from typing import Any

from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.analyses import services
from planner.analyses.asking import given_by
from planner.analyses.page import Section, known, section
from planner.api.operation import RestView, body, operation
from planner.api.queries import Query, words_of
from planner.api.shapes import address, anything, asked, many, maybe, number, text, told, unknown, whole, with_more
from planner.studies.actions import study_for
from planner.studies.services import editable
from simcore.analyses import KINDS, kind_of
from simcore.spec import SpecError

LISTED = told(
    "",
    study=whole(),
    kind=text(),
    title=text(),
    about=text(),
    state=text("impossible, unasked, queued, running, done, failed or cancelled."),
    reason=text(),
    predicted_cpu_s=maybe(number()),
    steps=maybe(whole()),
    steps_done=maybe(whole()),
    engine_version=text(),
)
EVERY = told("", results=many(with_more(LISTED, url=address())))
ONE = with_more(LISTED, parameters=anything(), result=anything("Null until it is done."))
ASKED = asked("", parameters={"type": "object", "description": "Of the kind; those left out have their defaults."})
NAMES = sorted({one.name for kind in KINDS for one in fields(kind_of(kind).parameters)})
PARAMETERS: tuple[Query, ...] = tuple(words_of(name, "A parameter of the kinds that have it.") for name in NAMES)


class Analyses(RestView):
    """What may be asked of a study, and how far each is, with its default parameters."""

    @operation("What may be worked out about a study", answers={200: EVERY})
    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        found = [section(study, name, {}) for name in KINDS]
        base = request.build_absolute_uri().split("?")[0].rstrip("/")
        return Response({"results": [_listed(one) | {"url": f"{base}/{one.kind.name}"} for one in found]})


class AnalysisDetail(RestView):
    """GET: an analysis with the parameters of the address, 202 while it runs. POST, with ``parameters`` as JSON: has it
    worked out."""

    @operation("One analysis", query=PARAMETERS, answers={200: ONE, 202: ONE}, headers={202: ("Retry-After",)})
    def get(self, request: Request, study_id: int, kind: str) -> Response:
        study = study_for(request, study_id)
        known = [one.name for one in fields(kind_of(_kind(kind)).parameters)]
        if wrong := [name for name in request.query_params if name not in known]:
            raise ValidationError({name: [unknown(name, known)] for name in wrong})
        given = given_by(request.query_params.dict(), kind_of(kind))
        return _answered(section(study, kind, given))

    @operation("Have an analysis worked out", body=ASKED, answers={200: ONE, 202: ONE}, headers={202: ("Retry-After",)})
    def post(self, request: Request, study_id: int, kind: str) -> Response:
        study = study_for(request, study_id)
        if not editable(request.user, study):
            raise PermissionDenied("You may read this study, but have nothing simulated for it.")
        given = body(request).get("parameters", {})
        try:
            services.request(request.user, study, _kind(kind), given)
        except SpecError as error:
            raise ValidationError({"detail": f"{error}."}) from error
        return _answered(section(study, kind, given))


def _kind(name: str) -> str:
    if not known(name):
        raise NotFound("No such analysis.")
    return name


def _answered(found: Section) -> Response:
    data = _listed(found) | {"parameters": dict(found.given), "result": found.told}
    if found.is_active:
        return Response(data, status=202, headers={"Retry-After": "2"})
    return Response(data)


def _listed(found: Section) -> dict[str, Any]:
    row = found.row
    return {
        "study": found.study.pk,
        "kind": found.kind.name,
        "title": found.kind.title,
        "about": found.kind.about,
        "state": found.state,
        "reason": found.problem or (row.error if row else ""),
        "predicted_cpu_s": found.asked.predicted_s if found.asked else None,
        "steps": row.steps if row else None,
        "steps_done": row.steps_done if row else None,
        "engine_version": row.engine_version if row else "",
    }
