"""The first screen."""

import io
import re
import subprocess
import sys
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from planner.accounts.models import Team, User
from planner.scenarios.drafts import SESSION_KEY
from planner.scenarios.models import Revision
from planner.studies.models import Study
from planner.workloads.models import Workload
from planner.workloads.services import read_upload, save_upload
from tests.unit.planner.studies.conftest import Counted, Inputs

Start = Callable[[], Study]
Work = Callable[..., int]
POISSON_CHOSEN = '<option value="poisson" selected>'


def page(client: Client, address: str = "/") -> str:
    response = client.get(address)
    assert response.status_code == 200
    return unescape(response.content.decode())


def test_a_new_team_starts_with_something_to_choose(alice_client: Client) -> None:
    text = page(alice_client)
    assert f'<option value="{Workload.of_mix("conversation").pk}" selected>' in text
    assert "Before any queueing" in text
    assert "Recent questions" not in text


def test_without_any_workload_the_page_still_opens(alice_client: Client) -> None:
    Workload.unscoped.all().delete()
    assert "upload a trace" in page(alice_client)


def test_the_last_question_comes_back_with_its_answer(
    start: Start, work: Work, counted: Counted, alice_client: Client
) -> None:
    study = start()
    work()
    text = page(alice_client)
    assert 'value="10"' in text
    assert '<option value="measured" selected>' in text
    assert "Buy " in text
    assert f'href="/studies/{study.pk}/"' in text
    assert "Recent questions" in text


def test_strangers_see_nothing_of_it(start: Start, sent: list[tuple[str, str]], charlie_client: Client) -> None:
    study = start()
    text = page(charlie_client)
    assert f"/studies/{study.pk}/" not in text
    assert study.revision.scenario.name not in text


def test_the_address_may_name_inputs(revision: Revision, alice_client: Client) -> None:
    text = page(alice_client, "/?rate_req_per_s=33&model=llama-3.1-8b&token_budget=700")
    assert 'value="33"' in text
    assert '<option value="llama-3.1-8b" selected>' in text
    assert "(token budget 700" in text


def test_a_good_question_starts_a_study(inputs: Inputs, sent: list[tuple[str, str]], alice_client: Client) -> None:
    response = alice_client.post("/", inputs)
    study = Study.unscoped.get()
    assert response["Location"] == f"/studies/{study.pk}/"


def test_mistakes_are_named_in_a_summary_and_at_the_field(inputs: Inputs, alice_client: Client) -> None:
    response = alice_client.post("/", {**inputs, "rate_req_per_s": "-1", "machines": [], "power_limit_kw": "much"})
    text = unescape(response.content.decode())
    assert '<a href="#id_rate_req_per_s">' in text
    assert text.count("Found ‘-1’, expected requests a second") == 2
    assert text.count("Choose at least one machine.") == 2
    assert 'value="much"' in text
    assert not Study.unscoped.exists()


def test_a_wrong_advanced_field_is_in_view(inputs: Inputs, alice_client: Client) -> None:
    text = alice_client.post("/", {**inputs, "token_budget": "none"}).content.decode()
    assert '<details class="advanced" open>' in text


def test_an_upload_keeps_what_was_typed_right_or_wrong(
    inputs: Inputs, workload: Workload, alice_client: Client
) -> None:
    typed = {**inputs, "go": "upload", "rate_req_per_s": "seventy", "machines": ["dgx-b200"], "token_budget": "700"}
    response = alice_client.post("/", typed)
    assert response["Location"] == "/workloads/upload"
    text = page(alice_client, f"/?workload={workload.pk}")
    assert 'value="seventy"' in text
    assert "token budget 700" in text
    assert 'value="dgx-b200" id="id_machines_4" checked' in text.replace("checked>", "checked")


@pytest.fixture
def bursty(alice: User, team: Team) -> Workload:
    """Twenty requests within 0.2 s, every 100 s."""
    rows = [f"{100 * (i // 20) + 0.01 * (i % 20):.2f},100,10" for i in range(200)]
    text = "\n".join(["arrival_s,prompt_tokens,output_tokens", *rows]).encode()
    trace, report = read_upload(io.BytesIO(text), "bursty.csv")
    return save_upload(team, alice, "bursty", "bursty.csv", trace, report)


def test_another_workload_comes_with_its_own_arrivals(
    inputs: Inputs, bursty: Workload, sent: list[tuple[str, str]], alice_client: Client
) -> None:
    alice_client.post("/", {**inputs, "arrivals": "poisson"})
    assert POISSON_CHOSEN in page(alice_client)
    assert POISSON_CHOSEN not in page(alice_client, f"/?workload={bursty.pk}")


def test_after_an_upload_arrivals_are_the_new_traces_own_unless_chosen(
    inputs: Inputs, bursty: Workload, sent: list[tuple[str, str]], alice_client: Client
) -> None:
    alice_client.post("/", {**inputs, "arrivals": "poisson"})
    alice_client.post("/", {**inputs, "arrivals": "poisson", "go": "upload"})
    assert POISSON_CHOSEN not in page(alice_client, f"/?workload={bursty.pk}")
    alice_client.post("/", {**inputs, "arrivals": "superpose", "go": "upload"})
    assert '<option value="superpose" selected>' in page(alice_client, f"/?workload={bursty.pk}")


def test_the_preview_says_that_bursts_are_put_aside(inputs: Inputs, bursty: Workload, alice_client: Client) -> None:
    said = {
        (workload, arrivals): "come in bursts" in unescape(response.content.decode())
        for workload in (inputs["workload"], str(bursty.pk))
        for arrivals in ("poisson", "trace")
        if (response := alice_client.get("/preview", {**inputs, "workload": workload, "arrivals": arrivals}))
    }
    assert [key for key, bursts in said.items() if bursts] == [(str(bursty.pk), "poisson")]


def test_the_preview_names_what_no_measurement_covers(inputs: Inputs, alice_client: Client) -> None:
    def text(machine: str) -> str:
        asked = {**inputs, "machines": [machine], "families": [f"sarathi:{machine}"]}
        return unescape(alice_client.get("/preview", asked).content.decode())

    assert "Outside what was measured" not in text("dgx-h100")
    assumed = "Outside what was measured: dgx-h100-pcap: its prefill times are those of h100-80gb x 1.3, assumed."
    assert assumed in text("dgx-h100-pcap")


def test_the_preview_counts_families_in_the_right_number(inputs: Inputs, alice_client: Client) -> None:
    text = unescape(alice_client.get("/preview", inputs).content.decode())
    assert "1 co-located and 1 split family;" in text


def test_the_browser_may_bring_back_what_was_typed(alice_client: Client) -> None:
    form = re.search(r'<form id="question".*?</form>', page(alice_client), re.DOTALL)
    assert form is not None
    assert 'name="rate_req_per_s"' in form[0]
    assert "autocomplete" not in form[0]  # "off" forbids it on Back and Reload


def test_a_question_asked_is_no_draft_any_more(
    inputs: Inputs, sent: list[tuple[str, str]], alice_client: Client
) -> None:
    alice_client.post("/", {**inputs, "go": "upload"})
    assert SESSION_KEY in alice_client.session
    alice_client.post("/", inputs)
    assert SESSION_KEY not in alice_client.session


def test_the_preview_says_what_is_wrong(inputs: Inputs, alice_client: Client) -> None:
    response = alice_client.get("/preview", {**inputs, "rate_req_per_s": "x"})
    assert "Requests a second: Found ‘x’" in unescape(response.content.decode())


def test_the_preview_takes_a_study_that_cannot_be_for_none(inputs: Inputs, alice_client: Client) -> None:
    plain = alice_client.get("/preview", inputs).content
    assert alice_client.get("/preview", {**inputs, "of": "9" * 5000}).content == plain


def test_the_preview_names_each_wrong_field_as_the_page_does(inputs: Inputs, alice_client: Client) -> None:
    response = alice_client.get("/preview", {**inputs, "power_limit_kw": "-3", "usd_per_month": "much"})
    text = unescape(response.content.decode())
    assert "Power limit, kW: Found ‘-3’" in text
    assert "Budget, $ a month: Found ‘much’" in text


def test_the_preview_knows_of_too_many_copies(inputs: Inputs, alice_client: Client, settings: Settings) -> None:
    settings.MOST_REQUESTS_A_RUN = 10**9  # what a rate may ask for is tested with the form
    superposed = {**inputs, "arrivals": "superpose", "power_limit_kw": "100"}
    text = unescape(alice_client.get("/preview", {**superposed, "rate_req_per_s": "1e6"}).content.decode())
    assert "at most 5,000,000 requests are simulated. Choose a lower rate" in text
    assert "data-impossible" in text
    assert "data-impossible" not in alice_client.get("/preview", superposed).content.decode()


def test_the_preview_knows_what_does_not_fit(inputs: Inputs, alice_client: Client) -> None:
    chosen = {**inputs, "families": [], "machines": ["dgx-a100"], "tensor_parallel": "1", "latency": "roofline"}
    text = unescape(alice_client.get("/preview", chosen).content.decode())
    assert "Nothing chosen can run this." in text
    assert "data-defaults" in text
    assert "data-impossible" in text
    assert "GB" in text


def test_defaults_are_offered_only_where_they_help(inputs: Inputs, alice_client: Client) -> None:
    vast = {**inputs, "families": [], "machines": ["dgx-a100"], "model": "llama-3.1-405b", "latency": "roofline"}
    text = alice_client.get("/preview", {**vast, "pipeline_parallel": "1", "token_budget": "256"}).content.decode()
    assert "data-impossible" in text
    assert "data-defaults" not in text


def test_the_preview_names_a_machine_that_no_family_uses(inputs: Inputs, alice_client: Client) -> None:
    chosen = {**inputs, "families": ["sarathi:dgx-h100"]}
    text = unescape(alice_client.get("/preview", chosen).content.decode())
    assert "No family ticked under Advanced uses DGX A100: it will not be tried." in text
    assert "data-defaults" in text


def test_the_preview_warns_of_too_little_power(inputs: Inputs, alice_client: Client) -> None:
    text = unescape(alice_client.get("/preview", {**inputs, "power_limit_kw": "5"}).content.decode())
    assert "The power limit of 5 kW is under one DGX H100, the smallest design (10.2 kW nameplate)" in text


def test_the_preview_warns_of_limits_that_a_lone_request_misses(inputs: Inputs, alice_client: Client) -> None:
    limits = {"slo_kind": "attainment", "attainment_ttft_s": "1 ms", "attainment_tpot_s": "1"}
    text = unescape(alice_client.get("/preview", {**inputs, **limits}).content.decode())
    assert "Tight: a median request alone on the fastest machine" in text


def test_the_web_process_has_no_engine() -> None:
    code = "import sys, django; django.setup(); import planner.urls; print('simcore.engine' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
