"""One form for every error of the REST interface: RFC 9457's problem details, as ``application/problem+json``.

``errors`` names each field that is not valid. ``error`` holds the same under the names that v1 began with: who reads
those goes on to.
"""

from http import HTTPStatus
from typing import Any

from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_handler

PROBLEM = "application/problem+json"
Json = dict[str, Any]


def exception_handler(error: Exception, context: Json) -> Response | None:
    response = drf_handler(error, context)
    if response is None:
        return None
    response.data = problem(response.status_code, *_said(error, response.data))
    response.content_type = PROBLEM
    return response


def problem(status: int, code: str, message: str, fields: Json | None = None) -> Json:
    """``fields``: what is wrong, by field. ``type`` is ``about:blank``: the status says what kind of problem it is,
    and ``code`` which of its kind."""
    fields = fields or {}
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": message,
        "code": code,
        "errors": [{"field": name, "detail": one} for name, found in fields.items() for one in _each(found)],
        "error": {"status": status, "code": code, "message": message, "fields": fields},
    }


def _each(found: Any) -> list[str]:
    return [str(one) for one in found] if isinstance(found, list) else [str(found)]


def _said(error: Exception, data: Any) -> tuple[str, str, Json]:
    if isinstance(error, ValidationError):
        fields = data if isinstance(data, dict) else {"non_field_errors": data}
        return "invalid", "Some fields are not valid.", fields
    code = error.default_code if isinstance(error, APIException) else "not_found"
    return code, str(data.get("detail", error)), {}
