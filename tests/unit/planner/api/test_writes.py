"""What REST v1 writes: questions, revisions, studies; If-Match, Idempotency-Key, and errors that name the field."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from planner.accounts.models import Membership, Role, Team, User
from planner.api.idempotency import KEPT
from planner.api.models import KeptAnswer
from planner.scenarios.models import Revision, Scenario
from planner.studies.models import Study
from tests.unit.planner.studies.conftest import *  # noqa: F403 - its fixtures

ROOT = "/api/v1/"
JSON = "application/json"
Inputs = dict[str, Any]


def fields(answer: Any) -> dict[str, str]:
    return {one["field"]: one["detail"] for one in answer.json()["errors"]}


@pytest.fixture
def asked(alice_client: Client, inputs: Inputs) -> dict[str, Any]:
    made = alice_client.post(f"{ROOT}scenarios/", {"inputs": inputs, "note": "for the board"}, content_type=JSON)
    assert made.status_code == 201, made.content
    assert made["Location"] == made.json()["url"]
    found: dict[str, Any] = made.json()
    return {**found, "etag": made["ETag"]}


def test_a_question_is_saved_as_the_form_saves_it(asked: dict[str, Any], alice_client: Client, inputs: Inputs) -> None:
    row = Scenario.unscoped.get()
    assert (asked["id"], asked["revision"], asked["note"]) == (row.pk, 1, "for the board")
    assert asked["inputs"]["rate_req_per_s"] == 10
    assert asked["inputs"]["goal"] == "cost"
    again = alice_client.get(asked["url"])
    assert again["ETag"] == asked["etag"]
    assert {**again.json(), "etag": asked["etag"]} == asked
    assert not Study.unscoped.exists()


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"rate_req_per_s": -1}, "inputs.rate_req_per_s", "Found ‘-1’"),
        ({"machines": ["dgx-h101"]}, "inputs.machines", "nearest: 'dgx-h100'"),
        ({"rate_per_s": 3}, "inputs.rate_per_s", "nearest: 'rate_req_per_s'"),
        ({"workload": "0"}, "inputs.workload", "expected one of"),
        ({"machines": "dgx-h100"}, "inputs.machines", "expected a list"),
        ({"goal": "cost\x00"}, "inputs.goal", "a character that no text holds"),
        ({"rate_req_per_s": []}, "inputs.rate_req_per_s", "expected a number or text or null"),
    ],
)
def test_what_is_wrong_is_named_by_its_field(
    alice_client: Client, inputs: Inputs, change: Inputs, field: str, words: str
) -> None:
    answer = alice_client.post(f"{ROOT}scenarios/", {"inputs": {**inputs, **change}}, content_type=JSON)
    assert answer.status_code == 400
    assert words in fields(answer)[field]
    assert not Scenario.unscoped.exists()


def test_a_body_that_is_none_is_a_400(alice_client: Client) -> None:
    for text in ("[]", "3", "{}", "{", "[" * 100_000, '"\\ud800"', '{"inputs": {"model": "\\ud800"}}'):
        answer = alice_client.generic("POST", f"{ROOT}scenarios/", text, content_type=JSON)
        assert answer.status_code == 400, text[:40]
        assert answer["Content-Type"] == "application/problem+json"
    assert alice_client.post(f"{ROOT}scenarios/", {"a": 1}).status_code == 415


def test_a_change_says_what_it_has_seen(asked: dict[str, Any], alice_client: Client, inputs: Inputs) -> None:
    at = f"{ROOT}scenarios/{asked['id']}"
    changed = {"inputs": {**inputs, "rate_req_per_s": 12}}
    assert alice_client.put(at, changed, content_type=JSON).status_code == 428
    first = alice_client.put(at, changed, content_type=JSON, headers={"If-Match": asked["etag"]})
    assert (first.status_code, first.json()["revision"]) == (200, 2)
    late = alice_client.put(at, changed, content_type=JSON, headers={"If-Match": asked["etag"]})
    assert (late.status_code, late.json()["code"]) == (412, "changed_meanwhile")
    weak = alice_client.patch(at, {"name": "Board"}, content_type=JSON, headers={"If-Match": f"W/{first['ETag']}"})
    assert (weak.status_code, weak.json()["name"], weak.json()["revision"]) == (200, "Board", 2)
    assert weak.json()["inputs"]["rate_req_per_s"] == 12
    some = {"inputs": {"rate_req_per_s": 14}}
    assert alice_client.patch(at, some, content_type=JSON, headers={"If-Match": "*"}).json()["revision"] == 3
    latest = alice_client.get(at).json()
    assert latest["inputs"]["machines"] == asked["inputs"]["machines"]
    assert latest["updated_at"] > asked["updated_at"]


def test_revisions_are_added_and_kept(asked: dict[str, Any], alice_client: Client, inputs: Inputs) -> None:
    at = f"{ROOT}scenarios/{asked['id']}/revisions/"
    assert alice_client.post(at, {"inputs": inputs}, content_type=JSON).status_code == 200  # the same
    made = alice_client.post(at, {"inputs": {**inputs, "rate_req_per_s": 20}}, content_type=JSON)
    assert (made.status_code, made.json()["number"]) == (201, 2)
    assert alice_client.get(made["Location"]).json() == made.json()
    assert [one["number"] for one in alice_client.get(at).json()["results"]] == [2, 1]
    assert alice_client.get(f"{at}1").json()["inputs"]["rate_req_per_s"] == 10
    assert alice_client.get(f"{at}3").status_code == 404


def test_the_shipped_example_stays(asked: dict[str, Any], alice_client: Client, inputs: Inputs) -> None:
    Scenario.unscoped.update(shipped_id="example")
    at = f"{ROOT}scenarios/{asked['id']}/revisions/"
    assert alice_client.post(at, {"inputs": {**inputs, "rate_req_per_s": 20}}, content_type=JSON).status_code == 409
    assert Revision.objects.count() == 1


def test_a_study_is_started_watched_and_cancelled(asked: dict[str, Any], alice_client: Client, sent: list[Any]) -> None:
    made = alice_client.post(f"{ROOT}studies/", {"scenario": asked["id"]}, content_type=JSON)
    assert (made.status_code, made["Retry-After"], made.json()["state"]) == (202, "2", "queued")
    at = made["Location"]
    assert at == f"http://testserver{ROOT}studies/{made.json()['id']}"
    assert alice_client.get(at).status_code == 202
    same = alice_client.post(f"{ROOT}studies/", {"scenario": asked["id"], "revision": 1}, content_type=JSON)
    assert same["Location"] == at  # under way already
    stopped = alice_client.post(f"{at}/cancel")
    assert (stopped.status_code, stopped.json()["state"], stopped["Location"]) == (200, "cancelled", at)
    assert alice_client.get(at).status_code == 200
    assert alice_client.post(f"{at}/retry").status_code == 202


def test_a_new_question_is_asked_and_answered_in_one(alice_client: Client, inputs: Inputs, sent: list[Any]) -> None:
    made = alice_client.post(f"{ROOT}studies/", {"inputs": inputs, "name": "At once"}, content_type=JSON)
    assert made.status_code == 202
    assert Scenario.unscoped.get().name == "At once"
    assert made.json()["scenario"] == Scenario.unscoped.get().pk


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "scenario"),
        ({"scenario": 0}, "scenario"),
        ({"scenario": 999_999}, "scenario"),
        ({"scenario": 10**30}, "scenario"),
        ({"scenario": 1, "inputs": {}}, "inputs.model"),
        ({"revision": 7}, "revision"),
    ],
)
def test_a_study_of_nothing_is_refused(
    asked: dict[str, Any], alice_client: Client, body: dict[str, Any], field: str
) -> None:
    if body == {"revision": 7}:
        body = {"scenario": asked["id"], **body}
    answer = alice_client.post(f"{ROOT}studies/", body, content_type=JSON)
    assert answer.status_code == 400
    assert field in fields(answer)
    assert not Study.unscoped.exists()


def test_what_is_sent_twice_with_its_key_is_done_once(alice_client: Client, inputs: Inputs, bob_client: Client) -> None:
    def post(key: str, rate: float = 10, client: Client = alice_client) -> Any:
        body = {"inputs": {**inputs, "rate_req_per_s": rate}}
        return client.post(f"{ROOT}scenarios/", body, content_type=JSON, headers={"Idempotency-Key": key})

    first, again = post("k-1"), post("k-1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert "Idempotency-Replayed" not in first
    assert (again["Idempotency-Replayed"], again["Location"], again["ETag"]) == (
        "true",
        first["Location"],
        first["ETag"],
    )
    assert again.content == first.content
    assert Scenario.unscoped.count() == 1
    other = post("k-1", rate=11)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert post("k-1", client=bob_client).status_code == 201  # a key is its asker's own
    assert post("k-2", rate=-1).status_code == 400
    assert post("k-2").status_code == 201  # what was refused may be corrected under its key
    assert post("é\n").status_code == 400
    KeptAnswer.objects.filter(key="k-2").update(status=None)
    busy = post("k-2")
    assert (busy.status_code, busy.json()["code"], busy["Retry-After"]) == (409, "idempotency_key_under_way", "1")
    KeptAnswer.objects.update(created_at=timezone.now() - KEPT)
    before = Scenario.unscoped.count()
    assert "Idempotency-Replayed" not in post("k-1")
    assert Scenario.unscoped.count() == before + 1


def test_a_viewer_writes_nothing(
    asked: dict[str, Any], charlie_client: Client, charlie: User, team: Team, inputs: Inputs
) -> None:
    at = f"{ROOT}scenarios/{asked['id']}"
    whole = {"inputs": inputs}
    headers = {"If-Match": "*"}
    assert charlie_client.put(at, whole, content_type=JSON, headers=headers).status_code == 404
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    assert charlie_client.get(at).status_code == 200
    for send, where in (
        (charlie_client.put, at),
        (charlie_client.patch, at),
        (charlie_client.post, f"{at}/revisions/"),
    ):
        assert send(where, whole, content_type=JSON, headers=headers).status_code == 403, where
    started = charlie_client.post(f"{ROOT}studies/", {"scenario": asked["id"]}, content_type=JSON)
    assert started.status_code == 403
    assert not Study.unscoped.exists()
