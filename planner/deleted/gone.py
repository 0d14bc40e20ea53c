"""REST's answer to a DELETE of what can be put back."""

from rest_framework.request import Request
from rest_framework.response import Response


def gone(request: Request, kind: str, pk: int) -> Response:
    """With the address where it is, and may be put back, from now on."""
    return Response(status=204, headers={"Location": request.build_absolute_uri(f"/api/v1/deleted/{kind}/{pk}")})
