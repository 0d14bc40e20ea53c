"""What a visitor is told where disk, database or we ourselves fail."""

import contextlib
import errno
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest
from django.test import RequestFactory

from planner.operations import trouble
from planner.operations.trouble import AWAY, BUSY, FAULT, FULL, Trouble, answer, trouble_of


@contextlib.contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, timeout=0.01, isolation_level=None)) as found:
        yield found


def test_sqlite_s_own_words_for_no_room_and_for_no_turn(tmp_path: Path) -> None:
    with database(tmp_path / "plans") as one, database(tmp_path / "plans") as other:
        one.execute("CREATE TABLE plan (text)")
        one.execute("PRAGMA max_page_count = 2")
        with pytest.raises(sqlite3.OperationalError) as full:
            one.execute("INSERT INTO plan VALUES (zeroblob(100000))")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError) as locked:
            one.execute("INSERT INTO plan VALUES (1)")
    assert (trouble_of(full.value), trouble_of(locked.value)) == (FULL, BUSY)


@pytest.mark.parametrize(
    ("cause", "outer", "kind"),
    [
        (psycopg.errors.DiskFull("could not extend file"), OperationalError("no"), FULL),
        (psycopg.errors.DeadlockDetected("deadlock"), OperationalError("no"), BUSY),
        (psycopg.errors.TooManyConnections("sorry"), OperationalError("no"), BUSY),
        (psycopg.OperationalError("connection refused"), OperationalError("no"), AWAY),
        (psycopg.InterfaceError("connection closed"), InterfaceError("no"), AWAY),
        (OSError(errno.ENOSPC, "No space left on device"), RuntimeError("upload"), FULL),
        (OSError(errno.EACCES, "Permission denied"), RuntimeError("upload"), FAULT),
        (ValueError("3"), KeyError("4"), FAULT),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.code,
)
def test_errors_are_told_by_what_they_came_from(cause: Exception, outer: Exception, kind: Trouble) -> None:
    outer.__cause__ = cause
    assert trouble_of(outer) == kind


def test_an_error_that_came_from_itself_ends() -> None:
    error = ValueError("3")
    error.__context__ = KeyError("4")
    error.__context__.__context__ = error
    assert trouble_of(error) == FAULT


def told(request: HttpRequest, error: Exception) -> Any:
    try:
        raise error
    except Exception:
        return answer(request)


def test_a_page_a_part_of_a_page_and_a_program_are_each_told_their_way(rf: RequestFactory) -> None:
    away = OperationalError("connection refused")
    page = told(rf.get("/"), away)
    assert (page.status_code, page["Retry-After"], page["Cache-Control"]) == (503, "10", "no-store")
    assert "<h1>The database does not answer</h1>" in page.content.decode()
    part = told(rf.get("/studies/1/status", headers={"HX-Request": "true"}), away)
    assert (part.status_code, part["Content-Type"]) == (503, "text/plain")
    assert part.content.decode().startswith("The database does not answer. ")
    program = told(rf.get("/api/v1/studies/"), away)
    assert (program.status_code, program["Content-Type"]) == (503, "application/problem+json")
    assert json.loads(program.content)["code"] == "database_away"
    shared = told(rf.get("/shared/abc/api/v1/studies/1"), ZeroDivisionError())
    assert (json.loads(shared.content)["code"], shared.headers.get("Retry-After")) == ("fault", None)


@pytest.mark.django_db
def test_what_is_only_noted_beside_a_request_does_not_fail_it(caplog: pytest.LogCaptureFixture) -> None:
    def write() -> None:
        raise OperationalError("database or disk is full")

    trouble.note(write)
    assert "database or disk is full" in caplog.text
