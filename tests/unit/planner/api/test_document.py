"""The OpenAPI document: committed as the code says, without a warning, every operation declared."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS

from planner.api import document as module
from planner.api.document import as_text, document

COMMITTED = Path(__file__).parents[4] / "docs" / "openapi.json"


def test_it_is_committed_as_the_code_says() -> None:
    call_command("openapi", "--check")


def test_what_differs_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    changed = as_text().replace('"One study"', '"A study"')
    monkeypatch.setattr(module, "as_text", lambda: changed)
    with pytest.raises(CommandError, match="is not what the code says"):
        call_command("openapi", "--check")
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line[0] in "+-"][2:] == [
        '-    "summary": "One study",',
        '+    "summary": "A study",',
    ]


def test_nothing_is_warned_of() -> None:
    document.cache_clear()
    found = document()
    assert not GENERATOR_STATS, GENERATOR_STATS._warn_cache
    assert found["openapi"].startswith("3.1")
    assert {"bearer", "session"} == set(found["components"]["securitySchemes"])


def test_every_operation_says_what_it_answers_and_how_it_fails() -> None:
    operations = [(path, method, one) for path, of in document()["paths"].items() for method, one in of.items()]
    assert len(operations) > 35
    names = [one["operationId"] for _, _, one in operations]
    assert len(names) == len(set(names))
    for path, method, one in operations:
        answers = one["responses"]
        good = [status for status in answers if status < "300"]
        assert good, (path, method)
        assert {"400", "401", "429"} <= set(answers), (path, method)
        assert one["summary"], (path, method)
        if method == "post":
            assert "Idempotency-Key" in [given["name"] for given in one["parameters"]], path
        for status in good:
            assert "content" in answers[status] or status == "204", (path, method, status)


def test_it_is_served_as_it_is_committed(alice_client: Client) -> None:
    assert alice_client.get("/api/v1/openapi.json").json() == json.loads(COMMITTED.read_text())
