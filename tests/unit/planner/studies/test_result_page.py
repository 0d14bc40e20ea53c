"""The result page and its parts in every state of a study."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from planner import warm
from planner.accounts.models import Membership, Role, User
from planner.scenarios.models import Scenario
from planner.studies import results, services, tables
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.page import ResultPage
from planner.studies.results import answer, study_result
from planner.studies.views import STOP_POLLING
from simcore.rows import COLUMNS
from simcore.trust.outside import Asked
from tests.unit.planner.studies.conftest import Counted, Inputs

Start = Callable[[], Study]
Work = Callable[..., int]
HTMX = {"HTTP_HX_REQUEST": "true"}
PARTS = ["", "status", "view", "brief", "headline", "designs/by-cost/"]


@pytest.fixture
def running(start: Start, work: Work, counted: Counted) -> Study:
    study = start()
    work(6)  # into the second wave
    study.refresh_from_db()
    return study


@pytest.fixture
def done(running: Study, work: Work) -> Study:
    work()
    running.refresh_from_db()
    assert running.state == State.DONE
    return running


def text_of(client: Client, study: Study, part: str = "", **headers: str) -> str:
    return unescape(client.get(f"/studies/{study.pk}/{part}", **headers).content.decode())


@pytest.mark.parametrize("part", PARTS)
def test_members_read_strangers_find_nothing(
    running: Study, part: str, bob_client: Client, charlie_client: Client
) -> None:
    url = f"/studies/{running.pk}/{part}"
    assert bob_client.get(url, **HTMX).status_code == 200
    assert charlie_client.get(url, **HTMX).status_code == 404
    assert bob_client.post(url).status_code == 405


def test_what_no_measurement_covers_is_a_banner_right_under_what_to_buy(
    done: Study, alice_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "asked_of", lambda study: Asked(9000.0, 200.0, 50_000))
    page = text_of(alice_client, done)
    banner = next(line.text for line in answer(done) if line.key == "outside")
    assert banner.startswith(
        "Outside what was measured: prompts of 50,000 tokens: step times of h100-80gb were measured"
    )
    assert page.count(banner) == 1
    assert page.index('class="line-a"') < page.index(banner) < page.index('<p class="line')


def test_a_question_within_what_was_measured_has_no_banner(done: Study, alice_client: Client) -> None:
    assert 'class="outside"' not in text_of(alice_client, done)
    assert "outside" not in [line.key for line in answer(done)]


def test_the_answer_is_word_for_word_that_of_the_api(done: Study, alice_client: Client) -> None:
    page = text_of(alice_client, done)
    lines = answer(done)
    assert len(lines) >= 4
    for line in lines:
        assert line.text in page
        assert line.detail in page


def ids_in(page: str) -> list[str]:
    return re.findall(r'<tr data-design="(\w+)"[^>]*><td><a', page)


def test_a_page_has_the_charts_table(done: Study, alice_client: Client) -> None:
    page = text_of(alice_client, done)
    ids = [row.design_id for row in study_result(done).rows]
    assert re.findall(r'data-column="(\w+)"', page) == list(COLUMNS)
    assert sorted(ids_in(page)) == sorted(ids)
    assert f'data-table data-address="/studies/{done.pk}/designs/by-cost/"' in page
    by_power = text_of(alice_client, done, "?view=power&power=drawn_mean")
    assert f'data-table data-address="/studies/{done.pk}/designs/by-power/"' in by_power
    assert sorted_by(page, by_power) == ["usd_per_hour", "mean_w"]


def sorted_by(*pages: str) -> list[str]:
    return [re.findall(r'data-sorted-by="(\w+)"', page)[0] for page in pages]


@pytest.fixture
def short_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "SHORT_ROWS", 1)


@pytest.mark.usefixtures("short_tables")
@pytest.mark.parametrize("chart", ["cost", "power", "both"])
def test_a_long_table_begins_short_and_leads_to_all_of_it(done: Study, chart: str, alice_client: Client) -> None:
    rows = study_result(done).rows
    first = ids_in(text_of(alice_client, done, f"designs/by-{chart}/?table=short", **HTMX))
    hidden = next(row.design_id for row in rows if row.design_id not in first)
    shown = next(row.design_id for row in rows if row.on_cost_frontier)
    assert shown in first
    chosen = ids_in(text_of(alice_client, done, f"designs/by-{chart}/?table=short&design={hidden}", **HTMX))
    assert set(chosen) == {*first, hidden}
    every = text_of(alice_client, done, f"designs/by-{chart}/?table=all", **HTMX)
    page = text_of(alice_client, done, f"designs/by-{chart}/")
    assert sorted(ids_in(every)) == sorted(ids_in(page)) == sorted(row.design_id for row in rows)
    assert "<html" in page
    assert "<html" not in every


@pytest.mark.usefixtures("short_tables")
def test_a_renewed_table_stays_as_far_open_as_it_was(running: Study, alice_client: Client) -> None:
    everything = len(study_result(running).rows)
    plain = text_of(alice_client, running, "status?seen=0", **HTMX)
    assert len(ids_in(plain)) < everything
    opened = text_of(alice_client, running, "status?seen=0&table=all", **HTMX)
    assert len(ids_in(opened)) == everything
    assert 'name="table" value="all"' in opened


def test_there_is_no_table_by_anything_else(done: Study, alice_client: Client) -> None:
    assert alice_client.get(f"/studies/{done.pk}/designs/by-colour/").status_code == 404


def test_a_running_study_polls_and_may_be_cancelled(running: Study, alice_client: Client) -> None:
    page = text_of(alice_client, running)
    assert "So far: " in page
    assert re.search(r"\d+ of \d+ designs tried", page)
    assert f'hx-get="/studies/{running.pk}/status?seen=' in page
    assert f'action="/studies/{running.pk}/cancel"' in page


def test_a_viewer_is_offered_no_buttons(running: Study, charlie: User, charlie_client: Client) -> None:
    Membership.objects.create(team=running.team, user=charlie, role=Role.VIEWER)
    assert f'action="/studies/{running.pk}/cancel"' not in text_of(charlie_client, running)


def test_a_poll_brings_designs_only_when_there_are_new_ones(running: Study, work: Work, alice_client: Client) -> None:
    seen = results.progress(running).step
    assert "hx-swap-oob" not in text_of(alice_client, running, f"status?seen={seen}", **HTMX)
    assert f"seen={seen}" in text_of(alice_client, running)
    while results.progress(running).step == seen:
        work(1)
    renewed = text_of(alice_client, running, f"status?seen={seen}", **HTMX)
    assert renewed.count("hx-swap-oob") == 6


def test_the_last_poll_stops_the_polling(done: Study, alice_client: Client) -> None:
    response = alice_client.get(f"/studies/{done.pk}/status?seen=3", **HTMX)
    assert response.status_code == STOP_POLLING
    assert b"hx-trigger" not in response.content.partition(b'id="answer"')[0]


def test_polling_backs_off(running: Study) -> None:
    waits = []
    for elapsed_s in (1, 30, 600):
        running.started_at = timezone.now() - timezone.timedelta(seconds=elapsed_s)
        waits.append(ResultPage(running, "nameplate").poll_s)
    assert waits == [1, 2, 5]


def test_a_cancelled_study_is_called_partial_and_keeps_its_designs(running: Study, alice_client: Client) -> None:
    services.cancel(running, running.created_by)
    running.refresh_from_db()
    page = text_of(alice_client, running)
    assert "Partial study, cancelled" in page
    assert "hx-trigger" not in page.partition('id="answer"')[0].partition('id="status"')[2]
    assert study_result(running).rows[0].design_id in page


def test_a_failed_study_says_why_and_offers_another_try(running: Study, alice_client: Client) -> None:
    Study.unscoped.filter(pk=running.pk).update(state=State.FAILED, error="disk full")
    page = text_of(alice_client, running)
    assert "disk full" in page
    assert f'action="/studies/{running.pk}/retry"' in page


def test_a_finished_study_offers_to_try_again_what_failed(done: Study, alice_client: Client) -> None:
    again = f'action="/studies/{done.pk}/retry"'
    assert again not in text_of(alice_client, done)
    row = done.designs.order_by("order")[0]
    row.result, row.origin, row.failure = None, "", "disk full"
    row.save()
    assert again in text_of(alice_client, done)


def test_the_chart_is_of_money_of_power_or_of_both(done: Study, alice_client: Client) -> None:
    assert "$ a month (730 h)" in text_of(alice_client, done)
    drawn = text_of(alice_client, done, "view?view=power&power=drawn_p99", **HTMX)
    assert "kW drawn, P99 of 1 s at capacity" in drawn
    assert "Drawn power is that at each design's capacity" in drawn
    assert "kW provisioned" in text_of(alice_client, done, "?view=power&power=provisioned")
    assert "Perf/W: requests/s a kW nameplate" in text_of(alice_client, done, "?view=both")
    assert "$ a month (730 h)" in text_of(alice_client, done, "?view=nonsense&power=nonsense")
    assert alice_client.get(f"/studies/{done.pk}/view?view=both")["Location"] == f"/studies/{done.pk}/?view=both"


def test_a_design_is_a_panel_for_htmx_and_a_page_otherwise(done: Study, alice_client: Client) -> None:
    row = study_result(done).rows[0]
    panel = text_of(alice_client, done, f"designs/{row.design_id}/", **HTMX)
    page = text_of(alice_client, done, f"designs/{row.design_id}/")
    assert row.label in panel
    assert "<html" not in panel
    assert "<html" in page
    assert alice_client.get(f"/studies/{done.pk}/designs/000000000000/").status_code == 404
    assert "has not tried, or not yet" in text_of(alice_client, done, "designs/000000000000/", **HTMX)


def test_asking_again_saves_a_revision_and_starts_a_study(done: Study, inputs: Inputs, alice_client: Client) -> None:
    response = alice_client.post(f"/studies/{done.pk}/ask", {**inputs, "rate_req_per_s": "12"})
    new = Study.unscoped.latest("pk")
    assert response["Location"] == f"/studies/{new.pk}/"
    assert (new.revision.scenario_id, new.revision.number) == (done.revision.scenario_id, 2)
    assert new.revision.inputs["rate_req_per_s"] == 12


def test_a_shipped_question_is_changed_in_a_copy(done: Study, inputs: Inputs, alice_client: Client) -> None:
    Scenario.unscoped.filter(pk=done.revision.scenario_id).update(shipped_id="example")
    alice_client.post(f"/studies/{done.pk}/ask", {**inputs, "rate_req_per_s": "12"})
    new = Study.unscoped.latest("pk")
    assert new.revision.scenario_id != done.revision.scenario_id
    assert done.revision.scenario.latest.number == 1


def test_a_mistake_is_shown_over_the_answer_and_nothing_typed_is_lost(
    done: Study, inputs: Inputs, alice_client: Client
) -> None:
    typed = {**inputs, "rate_req_per_s": "seventy", "token_budget": "777"}
    page = unescape(alice_client.post(f"/studies/{done.pk}/ask", typed).content.decode())
    assert "Found ‘seventy’" in page
    assert 'value="seventy"' in page
    assert 'value="777"' in page
    assert answer(done)[0].text in page
    assert Study.unscoped.count() == 1


def test_a_study_of_another_team_cannot_be_asked_again(done: Study, inputs: Inputs, charlie_client: Client) -> None:
    assert charlie_client.post(f"/studies/{done.pk}/ask", inputs).status_code == 404


def test_warming_up_reads_the_latest_answer(done: Study, monkeypatch: pytest.MonkeyPatch, alice_client: Client) -> None:
    monkeypatch.setattr(warm.connections, "close_all", lambda: None)
    results._study_result.cache_clear()
    warm.warm_up()
    misses = results._study_result.cache_info().misses
    text_of(alice_client, done)
    assert misses == results._study_result.cache_info().misses == 1
