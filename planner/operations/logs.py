"""What is logged: lines for people, or JSON for a collector, each with the request and the study that it is about.

No address is logged, only its pattern: addresses hold the tokens of links.
"""

import json
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

logger = logging.getLogger("planner.requests")
HEADER = "X-Request-ID"
GIVEN = re.compile(r"[\w.-]{8,64}", re.ASCII)
"""What a proxy may name a request; anything else is not taken over."""
WITHOUT: dict[str, Any] = {}
_about: ContextVar[dict[str, Any]] = ContextVar("about", default=WITHOUT)
_OWN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "about", "about_words"}


@contextmanager
def about(**facts: Any) -> Iterator[None]:
    """All that is logged within says so too: ``request_id``, ``user_id``, ``study_id``, …"""
    token = _about.set(_about.get() | {name: value for name, value in facts.items() if value is not None})
    try:
        yield
    finally:
        _about.reset(token)


def facts() -> dict[str, Any]:
    """What is being done, for a record that is kept elsewhere."""
    return dict(_about.get())


class About(logging.Filter):
    """Gives each record what it is about."""

    def filter(self, record: logging.LogRecord) -> bool:
        known = facts() | {name: value for name, value in record.__dict__.items() if name not in _OWN}
        request = known.pop("request", None)
        if isinstance(request, HttpRequest) and isinstance(record.args, tuple):  # Django's own: "Not Found: address"
            record.args = tuple(_pattern(request) if one == request.path else one for one in record.args)
        plain = {name: value for name, value in known.items() if isinstance(value, str | int | float | bool)}
        record.about = plain
        said = [f"{name}={value}" for name, value in plain.items()]
        record.about_words = f" [{' '.join(said)}]" if said else ""
        return True


class JsonFormatter(logging.Formatter):
    """One object a line: time (ISO 8601, UTC), level, logger, message, what it is about, a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": when, "level": record.levelname, "logger": record.name, "message": record.getMessage()}
        line |= getattr(record, "about", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class RequestLogMiddleware:
    """Names each request (as the proxy did, or anew), says the name in the answer, and logs what became of it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given, start = request.headers.get(HEADER, ""), time.monotonic()
        name = given if GIVEN.fullmatch(given) else secrets.token_hex(8)
        with about(request_id=name):
            response = self.get_response(request)
            response[HEADER] = name
            logger.info(
                "%s %s %d",
                request.method,
                _pattern(request),
                response.status_code,
                extra=_facts(request) | {"duration_ms": round((time.monotonic() - start) * 1000, 1)},
            )
        return response

    def process_view(self, request: HttpRequest, view: Any, arguments: Any, names: dict[str, Any]) -> None:
        """What a view logs is about its study."""
        _about.set(_about.get() | {name: names[name] for name in ("study_id", "scenario_id") if name in names})


def _pattern(request: HttpRequest) -> str:
    found = request.resolver_match
    return f"/{found.route}" if found else "(no such address)"


def _facts(request: HttpRequest) -> dict[str, Any]:
    user = getattr(request, "user", None)
    try:
        token = getattr(user, "api_token", None)  # the user is looked up here where nobody has asked before
        known = {"user_id": getattr(user, "pk", None), "token": getattr(token, "key", None)}
    except DatabaseError:
        return {}
    return {name: value for name, value in known.items() if value is not None}
