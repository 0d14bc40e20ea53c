"""One form for every error of the REST interface: {"error": {"status", "code", "message", "fields"}}."""

from typing import Any

from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_handler


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    response = drf_handler(error, context)
    if response is None:
        return None
    response.data = {"error": {"status": response.status_code, **_body(error, response.data)}}
    return response


def _body(error: Exception, data: Any) -> dict[str, Any]:
    if isinstance(error, ValidationError):
        fields = data if isinstance(data, dict) else {"non_field_errors": data}
        return {"code": "invalid", "message": "Some fields are not valid.", "fields": fields}
    code = error.default_code if isinstance(error, APIException) else "not_found"
    return {"code": code, "message": str(data.get("detail", error)), "fields": {}}
