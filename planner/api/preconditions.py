"""If-Match: a change is made only to what its asker has seen (412 otherwise), and some want to know that (428)."""

import hashlib
import re
from typing import Any

from rest_framework.exceptions import APIException
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

TAG = re.compile(r'(?:W/)?("[^"]*")')
ANY = "*"


class PreconditionFailed(APIException):
    status_code = 412
    default_code = "changed_meanwhile"
    default_detail = "Found another version than the one that If-Match names: GET it again, and change what is there."


class PreconditionRequired(APIException):
    status_code = 428
    default_code = "if_match_missing"
    default_detail = (
        "Found no If-Match, expected the ETag that GET of this address answered (or * to change whatever is there)."
    )


def check(view: Any, request: Request, named: dict[str, Any], *, required: bool) -> None:
    """Compares with what GET of the same address answers now. A weak tag counts as its strong one: GET's answer is
    weak only where it was sent packed. Whoever changes it locks the row first and then asks ``still``."""
    shown = request.headers.get("If-Match", "").strip()
    if not shown:
        if required:
            raise PreconditionRequired
        return
    request.shown_tags = None if shown == ANY else TAG.findall(shown)
    still(view, request, named)


def still(view: Any, request: Request, named: dict[str, Any]) -> None:
    """The same once more, under the lock under which the change is made."""
    tags = getattr(request, "shown_tags", None)
    if tags is not None and tag_of(view.told(request, **named)) not in tags:
        raise PreconditionFailed


def tag_of(data: Any) -> str:
    """The ETag that GET gives this content (planner.api.conditional has it of the bytes; these are the same)."""
    content = JSONRenderer().render(data)
    return f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"'


def tagged(response: Response) -> Response:
    """A write's answer that is what GET of the same address says now: with its ETag."""
    response["ETag"] = tag_of(response.data)
    return response
