"""Lists: pages by cursor while rows are written, filters, orderings, what changed since; an unknown name is refused."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from planner.accounts.models import Team, User
from planner.scenarios.models import Revision, Scenario
from planner.studies.models import Study
from planner.workloads.models import Workload
from tests.unit.planner.bare_study import bare_study

STUDIES = "/api/v1/studies/"
WORKLOADS = "/api/v1/workloads/"
SCENARIOS = "/api/v1/scenarios/"


def pages(client: Client, url: str | None) -> Iterator[dict[str, Any]]:
    while url:
        answer = client.get(url)
        assert answer.status_code == 200, answer.content
        yield answer.json()
        url = answer.json()["next"]


@pytest.fixture
def many(team: Team) -> list[Study]:
    """Some of them made at the very same moment."""
    made = [bare_study(team) for _ in range(7)]
    Study.unscoped.filter(pk__in=[one.pk for one in made[2:5]]).update(created_at=made[3].created_at)
    return made


@pytest.mark.parametrize("order", ["", "created_at", "-created_at", "state", "-updated_at", "id", "-id"])
def test_no_row_is_missed_or_twice_while_others_are_written(
    alice_client: Client, many: list[Study], team: Team, order: str
) -> None:
    seen: list[int] = []
    for page in pages(alice_client, f"{STUDIES}?limit=2" + (f"&ordering={order}" if order else "")):
        seen += [row["id"] for row in page["results"]]
        bare_study(team)
    assert len(seen) == len(set(seen))
    assert {one.pk for one in many} <= set(seen)


def test_the_page_before_is_the_page_before(alice_client: Client, many: list[Study]) -> None:
    every = list(pages(alice_client, f"{STUDIES}?limit=3"))
    assert [len(page["results"]) for page in every] == [3, 3, 1]
    assert every[0]["previous"] is None
    back = alice_client.get(every[2]["previous"]).json()
    assert back["results"] == every[1]["results"]
    first = alice_client.get(back["previous"]).json()
    assert (first["results"], first["previous"]) == (every[0]["results"], None)
    assert alice_client.get(first["next"]).json()["results"] == every[1]["results"]


def test_limit_and_offset_go_on_as_they_began(alice_client: Client, many: list[Study]) -> None:
    found = list(pages(alice_client, f"{STUDIES}?limit=3&offset=0"))
    assert [row["id"] for page in found for row in page["results"]] == [
        row["id"] for row in alice_client.get(STUDIES).json()["results"]
    ]
    assert "offset=3" in found[0]["next"]
    assert found[0]["count"] == len(many)


def test_what_changed_since_comes_longest_ago_first(alice_client: Client, many: list[Study]) -> None:
    now = timezone.now()
    for place, one in enumerate(many):
        Study.unscoped.filter(pk=one.pk).update(updated_at=now - timedelta(hours=place))
    since = (now - timedelta(hours=3)).isoformat()
    for text in (since, since.replace("+", "%2B"), since.replace("+00:00", "Z")):  # a plus may come as a space
        found = [
            row["id"]
            for page in pages(alice_client, f"{STUDIES}?updated_since={text}&limit=2")
            for row in page["results"]
        ]
        assert found == [many[3].pk, many[2].pk, many[1].pk, many[0].pk]
    none = alice_client.get(f"{STUDIES}?updated_since={(now + timedelta(hours=1)).isoformat().replace('+', '%2B')}")
    assert none.json()["results"] == []


@pytest.mark.parametrize(
    ("query", "field", "words"),
    [
        ("updated_since=yesterday", "updated_since", "such as 2027-01-31T08:00:00Z"),
        ("updated_since=2027-01-31T08:00:00", "updated_since", "with its offset"),
        ("updated_since=2027-13-31T08:00:00Z", "updated_since", "expected a moment"),
        ("limit=0", "limit", "at least 1"),
        ("limit=x", "limit", "a whole number"),
        ("limit=99999999999999999999", "limit", "a whole number"),
        ("offset=-1", "offset", "a whole number"),
        ("cursor=x", "cursor", "expected one as `next` has it"),
        ("cursor=%00", "cursor", "no text holds"),
        ("ordering=nam", "ordering", "expected one of"),
        ("stat=done", "stat", "nearest: 'state'"),
        ("state=finished", "state", "expected one of queued"),
        ("scenario=1&scenario=2", "scenario", "Found 2 of them"),
        ("", "", ""),
    ],
)
def test_what_an_address_cannot_say_is_named(
    alice_client: Client, many: list[Study], query: str, field: str, words: str
) -> None:
    answer = alice_client.get(f"{STUDIES}?{query}")
    if not query:
        assert answer.status_code == 200
        return
    assert answer.status_code == 400
    (one,) = answer.json()["errors"]
    assert one["field"] == field
    assert words in one["detail"]


def test_a_cursor_is_of_its_own_order(alice_client: Client, many: list[Study]) -> None:
    after = alice_client.get(f"{STUDIES}?limit=2").json()["next"]
    answer = alice_client.get(f"{after}&ordering=id")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "cursor")


def test_studies_are_filtered_by_state_question_and_what_is_asked(alice_client: Client, many: list[Study]) -> None:
    Study.unscoped.filter(pk=many[0].pk).update(state="done")
    Study.unscoped.filter(pk=many[1].pk).update(state="failed")
    asked = {"model": "bloom-176b", "machines": ["dgx-h100"], "families": ["vllm:dgx-h100"], "goal": "power"}
    Revision.objects.filter(pk=many[2].revision_id).update(inputs=asked)

    def found(query: str) -> set[int]:
        return {row["id"] for row in alice_client.get(f"{STUDIES}?{query}").json()["results"]}

    assert found("state=done&state=failed") == {many[0].pk, many[1].pk}
    assert found("state=done") == {many[0].pk}
    for query in ("model=bloom-176b", "machine=dgx-h100", "family=vllm:dgx-h100", "goal=power"):
        assert found(query) == {many[2].pk}, query
    assert found("machine=dgx-h10") == set()
    assert found(f"scenario={many[3].revision.scenario_id}") == {many[3].pk}


def test_questions_are_filtered_by_what_they_ask_last(alice_client: Client, team: Team, alice: User) -> None:
    made = [Scenario.objects.create(team=team, name=name) for name in ("west", "east")]
    for one, model in zip(made, ("llama2-7b", "yi-34b"), strict=True):
        Revision.objects.create(scenario=one, number=1, inputs={"model": "bloom-176b", "machines": ["dgx-a100"]})
        Revision.objects.create(scenario=one, number=2, inputs={"model": model, "machines": ["dgx-h100"]})

    def found(query: str) -> list[str]:
        return [row["name"] for row in alice_client.get(f"{SCENARIOS}?{query}").json()["results"]]

    assert found("model=yi-34b") == ["east"]
    assert found("model=bloom-176b") == []
    assert found("machine=dgx-h100&ordering=name") == ["east", "west"]
    assert found("q=WES") == ["west"]
    assert found("shipped=true") == []
    assert alice_client.get(f"{SCENARIOS}?shipped=yes").status_code == 400


def test_lists_of_workloads_are_paged_and_filtered(alice_client: Client, team: Team) -> None:
    bare_study(team)
    Workload.unscoped.update(summary={"statistics": {}})
    listed = alice_client.get(f"{WORKLOADS}?shipped=false&q=noth")
    assert listed.status_code == 200, listed.content
    assert alice_client.get(f"{WORKLOADS}?kind=upload").status_code == 400
    assert [row["name"] for row in listed.json()["results"]] == ["nothing"]


def test_the_catalogue_comes_whole_or_in_pages(alice_client: Client, db: None) -> None:
    at = "/api/v1/catalogue/machines/"
    whole = alice_client.get(f"{at}?sort=-accelerators").json()
    assert whole["next"] is None
    in_pages = [row for page in pages(alice_client, f"{at}?sort=-accelerators&limit=7") for row in page["results"]]
    assert in_pages == whole["results"]
    assert whole["count"] == len(in_pages)
    wrong = alice_client.get(f"{at}?sort=acelerators")
    assert "nearest: 'accelerators'" in wrong.json()["errors"][0]["detail"]


def test_the_same_is_answered_with_the_same_bytes(alice_client: Client, many: list[Study]) -> None:
    Workload.unscoped.update(summary={"statistics": {}})
    urls: list[Callable[[], Any]] = [
        lambda at=at: alice_client.get(at)
        for at in (STUDIES, SCENARIOS, WORKLOADS, "/api/v1/catalogue/models/", "/api/v1/openapi.json", "/api/v1/")
    ]
    for ask in urls:
        first, second = ask(), ask()
        assert (first.content, first["ETag"]) == (second.content, second["ETag"])
