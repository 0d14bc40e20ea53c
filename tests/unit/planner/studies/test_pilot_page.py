"""The pilot page of a design: commands, bands, and the verdict on a benchmark's file."""

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from planner.accounts.models import User
from planner.calibrations.models import Calibration
from planner.studies.models import Study
from planner.studies.pilot import kit_of
from planner.studies.results import study_result
from simcore.pilot import PilotKit, PilotRun
from simcore.rows import DesignRow
from tests.unit.planner.studies.conftest import Counted

Start = Callable[[], Study]
Work = Callable[..., int]


@pytest.fixture
def done(start: Start, work: Work, counted: Counted) -> Study:
    study = start()
    work()
    study.refresh_from_db()
    return study


def designs(study: Study, kind: str, met: bool = True) -> list[DesignRow]:
    """The dearest first: what these made-up capacities say of the cheapest ones, a pilot does not hold."""
    rows = [row for row in study_result(study).rows if row.scheduler == kind and row.met is met]
    return sorted(rows, key=lambda row: -row.usd_per_hour)


def address(study: Study, row: DesignRow) -> str:
    return f"/studies/{study.pk}/designs/{row.design_id}/pilot"


def kit(study: Study, row: DesignRow) -> PilotKit:
    return kit_of(study, study_result(study), row)


def bench(run: PilotRun, slower: float = 1.0, **other: Any) -> SimpleUploadedFile:
    """A result of the run, with times so many times as long as predicted."""
    bands = {band.figure: band.predicted * slower * 1e3 for band in run.bands}
    took_s = run.requests / run.req_per_s
    result = {
        "backend": "vllm",
        "model_id": "m",
        "num_prompts": run.requests,
        "request_rate": run.req_per_s,
        "max_concurrency": None,
        "duration": took_s,
        "completed": run.requests,
        "failed": 0,
        "total_input_tokens": run.requests * run.prompt_tokens,
        "total_output_tokens": run.requests * run.output_tokens,
        "request_throughput": run.req_per_s,
        "output_throughput": run.req_per_s * run.output_tokens,
        "mean_ttft_ms": bands["ttft_s"],
        "mean_tpot_ms": bands["tpot_s"],
        "mean_itl_ms": bands["tpot_s"],
    }
    return SimpleUploadedFile("bench.json", json.dumps(result | other).encode())


def test_the_page_has_commands_and_bands_of_each_run(done: Study, alice_client: Client) -> None:
    row = designs(done, "splitwise")[0]
    page = unescape(alice_client.get(address(done, row)).content.decode())
    for run in kit(done, row).runs:
        assert f"--request-rate {run.req_per_s:.6g} " in page
        assert f"--result-filename {run.name}.json" in page
    assert page.count("vllm serve $MODEL") == 2
    assert page.count('<th scope="row">TPOT, mean</th>') == len(kit(done, row).runs)


def test_a_design_that_holds_the_rate_links_to_its_pilot(done: Study, alice_client: Client) -> None:
    row, missed = designs(done, "splitwise")[0], designs(done, "splitwise", met=False)[0]
    panel = f"/studies/{done.pk}/designs/{{}}/"
    assert address(done, row) in alice_client.get(panel.format(row.design_id)).content.decode()
    assert "/pilot" not in alice_client.get(panel.format(missed.design_id)).content.decode()


def test_a_design_without_a_kit_says_why(done: Study, alice_client: Client) -> None:
    row = designs(done, "splitwise", met=False)[0]
    page = unescape(alice_client.get(address(done, row)).content.decode())
    assert re.search(r"found it to hold [\d.]+ requests/s, expected 10\.|whose capacity was simulated", page)
    assert "vllm serve" not in page


@pytest.mark.parametrize(("slower", "words"), [(1.0, "Passes: as predicted."), (9.0, "Do not buy: ")])
def test_a_result_is_judged(done: Study, alice_client: Client, slower: float, words: str) -> None:
    row = designs(done, "splitwise")[0]
    run = kit(done, row).runs[0]
    response = alice_client.post(address(done, row), {"result": bench(run, slower)})
    assert response.status_code == 200
    assert words in response.content.decode()


@pytest.mark.parametrize(
    ("upload", "words"),
    [
        (None, "Found no file"),
        (SimpleUploadedFile("bench.json", b"{"), "bench.json"),
        (SimpleUploadedFile("bench.json", b""), "found an empty file"),
        (SimpleUploadedFile("page.html", b"<!doctype html><p>"), "found an HTML or XML page"),
    ],
)
def test_what_cannot_be_judged_is_said(done: Study, alice_client: Client, upload: Any, words: str) -> None:
    row = designs(done, "splitwise")[0]
    response = alice_client.post(address(done, row), {"result": upload} if upload else {})
    assert response.status_code == 422
    assert words in unescape(response.content.decode())


def test_a_result_of_other_lengths_is_refused(done: Study, alice_client: Client) -> None:
    row = designs(done, "splitwise")[0]
    run = kit(done, row).runs[0]
    other = bench(run, total_input_tokens=run.requests * 17)
    page = unescape(alice_client.post(address(done, row), {"result": other}).content.decode())
    assert f"found 17 prompt tokens a request, expected {run.prompt_tokens}" in page


def test_strangers_find_nothing(done: Study, charlie_client: Client) -> None:
    assert charlie_client.get(address(done, designs(done, "splitwise")[0])).status_code == 404


def test_a_name_saves_what_was_measured_as_calibrations_of_both_machines(
    done: Study, alice_client: Client, alice: User
) -> None:
    row = designs(done, "splitwise")[0]
    runs = kit(done, row).runs
    files = [bench(run, 1.2, date=f"2026113{i}-101500") for i, run in enumerate(runs)]
    response = alice_client.post(address(done, row), {"result": files, "calibration": "Pilot of November"})
    page = unescape(response.content.decode())
    assert response.status_code == 200, page
    names = set(Calibration.objects.visible_to(alice).values_list("name", flat=True))
    assert names == {"Pilot of November, prefill", "Pilot of November, decode"}
    assert "Pilot of November, decode is saved" in page
    again = alice_client.post(address(done, row), {"result": bench(runs[0]), "calibration": "Pilot of November"})
    assert again.status_code == 422
    assert "which your team has already" in unescape(again.content.decode())
