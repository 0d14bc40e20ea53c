"""What a visitor supposes: in the address of the result page, for all who may read it."""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from html import unescape

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from planner.accounts.models import User
from planner.numerals import short
from planner.scenarios.services import create_scenario
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.moves import read_moves
from planner.studies.results import study_result
from planner.studies.services import start_study
from simcore.explain import answer
from simcore.what_if.changes import Changes, what_if
from tests.unit.planner.studies.conftest import Counted, Inputs

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def study(start: Callable[[], Study], work: Callable[..., int], counted: Counted) -> Study:
    started = start()
    work()
    started.refresh_from_db()
    assert started.state == State.DONE
    return started


def page_of(client: Client, study: Study, query: str = "", part: str = "", **headers: str) -> str:
    return unescape(client.get(f"/studies/{study.pk}/{part}{query}", **headers).content.decode())


def figure_in(page: str) -> dict:
    found = re.search(r'<script id="frontier-figure" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_a_question_as_it_was_asked_supposes_nothing(study: Study, alice_client: Client) -> None:
    page = page_of(alice_client, study)
    assert "What if:" not in page
    assert not [trace for trace in figure_in(page)["data"] if trace["meta"]["role"] == "ghost"]


def test_a_changed_price_is_a_link_that_others_may_open(
    study: Study, bob_client: Client, charlie_client: Client
) -> None:
    before = study_result(study)
    query = "?usd.dgx-h100=10"
    found = what_if(before, Changes(usd_per_hour={"dgx-h100": Decimal(10)}))
    page = page_of(bob_client, study, query)
    assert f"DGX H100 at $10.00 an hour instead of ${before.book.price('dgx-h100').usd_per_hour}" in page
    for line in answer(found.result):
        assert line.text in page
    assert [trace for trace in figure_in(page)["data"] if trace["meta"]["role"] == "ghost"]
    assert "Dotted: as it was asked." in page
    assert charlie_client.get(f"/studies/{study.pk}/{query}").status_code == 404
    assert Study.unscoped.count() == 1


def test_a_move_brings_all_that_follows_from_it_and_the_page_says_the_same(study: Study, alice_client: Client) -> None:
    query = "?rate=7&usd.dgx-a100=12.5&tariff=0.1&pue=1.3&power_limit=200&budget=400k"
    page, moved = page_of(alice_client, study, query), page_of(alice_client, study, query, "view", **HTMX)
    assert figure_in(page) == figure_in(moved)
    for part in ("supposed", "answer", "frontier-title", "frontier-data", "outcome"):
        assert f'id="{part}" hx-swap-oob="innerHTML"' in moved
    shapes = {shape["name"]: shape for shape in figure_in(moved)["layout"]["shapes"]}
    assert shapes["rate"]["y0"] == 7
    assert shapes["ghost"]["y0"] == 10
    assert shapes["limit"]["x0"] == 400_000


def test_the_table_under_what_is_supposed_has_its_figures(study: Study, alice_client: Client) -> None:
    found = what_if(study_result(study), Changes(usd_per_hour={"dgx-h100": Decimal(10)}))
    rows = page_of(alice_client, study, "?usd.dgx-h100=10&table=all", "designs/by-cost/", **HTMX)
    assert found.result.winner
    assert re.search(rf'<td class="number"[^>]*>{re.escape(short(found.result.winner.usd_per_hour))}</td>', rows)


def test_a_design_s_panel_is_of_the_question_that_is_supposed(study: Study, alice_client: Client) -> None:
    winner = study_result(study).winner
    assert winner
    found = what_if(study_result(study), Changes(usd_per_hour={"dgx-h100": Decimal(10)}, pue=1.2))
    now = found.result.row(winner.design_id)
    assert now
    path = f"designs/{winner.design_id}/"
    panel = page_of(alice_client, study, "?usd.dgx-h100=10&pue=1.2", path, **HTMX)
    assert "What if: DGX H100 at $10.00 an hour" in re.sub("<[^>]+>", "", panel)
    assert f"${now.usd_per_hour:,}" in panel
    assert "PUE 1.2" in panel
    assert "What if:" not in page_of(alice_client, study, "", path, **HTMX)
    assert "nothing was simulated" in page_of(alice_client, study, "?rate=1", path, **HTMX)


def test_each_control_shows_where_it_is_and_the_way_back(study: Study, alice_client: Client) -> None:
    page = page_of(alice_client, study, "?rate=7&pue=1.3&view=both")
    assert re.search(r'name="rate"[^>]* value="7" data-asked="10"', page)
    assert 'href="?view=both&pue=1.3"' in page  # back with the rate
    assert page.count('href="?view=both" data-move-to') == 2
    assert re.search(r'name="power_limit"[^>]* value="" data-asked="" placeholder="none"', page)
    assert "simulates again (about " in page


def test_what_is_named_as_it_was_asked_is_not_supposed(study: Study, alice_client: Client) -> None:
    assert "What if:" not in page_of(alice_client, study, "?rate=10&slo=1&power_limit=none&tariff=0")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?rate=fast", "rate: Found ‘fast’, expected a number."),
        ("?pue=0.5", "pue: Found 0.5, expected a number of at least 1 and at most 5."),
        ("?rate=nan", "rate: Found ‘nan’, expected a number."),
        (
            "?usd.dgx-h100=0",
            "usd.dgx-h100: Found 0 for dgx-h100, expected dollars an hour from 0.0001 to 1,000,000.",
        ),
        ("?usd.dgx-h100=1e99", "usd.dgx-h100: Found 1E+99 for dgx-h100, expected dollars an hour from 0.0001"),
        ("?tariff=1e50", "tariff: Found 1E+50, expected dollars a kWh of 0 or more and at most 1,000."),
        ("?budget=-5", "budget: Found -5, expected a number above 0."),
    ],
)
def test_a_value_that_cannot_be_is_said_and_left_out(study: Study, query: str, said: str, alice_client: Client) -> None:
    page = page_of(alice_client, study, query)
    assert said in page
    assert "What if:" not in page


def test_another_slo_is_said_to_need_a_simulation(study: Study, alice_client: Client) -> None:
    page = page_of(alice_client, study, "?slo=1.2")
    assert "every latency limit × 1.2" in page
    assert "the answer is by the limits as they were asked" in page


def test_another_rate_says_what_was_not_simulated(study: Study, alice_client: Client) -> None:
    assert "latencies and watts at that rate were not simulated" in page_of(alice_client, study, "?rate=7")


def test_moves_have_one_address(study: Study) -> None:
    base = study_result(study)
    moves = read_moves({"pue": "1.30", "usd.dgx-h100": "$12.50", "power_limit": "0.4 MW", "rate": "10"}, base)
    assert moves.query == {"pue": "1.3", "power_limit": "400", "usd.dgx-h100": "12.5"}
    assert read_moves(moves.query, base) == moves
    assert moves.without("pue") == {"power_limit": "400", "usd.dgx-h100": "12.5"}


def test_a_question_that_nothing_meets_says_what_is_missing_and_may_be_supposed_otherwise(
    alice: User,
    inputs: Inputs,
    work: Callable[..., int],
    counted: Counted,
    alice_client: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        asked = start_study(alice, create_scenario(alice, inputs | {"power_limit_kw": 14}))
    work()
    page = page_of(alice_client, asked)
    assert "No design within 14 kW nameplate holds" in page
    assert "kW more nameplate power." in page
    assert "What if:" not in page
    wider = page_of(alice_client, asked, "?power_limit=none")
    assert "no power limit: now " in wider
    assert "as it was asked no design held it" in wider
