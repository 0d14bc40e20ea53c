"""The OpenAPI document, as programs and as people read it."""

from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.operation import RestView, operation
from planner.api.shapes import anything, keyed


class OpenApi(RestView):
    """The OpenAPI 3.1 document of these addresses."""

    @operation("This document", answers={200: keyed(anything())})
    def get(self, request: Request) -> Response:
        from planner.api.document import document  # loads drf-spectacular: not before somebody asks

        return Response(document())
