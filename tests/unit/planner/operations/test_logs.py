"""What is logged of a request and of a task, and what is not."""

import json
import logging
from collections.abc import Iterator

import pytest
from django.test import Client

from planner.operations.logs import HEADER, About, JsonFormatter, about
from planner.studies.models import Study
from tests.unit.planner.bare_study import bare_study

Caplog = pytest.LogCaptureFixture
REQUESTS = "planner.requests"


@pytest.fixture(autouse=True)
def everything(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    filled = About()
    caplog.set_level(logging.INFO)
    caplog.handler.addFilter(filled)
    yield
    caplog.handler.removeFilter(filled)


def shown(record: logging.LogRecord) -> dict[str, object]:
    found: dict[str, object] = json.loads(JsonFormatter().format(record))
    return found


@pytest.fixture
def study(team: object) -> Study:
    return bare_study(team)


def test_each_request_is_named_in_the_answer_and_in_the_log(alice_client: Client, caplog: Caplog, study: Study) -> None:
    answer = alice_client.get(f"/studies/{study.pk}/analyses/none/", headers={HEADER: "proxy-12345678"})
    assert answer[HEADER] == "proxy-12345678"
    line = shown(next(record for record in caplog.records if record.name == REQUESTS))
    assert line["message"] == "GET /studies/<int:study_id>/analyses/<slug:kind>/ 404"
    assert line["request_id"] == "proxy-12345678"
    assert line["study_id"] == study.pk
    assert line["user_id"]
    assert isinstance(line["duration_ms"], float)


@pytest.mark.parametrize("given", ["short", "x" * 65, "two\nlines-of-it", "ünïcode-name"])
def test_a_name_that_is_none_is_not_taken_over(alice_client: Client, given: str) -> None:
    named = alice_client.get("/healthz", headers={HEADER: given.encode().decode("latin-1")})[HEADER]
    assert named != given
    assert len(named) == 16


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/shared/AAAAAAAAAAAAAAAAAAAAAA/", "/nothing/of/the/kind"])
def test_addresses_are_not_logged_for_they_hold_tokens(client: Client, caplog: Caplog, address: str) -> None:
    client.get(address)
    said = [shown(record)["message"] for record in caplog.records]
    assert "GET (no such address) 404" in said
    assert "Not Found: (no such address)" in said
    assert address not in str(said)


def test_what_is_logged_within_says_what_it_is_about() -> None:
    record = logging.makeLogRecord({"msg": "%s begins", "args": ("Shard 3",), "name": "planner", "levelname": "INFO"})
    with about(study_id=7, task="Shard 3"), about(attempt=2, user_id=None):
        About().filter(record)
    assert shown(record) | {"time": ""} == {
        "time": "",
        "level": "INFO",
        "logger": "planner",
        "message": "Shard 3 begins",
        "study_id": 7,
        "task": "Shard 3",
        "attempt": 2,
    }
    assert record.about_words == " [study_id=7 task=Shard 3 attempt=2]"
