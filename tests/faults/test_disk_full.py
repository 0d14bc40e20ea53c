"""A disk without room, and twenty writers at once, on one person's SQLite."""

import contextlib
import http.client
import json
import os
import resource
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.services import ROOT, Planner, clean_environment, running_planner, until

TOKEN = (
    "from planner.accounts import teams, tokens; user = teams.local_user();"
    " print(tokens.issue(user.teams.get(), 'faults', user, 'write')[1])"
)
WRITERS, EACH, MOST_TRIES = 20, 3, 30
BOOK = {"date": "2026-11-30", "prices": [{"machine": "dgx-h100", "usd_per_hour": "12.50", "source": "an offer"}]}
PAGES = (
    *("", "workloads/", "catalogue/", "calibrations/", "compare/", "studies/1/", "studies/1/status"),
    *("studies/1/finance/", "accounts/tokens/", "accounts/teams/", "api/v1/studies/"),
)
Answer = tuple[int, Any, "http.client.HTTPMessage"]


class Caller:
    """A program that uses the REST interface."""

    def __init__(self, planner: Planner) -> None:
        self.url = planner.url
        environment = {**clean_environment(), "PHASEPLAN_VAR": str(planner.var)}
        command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", TOKEN]
        made = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
        self.headers = {"Authorization": f"Bearer {made.stdout.strip()}", "Content-Type": "application/json"}

    def send(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(f"{self.url}{path}", data, self.headers | headers)
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return answer.status, _read(answer), answer.headers
        except urllib.error.HTTPError as refused:
            return refused.code, _read(refused), refused.headers

    def books(self) -> list[str]:
        found = self.send("api/v1/catalogue/price-books/?limit=1000")[1]["results"]
        return [book["id"] for book in found]


def _read(answer: Any) -> Any:
    text = answer.read().decode()
    return json.loads(text) if "json" in answer.headers["Content-Type"] else text


def book(name: str) -> dict[str, Any]:
    return {"id": name, "name": name, **BOOK}


@contextlib.contextmanager
def without_room(planner: Planner) -> Iterator[None]:
    """As long as the block lasts no process of the planner's can write a byte to a file: as on a full disk, and unlike
    one without a disk of one's own."""
    groups = json.loads((planner.var / "launcher.lock").read_text())["groups"]
    limited = [pid for pid in _processes() if _group(pid) in groups]
    assert len(limited) >= 4, "a web server and a worker, each with a process that works"
    for pid in limited:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        for pid in limited:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def rows(planner: Planner, query: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(planner.var / "phaseplan.sqlite3")) as database:
        return database.execute(query).fetchall()


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planner]:
    with running_planner(tmp_path_factory.mktemp("single"), PHASEPLAN_SQLITE_WAIT_S="2") as started:
        yield started


def test_on_a_full_disk_pages_are_read_writes_are_refused_in_words_and_the_study_goes_on_later(single: Planner) -> None:
    caller = Caller(single)
    tried = "SELECT count(*) FROM studies_studydesign WHERE result IS NOT NULL"
    until(lambda: rows(single, tried)[0][0] > 0, said=lambda: single.output)
    before = caller.books()
    key = {"Idempotency-Key": str(uuid.uuid4())}
    with without_room(single):
        status, refused, _ = caller.send("api/v1/catalogue/price-books/", book("lost"), **key)
        assert (status, refused["code"]) == (507, "storage_full")
        assert "must make room" in refused["detail"]
        assert {page: caller.send(page)[0] for page in PAGES} == dict.fromkeys(PAGES, 200)
        assert caller.books() == before
    assert caller.send("api/v1/catalogue/price-books/", book("kept"), **key)[0] == 201
    assert sorted(caller.books()) == sorted([*before, "kept"])
    # What was at work then is taken up once its lease has run out.
    begun = "SELECT count(*) FROM studies_shard WHERE id <= 4 AND state = 'done'"
    until(lambda: rows(single, begun)[0][0] == 4, said=lambda: single.output)
    assert rows(single, "SELECT error FROM studies_study") == [("",)]
    assert rows(single, "PRAGMA integrity_check") == [("ok",)]
    twice = "SELECT count(*) FROM studies_studydesign GROUP BY study_id, design_id HAVING count(*) > 1"
    assert rows(single, twice) == []


def test_twenty_writers_at_once_are_served_or_told_and_what_was_acknowledged_is_there(single: Planner) -> None:
    caller = Caller(single)
    before = set(caller.books())

    def write(number: int) -> Counter[int]:
        statuses: Counter[int] = Counter()
        for name in (f"of-{number}-{step}" for step in range(EACH)):
            for _ in range(MOST_TRIES):  # one that had no turn is sent again
                status = caller.send("api/v1/catalogue/price-books/", book(name))[0]
                statuses[status] += 1
                if status == 201:
                    break
        return statuses

    with ThreadPoolExecutor(WRITERS) as writers:
        statuses = sum(writers.map(write, range(WRITERS)), Counter[int]())
    assert set(statuses) <= {201, 503}
    assert statuses[201] == WRITERS * EACH, "a refused one was not saved, so it could be sent again"
    written = {f"of-{number}-{step}" for number in range(WRITERS) for step in range(EACH)}
    assert set(caller.books()) - before == written
    assert rows(single, "PRAGMA integrity_check") == [("ok",)]


def test_a_writer_that_has_no_turn_is_told_when_to_try_again(single: Planner) -> None:
    caller = Caller(single)
    with contextlib.closing(sqlite3.connect(single.var / "phaseplan.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        status, refused, headers = caller.send("api/v1/catalogue/price-books/", book("late"))
        assert (status, refused["code"], headers["Retry-After"]) == (503, "busy", "5")
        assert {page: caller.send(page)[0] for page in PAGES} == dict.fromkeys(PAGES, 200)
        other.execute("ROLLBACK")
    assert "late" not in caller.books()
    assert caller.send("api/v1/catalogue/price-books/", book("late"))[0] == 201
