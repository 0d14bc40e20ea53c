"""Benchmark files become a team's calibration: what is asked for, what is shown, what a question may choose."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from planner.accounts.models import Membership, Role, User
from planner.accounts.teams import working_team
from planner.calibrations import services
from planner.calibrations.models import Calibration
from planner.calibrations.services import calibration_for
from planner.scenarios.choices import Choices
from simcore.spec import SpecError
from tests.unit.simcore.calibration import known

NEW = "/calibrations/new"
MEASURED = known.serving(known.SLOWER, (1, 8, 32))


def upload(client: Client, *texts: str, **fields: Any) -> HttpResponse:
    files = [SimpleUploadedFile(f"bench{i}.json", text.encode()) for i, text in enumerate(texts)]
    values = {"model": "llama-3.1-8b", "machine": "dgx-h100", **fields}
    return client.post(NEW, {"benchmarks": files, **values})  # type: ignore[return-value]


def test_files_are_fitted_and_shown(alice_client: Client, alice: User) -> None:
    response = upload(alice_client, MEASURED, known.steps(known.SLOWER, (1,)), name="mine")
    calibration = Calibration.objects.visible_to(alice).get(name="mine")
    assert response.status_code == 302
    assert response["Location"] == f"/calibrations/{calibration.pk}"
    assert (calibration.model, calibration.accelerator, calibration.created_by) == ("llama-3.1-8b", "h100-80gb", alice)
    page = alice_client.get(response["Location"]).content.decode()
    for words in (
        "vllm-2026 fitted to 26 measured figures of llama-3.1-8b in bf16 on h100-80gb, tensor parallel 1",
        "prompts of 128 to 8,032, outputs of 100 to 200 tokens, 1 to 128 sequences at once",
        "vllm bench serve (JSON)",
        "step times (CSV)",
        "host step",
        'data-chart="residuals-figure"',
    ):
        assert words in page
    assert "mine" in alice_client.get("/calibrations/").content.decode()
    whole = json.loads(alice_client.get(f"{response['Location']}/latency.json").content)
    assert whole["validity"]["model"] == "llama-3.1-8b"


def test_a_latency_file_is_taken_as_it_is(alice_client: Client, alice: User) -> None:
    upload(alice_client, MEASURED, name="first")
    first = Calibration.objects.visible_to(alice).get(name="first")
    upload(alice_client, first.content, name="again")
    assert Calibration.objects.visible_to(alice).get(name="again").fitted() == first.fitted()
    response = upload(alice_client, first.content.replace('"flops_share": 0', '"flops_share": -0', 1), name="bad")
    assert "coefficients.flops_share: found" in response.content.decode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "bench0.json: found an empty file"),
        ("<html>", "found an HTML or XML page"),
        ('{"a": 1}', "found JSON with the keys a, expected a result of vllm bench serve"),
        (MEASURED.replace("H100", "A100"), "found no result of llama-3.1-8b on h100-80gb that can be used"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_at_its_field(alice_client: Client, text: str, message: str) -> None:
    response = upload(alice_client, text, name="kept words")
    page = response.content.decode()
    assert response.status_code == 200
    assert message in page
    assert 'value="kept words"' in page
    assert "Traceback" not in page


def test_tensor_parallel_is_asked_for_where_the_file_lacks_it(alice_client: Client, alice: User) -> None:
    bare = known.serving(known.SLOWER, (1, 8), tp="absent")
    page = upload(alice_client, bare).content.decode()
    assert "tensor parallel degree: found none in the file, expected it in the field Tensor parallel" in page
    assert upload(alice_client, bare, tensor_parallel="1", name="asked").status_code == 302
    assert Calibration.objects.visible_to(alice).get(name="asked").fitted().validity.tensor_parallel == (1,)


def test_no_file_and_too_many_results(alice_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Found no file" in alice_client.post(NEW, {"model": "llama-3.1-8b", "machine": "dgx-h100"}).content.decode()
    monkeypatch.setattr(services, "MOST_RESULTS", 3)
    page = upload(alice_client, MEASURED).content.decode()
    assert "Found 6 results that can be used, expected at most 3 here" in page


def test_flags_are_shown(alice_client: Client, alice: User) -> None:
    spoilt = json.dumps({**json.loads(MEASURED.splitlines()[0]), "failed": 412})
    response = upload(alice_client, f"{MEASURED}\n{spoilt}", name="flagged")
    page = alice_client.get(response["Location"]).content.decode()
    assert "row left out (failed): 1" in page
    assert "95% of 432 requests failed" in page


def test_weights_are_asked_for_and_told(alice_client: Client, alice: User) -> None:
    silent = upload(alice_client, MEASURED, name="silent")
    page = alice_client.get(silent["Location"]).content.decode()
    assert "taken as bf16 weights, llama-3.1-8b&#x27;s (the field Weights)" in page
    told = upload(alice_client, MEASURED, name="told", weight_precision="fp8")
    page = alice_client.get(told["Location"]).content.decode()
    assert "of llama-3.1-8b in fp8 on h100-80gb" in page
    assert "the field Weights" not in page
    assert Calibration.objects.visible_to(alice).get(name="told").fitted().validity.weight_precision == "fp8"


def test_two_who_save_one_name_at_once_keep_both_their_files(
    alice_client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other's row is written while this one's files are fitted."""
    fit = services.fit

    def slow(*given: Any, **target: Any) -> services.Fit:
        done = fit(*given, **target)
        team = working_team(alice)
        assert team is not None
        services.save(team, alice, "mine", done)
        return done

    monkeypatch.setattr(services, "fit", slow)
    response = upload(alice_client, MEASURED, name="mine")
    page = response.content.decode()
    assert response.status_code == 200
    assert "Found ‘mine’, which your team has already; expected another name." in page
    assert 'value="mine"' in page
    assert Calibration.objects.visible_to(alice).count() == 1


def test_another_team_sees_nothing_of_it(
    alice_client: Client, charlie_client: Client, charlie: User, alice: User
) -> None:
    upload(alice_client, MEASURED, name="mine")
    pk = Calibration.objects.visible_to(alice).get().pk
    for place in (f"/calibrations/{pk}", f"/calibrations/{pk}/latency.json"):
        assert charlie_client.get(place).status_code == 404
    assert charlie_client.post(f"/calibrations/{pk}/delete").status_code == 404
    assert "mine" not in charlie_client.get("/calibrations/").content.decode()
    assert services.offered(charlie) == []


def test_a_name_is_used_once_and_a_reader_may_not_add(alice_client: Client, alice: User) -> None:
    upload(alice_client, MEASURED, name="mine")
    assert "which your team has already" in upload(alice_client, MEASURED, name="mine").content.decode()
    Membership.objects.filter(user=alice).update(role=Role.VIEWER)
    assert upload(alice_client, MEASURED, name="other").status_code == 403


def test_deleting(alice_client: Client, alice: User) -> None:
    upload(alice_client, MEASURED, name="mine")
    pk = Calibration.objects.visible_to(alice).get().pk
    page = alice_client.post(f"/calibrations/{pk}/delete", follow=True).content.decode()
    assert "mine is deleted" in page
    assert not Calibration.objects.visible_to(alice).exists()


def test_questions_offer_it(alice_client: Client, alice: User) -> None:
    upload(alice_client, MEASURED, name="mine")
    pk = Calibration.objects.visible_to(alice).get().pk
    offered = Choices.of(alice).fields()["latency"]
    assert offered[0] == ("roofline", "Roofline, engines of 2026")
    assert offered[-1] == (f"calibration-{pk}", "Calibrated: mine (llama-3.1-8b, h100-80gb)")


@pytest.mark.parametrize("key", ["calibration-²", "calibration-", "calibration-1e3", "calibration-" + "9" * 30])
def test_a_key_that_is_no_number_names_no_calibration(alice: User, key: str) -> None:
    with pytest.raises(SpecError, match="it may have been deleted"):
        calibration_for(alice, key)


@pytest.mark.parametrize(("address", "field"), [(NEW, "benchmarks"), ("/calibrations/power/new", "logs")])
def test_a_file_that_is_too_large_is_said_to_be_so(
    alice_client: Client, settings: Any, address: str, field: str
) -> None:
    settings.TRACE_MAX_BYTES = 1000
    files = [SimpleUploadedFile("large.json", b"x" * 2000)]
    values = {field: files, "machine": "dgx-h100", "model": "llama-3.1-8b" if field == "benchmarks" else ""}
    page = alice_client.post(address, values | {"name": "kept"}).content.decode()
    assert "Found a file of more than 64 MB." in page
    assert 'value="kept"' in page
