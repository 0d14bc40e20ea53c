"""One form for every error of the REST interface: RFC 9457's problem details, as ``application/problem+json``.

``errors`` names each field that is not valid. ``error`` holds the same under the names that v1 began with: who reads
those goes on to.
"""

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_handler

from planner.scenarios.errors import FieldErrors

PROBLEM = "application/problem+json"
ALL = "non_field_errors"
"""Where an error is of no single field."""
CODES: dict[type[Exception], str] = {PermissionDenied: "permission_denied"}
MEBIBYTE = 1 << 20
Json = dict[str, Any]


class Conflict(APIException):
    """What was asked for cannot be done as things are."""

    status_code = 409
    default_code = "conflict"


class TooLarge(APIException):
    status_code = 413
    default_code = "too_large"


def exception_handler(error: Exception, context: Json) -> Response | None:
    error = _known(error)
    response = drf_handler(error, context)
    if response is None:
        return None
    response.data = problem(response.status_code, *_said(error, response.data))
    response.content_type = PROBLEM
    return response


def _known(error: Exception) -> Exception:
    """What the REST framework knows no answer to."""
    if isinstance(error, FieldErrors):
        return ValidationError({ALL if name == "__all__" else name: [said] for name, said in error.fields.items()})
    if isinstance(error, RequestDataTooBig):
        return TooLarge(
            f"Found more than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE // MEBIBYTE} MiB, expected at most that."
        )
    return error


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
        fields = data if isinstance(data, dict) else {ALL: data}
        return "invalid", "Some fields are not valid.", fields
    code = error.default_code if isinstance(error, APIException) else CODES.get(type(error), "not_found")
    return code, str(data.get("detail", error)), {}
