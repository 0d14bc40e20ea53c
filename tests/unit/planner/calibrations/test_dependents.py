"""What names a calibration or a power log is said on its page, by REST and when it is deleted; REST reads both."""

from html import unescape

import pytest
from django.test import Client

from planner.accounts.models import Team, User
from planner.calibrations.models import Calibration
from planner.power_logs.models import PowerLog
from planner.scenarios.models import Scenario
from tests.unit.planner.calibrations.test_pages import MEASURED
from tests.unit.planner.calibrations.test_pages import upload as upload_benchmarks
from tests.unit.planner.power_logs.logged_run import RUN, a_run
from tests.unit.planner.power_logs.test_pages import upload as upload_logs


def ask(team: Team, name: str, **inputs: object) -> int:
    scenario = Scenario.objects.create(team=team, name=name)
    scenario.revisions.create(number=1, inputs={"latency": "roofline", "latency_by_machine": None, **inputs})
    return scenario.pk


@pytest.fixture
def calibration(alice_client: Client, alice: User) -> Calibration:
    upload_benchmarks(alice_client, MEASURED, name="mine")
    return Calibration.objects.visible_to(alice).get()


@pytest.fixture
def log(alice_client: Client, alice: User) -> PowerLog:
    upload_logs(alice_client, a_run(), name="drawn", **RUN)
    return PowerLog.objects.visible_to(alice).get()


def test_questions_that_name_a_calibration(calibration: Calibration, alice_client: Client, team: Team) -> None:
    key = f"calibration-{calibration.pk}"
    asked = ask(team, "All by it", latency=key)
    ask(team, "One machine by it", latency_by_machine={"dgx-h100": key})
    ask(team, "By another", latency=f"{key}0", latency_by_machine={"dgx-h100": f"{key}1"})
    page = unescape(alice_client.get(f"/calibrations/{calibration.pk}").content.decode())
    assert f'<a href="/questions/{asked}/">All by it</a> <span class="muted">1 revision</span>' in page
    assert "One machine by it" in page
    assert "By another" not in page
    told = alice_client.get(f"/api/v1/calibrations/{calibration.pk}").json()["questions"]
    assert [one["name"] for one in told] == ["One machine by it", "All by it"]
    assert told[1] == {
        "name": "All by it", "revisions": 1, "studies": 0, "page": f"http://testserver/questions/{asked}/"
    }  # fmt: skip
    page = unescape(alice_client.post(f"/calibrations/{calibration.pk}/delete", follow=True).content.decode())
    assert "need another choice: One machine by it (1 revision); All by it (1 revision)." in page


def test_questions_that_name_a_power_log(log: PowerLog, alice_client: Client, team: Team) -> None:
    ask(team, "By the log", power=f"power-{log.pk}")
    assert "By the log" in alice_client.get(f"/calibrations/power/{log.pk}").content.decode()
    page = alice_client.post(f"/calibrations/power/{log.pk}/delete", follow=True).content.decode()
    assert "need another choice: By the log (1 revision)." in page


def test_rest_reads_calibrations(calibration: Calibration, alice_client: Client, charlie_client: Client) -> None:
    [row] = alice_client.get("/api/v1/calibrations/").json()["results"]
    assert (row["name"], row["model"], row["accelerator"]) == ("mine", "llama-3.1-8b", "h100-80gb")
    assert row["engine"] == "vllm-2026"
    assert row["validity"]["tensor_parallel"] == [1]
    assert {"phase", "points", "before", "after", "held_out"} <= set(row["errors"][0])
    one = alice_client.get(row["url"]).json()
    assert one["latency"]["coefficients"]
    assert one["found"] == calibration.found
    assert charlie_client.get("/api/v1/calibrations/").json()["count"] == 0
    assert charlie_client.get(row["url"]).status_code == 404


def test_rest_reads_power_logs(log: PowerLog, alice_client: Client, charlie_client: Client) -> None:
    [row] = alice_client.get("/api/v1/power-logs/").json()["results"]
    assert (row["name"], row["machine"], row["accelerator"]) == ("drawn", "dgx-h100", "h100-80gb")
    assert row["drawn"]["idle_w"] == 140
    assert row["prediction"]["measured_w"] == pytest.approx(520, rel=0.01)
    one = alice_client.get(row["url"]).json()
    assert one["report"] == log.report
    assert one["machine_with_power"]["accelerator"]["power_base"] == row["prediction"]["replaced"]["power_base"]
    assert charlie_client.get("/api/v1/power-logs/").json()["count"] == 0
    assert charlie_client.get(row["url"]).status_code == 404
    for client, address in ((alice_client, "/api/v1/power-logs/"), (alice_client, row["url"])):
        assert client.delete(address).status_code == 405
