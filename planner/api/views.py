"""The root of REST v1, and the answer to an address that is not there."""

import re
from typing import Any

from django.http import Http404
from django.urls import URLPattern, URLResolver
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.api.operation import RestView, operation
from planner.api.shapes import keyed, text

CONVERTER = re.compile(r"<(?:\w+:)?(\w+)>")
"""What Django's patterns have where the documentation of the API has ``{study_id}``."""


class Root(RestView):
    """Every address of REST v1, as a template under its name."""

    @operation("Addresses", answers={200: keyed(text())})
    def get(self, request: Request) -> Response:
        from planner.api.urls import urlpatterns

        base = request.build_absolute_uri()
        return Response(dict(sorted(_addresses(urlpatterns, base))))


class NotFound(APIView):
    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise Http404


def _addresses(patterns: list[Any], base: str) -> list[tuple[str, str]]:
    found = []
    for entry in patterns:
        address = base + CONVERTER.sub(r"{\1}", str(entry.pattern))
        if isinstance(entry, URLResolver):
            found += _addresses(entry.url_patterns, address)
        elif isinstance(entry, URLPattern) and entry.name:
            found.append((entry.name, address))
    return found
