"""Answers side by side: the page, who may read it, what it adds up to, and the same by REST."""

import re
from collections.abc import Callable
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from planner.accounts.models import User
from planner.comparing import halfway
from planner.scenarios.forms import QuestionForm
from planner.scenarios.models import Revision
from planner.scenarios.services import create_scenario, save_revision
from planner.studies import services
from planner.studies.models import Study
from planner.studies.results import study_result
from simcore.economics.hourly import usd_per_month
from tests.unit.planner.studies.conftest import Counted, Inputs

Start = Callable[[], Study]
Work = Callable[..., int]


@pytest.fixture
def first(start: Start, work: Work, counted: Counted) -> Study:
    study = start()
    work()
    return Study.unscoped.get(pk=study.pk)


@pytest.fixture
def second(
    first: Study,
    alice: User,
    inputs: Inputs,
    work: Work,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> Study:
    """Another rate and another price book."""
    changed = {**inputs, "rate_req_per_s": "14", "price_book": "splitwise-2023", "pue": "1.4"}
    revision = save_revision(alice, first.revision.scenario, changed)
    with django_capture_on_commit_callbacks(execute=True):
        study = services.start_study(alice, revision)
    work()
    return Study.unscoped.get(pk=study.pk)


def page_of(client: Client, query: str) -> str:
    response = client.get(f"/compare/{query}", follow=True)
    assert response.status_code == 200
    return unescape(response.content.decode())


def test_two_answers_side_by_side(first: Study, second: Study, alice_client: Client) -> None:
    page = page_of(alice_client, f"?study={first.pk}&study={second.pk}")
    assert "They serve different rates. 1,000 requests cost" in page
    asked = page[page.index("asked-title") : page.index("figures-title")]
    assert '<th scope="row">rate</th><td class="cell">10 requests/s</td><td class="cell">14 requests/s</td>' in asked
    assert '<th scope="row">model</th>' not in asked
    assert "Show all" in asked
    figures = page[page.index("figures-title") : page.index("chart-title")]
    for study in (first, second):
        winner = study_result(study).winner
        assert winner is not None
        assert winner.label in figures
    assert "$ a month (730 h)" in figures
    assert "engine version" not in figures


def test_a_switch_shows_what_is_the_same(first: Study, second: Study, alice_client: Client) -> None:
    page = page_of(alice_client, f"?study={first.pk}&study={second.pk}&all=1")
    assert '<th scope="row">model</th><td class="cell">BLOOM 176B</td><td class="cell">BLOOM 176B</td>' in page
    assert '<th scope="row">engine version</th>' in page
    assert "Differences only" in page


def test_the_difference_adds_up_whatever_the_baseline(first: Study, second: Study, alice_client: Client) -> None:
    for baseline, other in ((first, second), (second, first)):
        address = f"/api/v1/compare?study={first.pk}&study={second.pk}&baseline={baseline.pk}"
        (told,) = alice_client.get(address).json()["drivers"]
        winners = [study_result(study).winner for study in (baseline, other)]
        months = [usd_per_month(winner.usd_per_hour) for winner in winners if winner]
        assert [Decimal(told["usd_per_month"][end]) for end in ("from", "to")] == months
        assert sum(Decimal(step["change"]) for step in told["steps"]) == months[1] - months[0]
        assert [step["kind"] for step in told["steps"]] in (["prices", "rate"], ["prices", "PUE", "rate"])


def test_a_design_beside_its_studys_answer(first: Study, alice_client: Client) -> None:
    result = study_result(first)
    winner = result.winner
    assert winner is not None
    other = next(row for row in result.rows if row.status == "evaluated" and row.family != winner.family)
    page = page_of(alice_client, f"?add={first.pk}:{other.design_id}")
    assert "They ask the very same." in page
    assert other.label in page
    told = alice_client.get(f"/api/v1/compare?study={first.pk}&design={first.pk}:{other.design_id}").json()
    (driven,) = told["drivers"]
    change = usd_per_month(other.usd_per_hour) - usd_per_month(winner.usd_per_hour)
    assert sum(Decimal(step["change"]) for step in driven["steps"]) == change
    assert told["columns"][1]["row"]["design_id"] == other.design_id


def test_what_is_pinned_joins_what_was_compared_last(first: Study, second: Study, alice_client: Client) -> None:
    alice_client.get(f"/compare/?study={first.pk}")
    response = alice_client.get(f"/compare/?add={second.pk}")
    assert response["Location"] == f"/compare/?study={first.pk}&study={second.pk}"


def test_at_most_four_are_compared_and_that_is_said(first: Study, second: Study, alice_client: Client) -> None:
    designs = [row.design_id for row in study_result(first).rows][:4]
    query = "".join(f"&design={first.pk}:{name}" for name in designs)
    page = page_of(alice_client, f"?study={first.pk}{query}")
    assert "At most 4 are compared: 1 more of the address is left out." in page
    page = page_of(alice_client, f"?add={second.pk}")
    assert "Four are compared already" in page


def test_columns_are_added_and_taken_away_by_links(first: Study, second: Study, alice_client: Client) -> None:
    page = page_of(alice_client, f"?study={first.pk}")
    assert f'href="?study={first.pk}&study={second.pk}"' in page
    page = page_of(alice_client, f"?study={first.pk}&study={second.pk}")
    assert f'<a href="?study={second.pk}">take A away</a>' in page
    assert f'<a href="?study={first.pk}&study={second.pk}&baseline={second.pk}">make B the baseline</a>' in page


def test_a_study_that_has_not_begun_is_compared_so_far(first: Study, start: Start, alice_client: Client) -> None:
    running = start()
    Study.unscoped.filter(pk=running.pk).update(state="running")
    running.designs.all().delete()
    page = page_of(alice_client, f"?study={first.pk}&study={running.pk}")
    assert "B is not complete: so far 0 of 0 designs." in page
    assert "B has no answer" in page


@pytest.mark.parametrize("query", ["?study=x", "?study=999999", "?design=1", "?add=x", "?design=999:abc"])
def test_what_is_not_there_is_not_found(first: Study, alice_client: Client, query: str) -> None:
    assert alice_client.get(f"/compare/{query}").status_code == 404
    if "add" not in query:
        assert alice_client.get(f"/api/v1/compare{query}").status_code == 404


def test_strangers_find_nothing(first: Study, second: Study, charlie_client: Client, client: Client) -> None:
    for query in (f"?study={first.pk}", f"?study={first.pk}&study={second.pk}", f"?add={first.pk}"):
        assert charlie_client.get(f"/compare/{query}").status_code == 404
        assert client.get(f"/compare/{query}").status_code in (302, 401, 403)
    assert charlie_client.get(f"/api/v1/compare?study={first.pk}").status_code == 404
    assert first.revision.title not in unescape(charlie_client.get("/compare/").content.decode())


def test_the_chart_has_each_study_once_on_one_pair_of_axes(first: Study, second: Study, alice: User) -> None:
    from django.http import QueryDict

    from planner.comparing.page import compare_page

    for view in ("cost", "power", "both"):
        page = compare_page(alice, QueryDict(f"study={first.pk}&study={second.pk}&view={view}"))
        figure: Any = page.chart.figure
        lines = [trace for trace in figure["data"] if trace["mode"] == "lines"]
        assert [trace["name"] for trace in lines] == ["A", "B"]
        right = figure["layout"]["xaxis"]["range"][1]
        assert all(0 <= x <= right for trace in figure["data"] for x in trace["x"])
        assert {row.name for row in page.chart.rows} == {"A", "B"}
        assert len(page.chart.summary) == 2


def test_panel_list_and_scenario_lead_here(first: Study, second: Study, alice_client: Client) -> None:
    winner = study_result(first).winner
    assert winner is not None
    panel = alice_client.get(f"/studies/{first.pk}/designs/{winner.design_id}/").content.decode()
    assert f'href="/compare/?add={first.pk}:{winner.design_id}">Pin to compare' in panel
    assert f'href="/compare/?add={second.pk}"' in alice_client.get("/").content.decode()
    scenario = alice_client.get(f"/questions/{first.revision.scenario_id}/?a=1&b=2").content.decode()
    assert f'href="/compare/?study={first.pk}&amp;study={second.pk}">Compare their answers' in scenario


def test_an_empty_comparison_offers_answers(revision: Revision, alice_client: Client) -> None:
    page = page_of(alice_client, "")
    assert "Up to 4 answers" in page
    assert "figure" not in page[page.index("<main") :]


def test_a_chosen_design_against_another_studys_answer_is_told(
    first: Study, second: Study, alice_client: Client
) -> None:
    result, theirs = study_result(first), study_result(second)
    assert result.winner is not None
    assert theirs.winner is not None
    other = next(row for row in result.rows if row.status == "evaluated" and row.family != result.winner.family)
    address = (
        f"/api/v1/compare?study={second.pk}&design={first.pk}:{other.design_id}&baseline={first.pk}:{other.design_id}"
    )
    (told,) = alice_client.get(address).json()["drivers"]
    assert told["steps"][0]["kind"] == "the choice"
    assert told["steps"][0]["inputs"] == [f"its study's answer, {result.winner.label}, in place of {other.label}"]
    change = usd_per_month(theirs.winner.usd_per_hour) - usd_per_month(other.usd_per_hour)
    assert sum(Decimal(step["change"]) for step in told["steps"]) == Decimal(told["usd_per_month"]["change"]) == change


def test_steps_are_applied_in_the_order_that_the_reader_chooses(
    first: Study, second: Study, alice_client: Client
) -> None:
    page = page_of(alice_client, f"?study={first.pk}&study={second.pk}")
    earlier = re.findall(r'href="([^"]*)#drivers-title" aria-label="Apply (\w+) one step earlier"', page)
    address, kind = earlier[0]
    query = address.replace("&amp;", "&")
    found = alice_client.get(f"/api/v1/compare{query}").json()["drivers"][0]["steps"]
    before = alice_client.get(f"/api/v1/compare?study={first.pk}&study={second.pk}").json()["drivers"][0]["steps"]
    assert found[0]["kind"] == kind != before[0]["kind"]
    alone = [{step["kind"]: step["alone"] for step in steps} for steps in (found, before)]
    assert alone[0] == alone[1]
    total = [sum(Decimal(step["change"]) for step in steps) for steps in (found, before)]
    assert total[0] == total[1]


@pytest.fixture
def third(
    first: Study,
    alice: User,
    inputs: Inputs,
    work: Work,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> Study:
    """Looser limits and other arrivals: nothing stored tells which of them does what."""
    monkeypatch.setattr(halfway, "engine_at_work", lambda: first.engine_version)
    changed = {**inputs, "slowdown_multiplier": "1.5", "arrivals": "poisson"}
    with django_capture_on_commit_callbacks(execute=True):
        study = services.start_study(alice, create_scenario(alice, changed, "Looser"))
    work()
    return Study.unscoped.get(pk=study.pk)


def test_what_stored_results_cannot_tell_apart_is_asked(
    first: Study,
    third: Study,
    alice_client: Client,
    charlie_client: Client,
    work: Work,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    page = page_of(alice_client, f"?study={first.pk}&study={third.pk}")
    assert 'value="workload">A with B’s workload</button>' in page
    assert 'value="objective">A with B’s objective</button>' in page
    data = {"key": [str(first.pk), str(third.pk)], "first": first.pk, "second": third.pk, "kind": "workload"}
    assert charlie_client.post("/compare/halfway", data).status_code == 404
    assert alice_client.post("/compare/halfway", {**data, "kind": "prices"}).status_code == 404
    with django_capture_on_commit_callbacks(execute=True):
        response = alice_client.post("/compare/halfway", data)
    middle = Study.unscoped.exclude(pk__in=[first.pk, third.pk]).get()
    assert response["Location"] == f"/compare/?study={first.pk}&study={middle.pk}&study={third.pk}"
    assert (middle.revision.inputs["arrivals"], middle.revision.inputs["slowdown_multiplier"]) == ("poisson", 1.0)
    assert middle.revision.rows == first.revision.rows
    assert "HX-Refresh" not in alice_client.get(f"/compare/waiting?study={middle.pk}")
    work()
    assert alice_client.get(f"/compare/waiting?study={middle.pk}")["HX-Refresh"] == "true"
    told = alice_client.get(f"/api/v1/compare?study={first.pk}&study={middle.pk}&study={third.pk}").json()["drivers"]
    whole = next(one for one in told if one["to"] == "C")
    assert whole["by_way_of"] == ["B"]
    assert [step["kind"] for step in whole["steps"]] == ["workload", "objective"]
    assert alice_client.post("/compare/halfway", data)["Location"] == response["Location"]
    assert Study.unscoped.count() == 3


def test_every_field_of_a_question_is_money_or_a_part_that_may_be_asked() -> None:
    named = [name for names in halfway.PARTS.values() for name in names]
    assert sorted([*named, *halfway.MONEY]) == sorted(QuestionForm.base_fields)
