"""REST v1 of the workloads: what there is, and what is known of each."""

from typing import Any

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.api.pagination import Pagination
from planner.workloads.models import Workload


class Workloads(APIView):
    """The team's workloads and the shipped ones, without their requests."""

    def get(self, request: Request) -> Response:
        pages = Pagination()
        rows = pages.paginate_queryset(Workload.objects.visible_to(request.user), request, view=self) or []
        return pages.get_paginated_response([_described(row, request.build_absolute_uri(f"{row.pk}")) for row in rows])


class WorkloadDetail(APIView):
    """One workload: statistics, and the parse report or the spec that it comes from."""

    def get(self, request: Request, workload_id: int) -> Response:
        row = Workload.objects.visible_to(request.user).filter(pk=workload_id).first()
        if row is None:
            raise Http404
        known = {"report": row.report, "spec": row.spec, "file_name": row.file_name}
        return Response({**_described(row, request.build_absolute_uri()), **known})


def _described(row: Workload, url: str) -> dict[str, Any]:
    return {
        "id": row.pk,
        "name": row.name,
        "kind": row.kind,
        "shipped": row.shipped is not None,
        "content_hash": row.content_hash,
        "created_at": row.created_at.isoformat(),
        "statistics": row.summary["statistics"],
        "url": url.split("?")[0],
    }
