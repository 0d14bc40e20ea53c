"""REST v1 of the analyses of a study: the figures that its page shows."""

from typing import Any

from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.analyses import services
from planner.analyses.asking import given_by
from planner.analyses.page import Section, known, section
from planner.studies.actions import study_for
from planner.studies.services import editable
from simcore.analyses import KINDS, kind_of
from simcore.spec import SpecError


class Analyses(APIView):
    """What may be asked of a study, and how far each is, with its default parameters."""

    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        found = [section(study, name, {}) for name in KINDS]
        base = request.build_absolute_uri().split("?")[0].rstrip("/")
        return Response({"results": [_listed(one) | {"url": f"{base}/{one.kind.name}"} for one in found]})


class AnalysisDetail(APIView):
    """GET: an analysis with the parameters of the address, 202 while it runs. POST, with ``parameters`` as JSON: has it
    worked out."""

    def get(self, request: Request, study_id: int, kind: str) -> Response:
        study = study_for(request, study_id)
        given = given_by(request.query_params.dict(), kind_of(_kind(kind)))
        return _answered(section(study, kind, given))

    def post(self, request: Request, study_id: int, kind: str) -> Response:
        study = study_for(request, study_id)
        if not editable(request.user, study):
            raise PermissionDenied("You may read this study, but have nothing simulated for it.")
        given = request.data.get("parameters", {}) if isinstance(request.data, dict) else None
        if not isinstance(given, dict):
            raise ValidationError({"parameters": "Expected an object."})
        try:
            services.request(study, _kind(kind), given)
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
