"""REST v1 of the studies: the rows of page and downloads. One that is not complete says ``partial``."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.db.models import Count, Q
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.api.pagination import Pagination
from planner.scenarios.errors import FieldErrors
from planner.studies.actions import study_for
from planner.studies.exports import summary
from planner.studies.models import Study
from planner.studies.supposing import supposed
from simcore.rows import DesignRow, as_json

T = TypeVar("T")
TRIED = ~Q(designs__origin__in=["", "screened"]) | ~Q(designs__failure="")


class DesignPagination(LimitOffsetPagination):
    """All rows unless ``limit`` asks for fewer: a study is a few hundred."""

    default_limit = None


class Studies(APIView):
    """The team's studies, newest first, without their answers."""

    def get(self, request: Request) -> Response:
        rows = (
            Study.objects.visible_to(request.user)
            .select_related("revision__scenario")
            .annotate(
                total=Count("designs", filter=~Q(designs__origin="screened")),
                tried=Count("designs", filter=TRIED),
            )
            .order_by("-created_at", "-pk")  # a model's own order is not kept where rows are grouped
        )
        pages = Pagination()
        page = pages.paginate_queryset(rows, request, view=self) or []
        return pages.get_paginated_response([_listed(study, request) for study in page])


class StudyDetail(APIView):
    """State, progress and the answer in words. 202 while it is being computed."""

    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        return _answered(study, {**_or_400(summary, study, request), "url": request.build_absolute_uri()})


class StudyDesigns(APIView):
    """The rows of designs.csv: those tried so far. 202 while more are being computed."""

    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        _, found = _or_400(supposed, study, request)
        rows = found.result.rows
        pages = DesignPagination()
        page = pages.paginate_queryset(rows, request, view=self)
        links = {} if page is None else {"next": pages.get_next_link(), "previous": pages.get_previous_link()}
        return _answered(study, _page(study, rows if page is None else page, len(rows), links))


def _or_400(made: Callable[[Study, Mapping[str, Any]], T], study: Study, request: Request) -> T:
    """What is made under what the query supposes; 400 where that cannot be, by name."""
    try:
        return made(study, request.query_params)
    except FieldErrors as error:
        raise ValidationError(error.fields) from None


def _page(study: Study, rows: Any, count: int, links: dict[str, str | None]) -> dict[str, Any]:
    state = {"study": study.pk, "state": study.state, "partial": study.is_partial, "count": count}
    results: list[DesignRow] = list(rows)
    return {**state, "next": None, "previous": None, **links, "results": [as_json(row) for row in results]}


def _listed(study: Study, request: Request) -> dict[str, Any]:
    counted: Any = study
    return {
        "id": study.pk,
        "name": study.revision.title,
        "revision": study.revision.number,
        "state": study.state,
        "partial": study.is_partial,
        "created_at": study.created_at.isoformat(),
        "progress": {"tried": counted.tried, "total": counted.total},
        "url": request.build_absolute_uri(f"{study.pk}"),
    }


def _answered(study: Study, data: dict[str, Any]) -> Response:
    if study.is_active:
        return Response(data, status=202, headers={"Retry-After": "2"})
    return Response(data)
