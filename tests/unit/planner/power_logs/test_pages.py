"""Power logs become a team's: what is read, flagged and missing, what is compared, what a question may choose."""

import gzip
import json
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from planner.accounts.models import Membership, Role, User
from planner.power_logs.models import PowerLog
from planner.power_logs.services import offered, with_logged_power
from planner.scenarios.choices import Choices
from simcore.catalogue import machine, resolve_accelerator
from simcore.serving_power.report import REPLACED
from simcore.spec import SpecError
from tests.unit.planner.power_logs.logged_run import RUN, a_run
from tests.unit.simcore.measurements.smi_logs import steady

NEW = "/calibrations/power/new"


def upload(client: Client, *texts: str | bytes, **fields: Any) -> HttpResponse:
    data = [text if isinstance(text, bytes) else text.encode() for text in texts]
    files = [SimpleUploadedFile(f"power{i}.csv", one) for i, one in enumerate(data)]
    return client.post(NEW, {"logs": files, "machine": "dgx-h100", **fields})  # type: ignore[return-value]


def page_of(client: Client, response: HttpResponse) -> str:
    assert response.status_code == 302, response.content.decode()
    return unescape(client.get(response["Location"]).content.decode())


def test_a_log_with_its_run_is_read_compared_and_shown(alice_client: Client, alice: User) -> None:
    response = upload(alice_client, gzip.compress(a_run().encode()), name="our H100", **RUN)
    log = PowerLog.objects.visible_to(alice).get(name="our H100")
    page = page_of(alice_client, response)
    for words in (
        "nvidia-smi --query-gpu CSV: 2 devices of dgx-h100, 102 rows.",
        "30 s, by utilisation above 5%",
        "local times without a zone, taken as UTC (else the field UTC offset)",
        "It served llama-3.1-8b with vllm-2026, tensor parallel 1: 128 requests in flight",
        "[N/A]: 1",
        "no reading: missing, not 0 W",
        'data-chart="watts-figure"',
        "All used devices together drew",
    ):
        assert words in page
    prediction = log.report["prediction"]
    assert prediction["measured_w"] == pytest.approx(520, rel=0.01)
    assert prediction["predicted_after_w"] == pytest.approx(prediction["measured_w"], rel=1e-3)
    assert f"{prediction['predicted_w']:,.1f}" in page
    assert f"{prediction['error_before']:+.1%}" in page
    assert log.report["all"]["idle_w"] == 140
    assert "our H100" in alice_client.get("/calibrations/").content.decode()


def test_what_the_page_shows_is_what_the_command_prints(
    alice_client: Client, alice: User, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from simcore.__main__ import main

    upload(alice_client, a_run(), name="mine", **RUN)
    pk = PowerLog.objects.visible_to(alice).get().pk
    (tmp_path / "power0.csv").write_text(a_run())
    options = [f"--{name.replace('_', '-')}={value}" for name, value in RUN.items()]
    out = tmp_path / "machine.json"
    assert main(["power", str(tmp_path / "power0.csv"), "--machine=dgx-h100", *options, "--out", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)
    report = json.loads(alice_client.get(f"/calibrations/power/{pk}/report.json").content)
    for name in ("window", "all", "devices", "missing", "prediction", "rows", "times"):
        assert report[name] == printed[name]
    drawn = json.loads(alice_client.get(f"/calibrations/power/{pk}/machine.json").content)["accelerator"]
    written = json.loads(out.read_text())["accelerator"]
    assert {name: drawn[name] for name in REPLACED} == {name: written[name] for name in REPLACED}


def test_without_the_run_it_is_shown_and_not_offered(alice_client: Client, alice: User) -> None:
    page = page_of(alice_client, upload(alice_client, steady()))
    log = PowerLog.objects.visible_to(alice).get()
    assert log.name == "dgx-h100, power0.csv"
    assert "Nothing was said of the run" in page
    assert "MACHINE.json" not in page
    assert offered(alice) == []
    assert alice_client.get(f"/calibrations/power/{log.pk}/machine.json").status_code == 404


@pytest.mark.parametrize(
    ("text", "fields", "message"),
    [
        ("", {}, "power0.csv: found an empty file"),
        ("<html>", {}, "found an HTML or XML page"),
        ("a,b\n1,2\n", {}, "expected a log of nvidia-smi --query-gpu"),
        (a_run(watts=0.0), {}, "found no power reading of a working device"),
        (steady(), {"model": "llama-3.1-8b"}, "expected all of the run's model and load, or none of them"),
        (steady(), {"utc_offset": "two"}, "expected something like +02:00"),
        (steady(), {"start": "noon"}, "Found 'noon', expected a time such as 2026-03-02 10:15:00"),
        (steady(), {"start": "90"}, "Start and End: found nothing of the log in them"),
        (steady(), {**RUN, "tensor_parallel": "4"}, "Found 4, expected a divisor of the 2 devices in use"),
        (steady(watts=690.0), {**RUN, "concurrency": "1e9"}, "less than or equal to 10000000"),
        (steady(watts=900.0), RUN, "expected at most the 700 W that it may draw"),
        (steady(), {**RUN, "tensor_parallel": "8"}, "expected a divisor of the 2 devices in use"),
        (a_run().replace("2026/03/02 10:15:05", "2026/03/02 10:15:95"), {"start": "-5"}, "Found '-5'"),
    ],
)
def test_what_cannot_be_used_is_refused_at_its_field(
    alice_client: Client, alice: User, text: str, fields: dict[str, str], message: str
) -> None:
    response = upload(alice_client, text, name="kept words", **fields)
    page = unescape(response.content.decode())
    assert response.status_code == 200
    assert message in page
    assert 'value="kept words"' in page
    assert "--" not in page.split('class="stacked"')[0].split("error-summary")[1].replace("--query-gpu", "").replace(
        "--format", ""
    )
    assert not PowerLog.objects.visible_to(alice).exists()


def test_a_question_takes_what_was_measured_for_machines_of_the_accelerator(alice_client: Client, alice: User) -> None:
    upload(alice_client, a_run(), name="mine", **RUN)
    log = PowerLog.objects.visible_to(alice).get()
    choices = Choices.of(alice).fields()["power"]
    assert choices == [("catalogue", "as the catalogue has it"), (f"power-{log.pk}", "Logged: mine (h100-80gb)")]
    before = [machine("dgx-h100"), machine("dgx-a100")]
    after = with_logged_power(alice, f"power-{log.pk}", before)
    assert after[1] == before[1]
    own = resolve_accelerator(after[0])
    assert own.id == "h100-80gb"
    assert own.idle_w == 70
    assert own.power_base == log.report["prediction"]["replaced"]["power_base"]
    with pytest.raises(SpecError, match="mine, which is of h100-80gb; no machine chosen has it"):
        with_logged_power(alice, f"power-{log.pk}", [machine("dgx-a100")])


@pytest.mark.parametrize("key", ["power-²", "power-", "power-1e3", "power-" + "9" * 30, "power-0"])
def test_a_key_of_no_log_says_that_it_may_have_been_deleted(alice: User, key: str) -> None:
    with pytest.raises(SpecError, match="it may have been deleted"):
        with_logged_power(alice, key, [machine("dgx-h100")])


def test_another_team_sees_nothing_and_a_reader_adds_nothing(
    alice_client: Client, charlie_client: Client, charlie: User, alice: User
) -> None:
    upload(alice_client, a_run(), name="mine", **RUN)
    pk = PowerLog.objects.visible_to(alice).get().pk
    for part in ("", "/report.json", "/machine.json"):
        assert charlie_client.get(f"/calibrations/power/{pk}{part}").status_code == 404
    assert charlie_client.post(f"/calibrations/power/{pk}/delete").status_code == 404
    assert offered(charlie) == []
    Membership.objects.filter(user=alice).update(role=Role.VIEWER)
    assert upload(alice_client, steady(), name="other").status_code == 403


def test_a_name_is_used_once_and_deleting_says_so(alice_client: Client, alice: User) -> None:
    upload(alice_client, a_run(), name="mine", **RUN)
    assert "which your team has already" in upload(alice_client, a_run(), name="mine").content.decode()
    pk = PowerLog.objects.visible_to(alice).get().pk
    page = alice_client.post(f"/calibrations/power/{pk}/delete", follow=True).content.decode()
    assert "mine is deleted" in page
    assert not PowerLog.objects.visible_to(alice).exists()
