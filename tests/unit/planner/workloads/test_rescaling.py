"""A workload at another rate, what asks about it, and the same by REST."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from planner.accounts.models import Team, User
from planner.scenarios.models import Scenario
from planner.studies.models import Study
from planner.workloads.models import Workload
from planner.workloads.services import save_mix
from simcore.traces import SyntheticSpec
from tests.unit.planner.workloads.test_upload import upload

API = "/api/v1/workloads/"
CSV = b"arrival_s,prompt_tokens,output_tokens\n" + b"".join(b"%d,10,2\n" % (n // 7 * 5) for n in range(700))


@pytest.fixture
def bursts(alice_client: Client, alice: User) -> Workload:
    upload(alice_client, CSV, "bursts", "b.csv")
    return Workload.objects.visible_to(alice).get(name="bursts")


def test_the_page_says_what_becomes_of_bursts(bursts: Workload, alice_client: Client) -> None:
    page = alice_client.get(f"/workloads/{bursts.pk}?rate=14").content.decode()
    assert "From 1.41 to 14 requests/s: in windows of 1 s the variance of requests goes from 5.6 to" in page
    for how in ("trace", "superpose", "poisson"):
        assert f"/?workload={bursts.pk}&amp;rate_req_per_s=14.0&amp;arrivals={how}" in page
    assert 'data-chart="dispersion-figure"' in page
    part = alice_client.get(f"/workloads/{bursts.pk}/rescaled?rate=14").content.decode()
    assert "<section" in part
    assert "<h1" not in part


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        ("fast", "Requests/s: found ‘fast’, expected requests/s."),
        ("0", "found 0, expected more than 0"),
        ("nan", "found"),
    ],
)
def test_a_rate_that_is_none_is_said(bursts: Workload, alice_client: Client, rate: str, message: str) -> None:
    assert message in alice_client.get(f"/workloads/{bursts.pk}?rate={rate}").content.decode()


def test_what_asks_about_it_is_listed_and_keeps_it(
    bursts: Workload, alice_client: Client, team: Team, alice: User
) -> None:
    scenario = Scenario.objects.create(team=team, name="West, July")
    scenario.revisions.create(number=1, inputs={"workload": str(bursts.pk)})
    page = alice_client.get(f"/workloads/{bursts.pk}").content.decode()
    assert "West, July" in page
    assert "1 revision" in page
    assert f'action="/workloads/{bursts.pk}/delete"' not in page
    kept = alice_client.post(f"/workloads/{bursts.pk}/delete", follow=True).content.decode()
    assert "bursts is kept, for questions ask about it: West, July (1 revision)." in kept
    refused = alice_client.delete(f"{API}{bursts.pk}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "in_use")
    assert Workload.unscoped.filter(pk=bursts.pk).exists()


def test_rest_makes_and_deletes_workloads(alice_client: Client, charlie_client: Client) -> None:
    spec = {"mix": "coding", "requests": 50, "growth_per_month": 0.02}
    made = alice_client.post(API, {"name": "by REST", "synthetic": spec}, content_type="application/json")
    told = made.json()
    assert (made.status_code, told["spec"]["growth_per_month"], told["name"]) == (201, 0.02, "by REST")
    again = alice_client.post(API, {"name": "by REST", "synthetic": spec}, content_type="application/json")
    assert "which your team has already" in again.json()["error"]["fields"]["name"][0]
    uploaded = alice_client.post(API, {"file": SimpleUploadedFile("b.csv", CSV + b"x,1,1\n")})
    assert (uploaded.status_code, uploaded.json()["report"]["refused_rows"]) == (201, 1)
    address = f"{API}{told['id']}"
    assert charlie_client.delete(address).status_code == 404
    assert alice_client.delete(address).status_code == 204
    assert alice_client.get(address).status_code == 404


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({}, "file", "Found neither a file nor synthetic"),
        ({"synthetic": {"mix": "poetry"}}, "synthetic", "synthetic.mix: found 'poetry', expected one of"),
    ],
)
def test_rest_names_what_is_wrong(alice_client: Client, body: object, field: str, message: str) -> None:
    answer = alice_client.post(API, body, content_type="application/json")
    assert answer.status_code == 400
    assert message in answer.json()["error"]["fields"][field][0]


def test_rest_refuses_a_file_that_drives_no_arrivals(alice_client: Client) -> None:
    answer = alice_client.post(API, {"file": SimpleUploadedFile("a.csv", b"ContextTokens,GeneratedTokens\n1,2\n")})
    assert "it cannot drive arrivals" in answer.json()["error"]["fields"]["file"][0]


def test_rest_tells_the_figures_of_the_page(bursts: Workload, alice_client: Client) -> None:
    told = alice_client.get(f"{API}{bursts.pk}/rescaled?rate_req_per_s=14").json()
    assert told["arrivals"]["trace"]["rate_req_per_s"] == pytest.approx(14)
    assert told["own"]["dispersion"]["1_s"] == pytest.approx(5.6, abs=0.01)
    assert set(told["arrivals"]) == {"trace", "superpose", "poisson"}
    assert alice_client.get(f"{API}{bursts.pk}/rescaled").status_code == 400


def test_a_study_of_a_revision_counts(bursts: Workload, alice_client: Client, team: Team) -> None:
    revision = Scenario.objects.create(team=team, name="asked").revisions.create(number=1, inputs={})
    Study.objects.create(team=team, revision=revision, workload=bursts, spec={}, prices={}, trace_hash="")
    assert "1 answer" in alice_client.get(f"/workloads/{bursts.pk}").content.decode()


def test_a_stranger_sees_none_of_it(team: Team, alice: User, charlie_client: Client) -> None:
    mine = save_mix(team, alice, "ours", SyntheticSpec("coding", 5, 100))
    assert charlie_client.get(f"/workloads/{mine.pk}/rescaled?rate=3").status_code == 404
    assert charlie_client.get(f"{API}{mine.pk}/rescaled?rate_req_per_s=3").status_code == 404
