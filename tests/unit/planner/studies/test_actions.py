"""The buttons and downloads of a study: who may, what comes back."""

import csv
import io
import json
from collections.abc import Callable

import pytest
from django.test import Client

from planner.accounts.models import Membership, Role, Team, User
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.results import study_result
from simcore.rows import COLUMNS, as_json, as_text
from simcore.spec import PriceBook, decode_study
from tests.unit.planner.studies.conftest import Counted

Start = Callable[[], Study]
Work = Callable[..., int]
READ = ["designs.csv", "designs.json"]
WRITE = ["cancel", "retry"]


@pytest.fixture
def study(start: Start, work: Work, counted: Counted) -> Study:
    study = start()
    work(4)
    study.refresh_from_db()
    return study


@pytest.mark.parametrize("name", READ)
def test_members_download_strangers_find_nothing(
    study: Study, name: str, alice_client: Client, bob_client: Client, charlie_client: Client
) -> None:
    url = f"/studies/{study.pk}/{name}"
    statuses = [client.get(url).status_code for client in (alice_client, bob_client, charlie_client)]
    assert statuses == [200, 200, 404]
    assert alice_client.get(f"/studies/{study.pk + 1}/{name}").status_code == 404
    assert alice_client.post(url).status_code == 405


@pytest.mark.parametrize("name", WRITE)
def test_strangers_move_nothing(study: Study, name: str, charlie_client: Client, bob_client: Client) -> None:
    url = f"/studies/{study.pk}/{name}"
    assert charlie_client.post(url).status_code == 404
    assert bob_client.get(url).status_code == 405
    study.refresh_from_db()
    assert study.state == State.RUNNING


@pytest.mark.parametrize("name", [*READ, *WRITE])
def test_visitors_who_are_not_signed_in_are_asked_to(study: Study, name: str, client: Client) -> None:
    url = f"/studies/{study.pk}/{name}"
    response = client.post(url) if name in WRITE else client.get(url)
    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/sign-in/")


def test_a_viewer_reads_but_moves_nothing(study: Study, team: Team) -> None:
    dora = User.objects.create_user("dora")
    Membership.objects.create(team=team, user=dora, role=Role.VIEWER)
    viewer = Client()
    viewer.force_login(dora)
    assert viewer.get(f"/studies/{study.pk}/designs.csv").status_code == 200
    assert viewer.post(f"/studies/{study.pk}/cancel").status_code == 403


def test_a_member_cancels_and_takes_up_again(study: Study, bob_client: Client) -> None:
    assert bob_client.post(f"/studies/{study.pk}/cancel").status_code == 302
    study.refresh_from_db()
    assert study.state == State.CANCELLED
    response = bob_client.post(f"/studies/{study.pk}/retry")
    assert response["Location"] == f"/studies/{study.pk}/"
    study.refresh_from_db()
    assert study.state == State.RUNNING


def test_csv_json_and_api_have_the_same_rows(study: Study, alice_client: Client) -> None:
    rows = study_result(study).rows
    assert len(rows) > 2
    text = alice_client.get(f"/studies/{study.pk}/designs.csv").content.decode()
    table = list(csv.reader(io.StringIO(text, newline="")))
    assert table == [list(COLUMNS), *(as_text(row) for row in rows)]
    downloaded = json.loads(alice_client.get(f"/studies/{study.pk}/designs.json").content)
    api = alice_client.get(f"/api/v1/studies/{study.pk}/designs").json()
    assert downloaded["designs"] == api["results"] == json.loads(json.dumps([as_json(row) for row in rows]))


def test_a_download_of_a_partial_study_says_so(study: Study, work: Work, alice_client: Client) -> None:
    url = f"/studies/{study.pk}/designs.csv"
    assert f"-{study.pk}-partial.csv" in alice_client.get(url)["Content-Disposition"]
    assert "requests-per-s" in alice_client.get(url)["Content-Disposition"]
    work()
    assert f"-{study.pk}.csv" in alice_client.get(url)["Content-Disposition"]


def test_text_that_a_spreadsheet_would_run_is_quoted(
    study: Study, alice_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace
    from types import SimpleNamespace

    from planner.studies import exports

    moves, found = exports.supposed(study, {})
    first = replace(found.result.rows[0], label="=HYPERLINK(1)", reason="+1", capacity_req_per_s=-1.5)
    spoilt = SimpleNamespace(result=replace(found.result, rows=(first,)))
    monkeypatch.setattr(exports, "supposed", lambda *_: (moves, spoilt))
    cells = dict(zip(*csv.reader(io.StringIO(exports.designs_csv(study), newline="")), strict=True))
    assert (cells["label"], cells["reason"], cells["capacity_req_per_s"]) == ("'=HYPERLINK(1)", "'+1", "-1.5")


def test_the_json_names_all_that_the_answer_rests_on(study: Study, work: Work, alice_client: Client) -> None:
    work()
    data = json.loads(alice_client.get(f"/studies/{study.pk}/designs.json").content)
    assert data["state"] == "done"
    assert data["partial"] is False
    assert data["answer"][0]["key"] == "A"
    assert [choice["machine"]["id"] for choice in data["spec"]["machines"]] == ["dgx-a100", "dgx-h100"]
    assert data["prices"]["id"] == "list"
    spec = decode_study(data["spec"])
    assert isinstance(spec.prices, PriceBook)
    assert spec.prices.price("dgx-h100").usd_per_hour == 36
    assert len(data["engine_version"]) > 10
    assert len(data["trace_hash"]) == 64
