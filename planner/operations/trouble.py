"""What is said where a request could not be done for want of disk or database, or by a fault of ours.

Such errors come up anywhere, in a view as in what surrounds it: Django's ``handler500`` is the one place that sees all.
It reads no row and fills no page of the site: what failed would fail again.
"""

import errno
import logging
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.templatetags.static import static

from planner.operations.logs import facts

logger = logging.getLogger(__name__)
UNSURE = "What was sent may not be saved: look before you send it again. What was saved before is still there."


@dataclass(frozen=True)
class Trouble:
    """``status``: of HTTP. ``retry_after_s``: 0 where nobody knows."""

    status: int
    code: str
    title: str
    text: str
    retry_after_s: int = 0


FULL = Trouble(
    507,
    "storage_full",
    "The disk is full",
    f"Phaseplan’s disk is full or cannot be written to; whoever runs it must make room. {UNSURE}",
)
BUSY = Trouble(
    503,
    "busy",
    "Others are writing",
    f"Others wrote for so long that this had no turn: try again in a moment. {UNSURE}",
    5,
)
AWAY = Trouble(
    503,
    "database_away",
    "The database does not answer",
    f"Phaseplan’s database cannot be reached; try again in a moment. {UNSURE}",
    10,
)
FAULT = Trouble(
    500,
    "fault",
    "Something broke here",
    f"This is a fault of Phaseplan, not of your input; it is written to the server’s log. {UNSURE}",
)

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
SQLITE_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY")
"""How names of SQLite's errors begin where it cannot write (www.sqlite.org/rescode.html, read 2026-12)."""
SQLITE_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
STATES = {"53100": FULL, "40001": BUSY, "40P01": BUSY, "53300": BUSY, "55P03": BUSY}
"""Of PostgreSQL's errors (Appendix A of its manual): disk full, serialization failure, deadlock, too many connections,
lock not available."""


def trouble_of(error: BaseException | None) -> Trouble:
    """What kind of trouble an error is, by itself or by what it came from."""
    found = FAULT
    for one in _chain(error):
        kind = _kind(one)
        if kind in (FULL, BUSY):
            return kind
        found = kind if found is FAULT else found
    return found


def answer(request: HttpRequest) -> HttpResponse:
    """Django's ``handler500``, called while the error is being handled."""
    found = trouble_of(sys.exception())
    name = str(facts().get("request_id", ""))
    response = _response(request, found, name)
    if found.retry_after_s:
        response["Retry-After"] = str(found.retry_after_s)
    response["Cache-Control"] = "no-store"
    return response


def note(write: Callable[[], Any]) -> None:
    """Writes down something beside what was asked for, such as when a token was last used; the request goes on without
    it where that cannot be."""
    try:
        with transaction.atomic():
            write()
    except DatabaseError as error:
        logger.warning("could not be noted: %s", error)


def _response(request: HttpRequest, found: Trouble, name: str) -> HttpResponse:
    if "/api/v1/" in request.path:
        from planner.api.errors import PROBLEM, problem

        text = f"{found.text} Request {name}." if name else found.text
        return JsonResponse(problem(found.status, found.code, text), status=found.status, content_type=PROBLEM)
    if request.headers.get("HX-Request"):  # read by static/js/requests.js
        return HttpResponse(f"{found.title}. {found.text}", status=found.status, content_type="text/plain")
    context = {"trouble": found, "request_name": name, "style": _style()}
    return HttpResponse(render_to_string("operations/trouble.html", context), status=found.status)


def _style() -> str:
    try:
        return static("css/site.css")
    except ValueError:  # no static files were collected: perhaps that is the trouble
        return ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _kind(error: BaseException) -> Trouble:
    if isinstance(error, sqlite3.Error):
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(SQLITE_NO_ROOM):
            return FULL
        return BUSY if name.startswith(SQLITE_BUSY) else FAULT
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return FULL
    state = getattr(error, "sqlstate", None)
    if state in STATES:
        return STATES[state]
    return AWAY if isinstance(error, OperationalError | InterfaceError) else FAULT
