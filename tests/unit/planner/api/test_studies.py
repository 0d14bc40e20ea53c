"""GET /api/v1/studies, /{id}, /{id}/designs."""

from collections.abc import Callable

import pytest
from django.test import Client

from planner.studies.models import Study
from planner.studies.results import study_result
from simcore.rows import COLUMNS
from tests.unit.planner.studies.conftest import *  # noqa: F403 - its fixtures
from tests.unit.planner.studies.conftest import Counted

Start = Callable[[], Study]
Work = Callable[..., int]
URLS = ["", "/designs"]


@pytest.fixture
def study(start: Start, work: Work, counted: Counted) -> Study:
    study = start()
    work()
    study.refresh_from_db()
    return study


@pytest.mark.parametrize("url", URLS)
def test_members_read_strangers_find_nothing(
    study: Study, url: str, alice_client: Client, bob_client: Client, charlie_client: Client, client: Client
) -> None:
    address = f"/api/v1/studies/{study.pk}{url}"
    statuses = [who.get(address).status_code for who in (alice_client, bob_client, charlie_client, client)]
    assert statuses == [200, 200, 404, 401]
    assert charlie_client.get(address).json()["error"]["code"] == "not_found"
    assert alice_client.post(address).status_code == 405
    assert alice_client.get(f"/api/v1/studies/{study.pk + 1}{url}").status_code == 404


def test_the_list_has_the_teams_studies_only(study: Study, alice_client: Client, charlie_client: Client) -> None:
    listed = alice_client.get("/api/v1/studies/").json()
    assert (listed["count"], [row["id"] for row in listed["results"]]) == (1, [study.pk])
    assert listed["results"][0]["url"] == f"http://testserver/api/v1/studies/{study.pk}"
    assert charlie_client.get("/api/v1/studies/").json()["count"] == 0


def test_the_newest_study_is_listed_first(study: Study, start: Start, alice_client: Client) -> None:
    newer = start()
    listed = [row["id"] for row in alice_client.get("/api/v1/studies/").json()["results"]]
    assert listed == [newer.pk, study.pk]


def test_the_list_takes_a_fixed_number_of_queries(
    study: Study, start: Start, alice_client: Client, django_assert_max_num_queries
) -> None:
    start()
    with django_assert_max_num_queries(6):
        assert alice_client.get("/api/v1/studies/").json()["count"] == 2


def test_the_study_has_state_progress_and_the_answer(study: Study, alice_client: Client) -> None:
    data = alice_client.get(f"/api/v1/studies/{study.pk}").json()
    assert (data["id"], data["state"], data["partial"], data["revision"]) == (study.pk, "done", False, 1)
    assert data["progress"]["tried"] == data["progress"]["total"] == study.designs.count()
    assert [line["key"] for line in data["answer"]][:1] == ["A"]
    winner = study_result(study).winner
    assert winner is not None
    assert str(winner.mixed_machines or winner.prefill_machines) in data["answer"][0]["text"]


def test_all_designs_come_at_once_with_the_columns_of_designs_csv(study: Study, alice_client: Client) -> None:
    data = alice_client.get(f"/api/v1/studies/{study.pk}/designs").json()
    assert data["count"] == len(data["results"]) == study.designs.count()
    assert all(tuple(row) == COLUMNS for row in data["results"])
    assert (data["partial"], data["next"], data["previous"]) == (False, None, None)


def test_designs_come_in_pages_where_asked(study: Study, alice_client: Client) -> None:
    every = alice_client.get(f"/api/v1/studies/{study.pk}/designs").json()["results"]
    url, paged = f"/api/v1/studies/{study.pk}/designs?limit=5", []
    while url:
        data = alice_client.get(url).json()
        assert data["count"] == len(every)
        paged += data["results"]
        url = data["next"]
    assert paged == every


def test_a_running_study_answers_202_with_the_rows_so_far(
    start: Start, work: Work, counted: Counted, alice_client: Client
) -> None:
    study = start()
    work(3)
    response = alice_client.get(f"/api/v1/studies/{study.pk}/designs")
    assert (response.status_code, response["Retry-After"]) == (202, "2")
    data = response.json()
    assert (data["state"], data["partial"], data["count"]) == ("running", True, len(counted.calls))
    about = alice_client.get(f"/api/v1/studies/{study.pk}")
    assert about.status_code == 202
    assert about.json()["answer"]


def test_a_study_that_has_not_begun_has_no_rows_and_says_so(start: Start, alice_client: Client) -> None:
    study = start()
    data = alice_client.get(f"/api/v1/studies/{study.pk}").json()
    waiting = "waiting for a worker: none is running"
    assert data["progress"] == {"tried": 0, "total": 0, "failed": 0, "phase": waiting, "damaged": 0}
    assert alice_client.get(f"/api/v1/studies/{study.pk}/designs").json()["results"] == []


def test_the_root_lists_addresses_as_the_documentation_writes_them(alice_client: Client) -> None:
    found = alice_client.get("/api/v1/").json()
    assert found["study"] == "http://testserver/api/v1/studies/{study_id}"
    assert not any("<" in address for address in found.values())
