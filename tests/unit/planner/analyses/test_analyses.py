"""From the button to the figures: asked for once, shared, cancelled, failed and tried again."""

import json
from collections.abc import Callable
from dataclasses import asdict
from html import unescape
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from planner.accounts.models import Membership, Role, Team, User
from planner.analyses import services, stored_lab, tasks
from planner.analyses.asking import given_by, subject_of
from planner.analyses.models import Analysis
from planner.sharing import links
from planner.studies.contexts import trace_of
from planner.studies.leases import State
from planner.studies.models import Evaluation, Study
from simcore.analyses import analyse, kind_of
from simcore.lab import EngineLab
from simcore.spec import SpecError

BUDGETS = {"budgets": "256, 512"}
HTMX = {"HTTP_HX_REQUEST": "true"}
Work = Callable[[], None]


@pytest.fixture
def study(answered: Callable[..., Study]) -> Study:
    return answered()


@pytest.fixture
def ask(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Callable[..., Any]:
    """Presses the button."""

    def asked(client: Client, study: Study, **query: str) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return client.post(address(study), {**BUDGETS, **query}, **HTMX)  # type: ignore[arg-type]

    return asked


def address(study: Study) -> str:
    return f"/studies/{study.pk}/analyses/token_budget/"


def look(client: Client, study: Study) -> Any:
    return client.get(address(study), BUDGETS, **HTMX)  # type: ignore[arg-type]


def rest(client: Client, study: Study) -> Any:
    return client.get(f"/api/v1/studies/{study.pk}/analyses/token_budget", BUDGETS)


def test_a_section_is_a_button_then_runs_then_has_its_figures(
    alice_client: Client, study: Study, ask: Callable[..., Any], work: Work
) -> None:
    page = alice_client.get(f"/studies/{study.pk}/")
    assert "Token budget" in page.content.decode()
    assert "Work it out" in page.content.decode()
    assert "hx-trigger" in ask(alice_client, study).content.decode()
    assert look(alice_client, study).status_code == 200
    assert rest(alice_client, study).status_code == 202
    work()
    done = look(alice_client, study)
    assert done.status_code == 286
    figures = rest(alice_client, study).json()["result"]
    assert [row["token_budget"] for row in figures["budgets"]] == [256, 512]
    for sentence in figures["sentences"]:
        assert sentence in done.content.decode()


def test_the_figures_are_the_command_lines(
    alice_client: Client, study: Study, ask: Callable[..., Any], work: Work
) -> None:
    ask(alice_client, study)
    work()
    theirs = analyse("token_budget", subject_of(study), EngineLab(trace_of(study)), {"budgets": [256, 512]})
    assert rest(alice_client, study).json()["result"] == json.loads(json.dumps(theirs))


def test_a_study_at_other_prices_has_them_at_once(
    alice_client: Client, alice: User, answered: Callable[..., Study], study: Study, ask: Callable[..., Any], work: Work
) -> None:
    ask(alice_client, study)
    work()
    other = answered(usd_per_month=1_000_000)
    assert other.pk != study.pk
    assert look(alice_client, other).status_code == 286
    assert rest(alice_client, other).json()["result"]["budgets"]
    assert Analysis.objects.count() == 1


def test_pressing_twice_is_asking_once(
    alice_client: Client, bob_client: Client, study: Study, ask: Callable[..., Any], sent: list[tuple[str, str]]
) -> None:
    ask(alice_client, study)
    ask(bob_client, study)
    assert [name for name, _ in sent] == [Analysis.task_name]


def test_a_cancelled_one_goes_on_from_the_store(
    alice_client: Client, study: Study, ask: Callable[..., Any], work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(alice_client, study)
    searched: list[str] = []
    capacity = EngineLab.capacity

    def counted(self: EngineLab, case: Any) -> Any:
        searched.append(str(case.scheduler.token_budget))
        return capacity(self, case)

    def cancelled_in_the_middle(self: EngineLab, case: Any, rate: float) -> Any:
        Analysis.objects.update(state=State.CANCELLED, claim_id=None)
        raise KeyError("its claim is gone: what it raises is nobody's")

    monkeypatch.setattr(EngineLab, "capacity", counted)
    with monkeypatch.context() as first:
        first.setattr(EngineLab, "run", cancelled_in_the_middle)
        work()
    assert Analysis.objects.get().state == State.CANCELLED
    assert "Cancelled" in look(alice_client, study).content.decode()
    assert searched == ["256"]  # the study has 512 in the store
    ask(alice_client, study)
    work()
    assert searched == ["256"]
    assert look(alice_client, study).status_code == 286
    assert Analysis.objects.get().state == State.DONE


def test_a_total_that_was_passed_grows(
    alice_client: Client, study: Study, ask: Callable[..., Any], work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_lab, "SAY_EVERY_S", 0.0)
    ask(alice_client, study)
    Analysis.objects.update(steps=1)
    work()
    told = rest(alice_client, study).json()
    assert told["steps"] == told["steps_done"] > 1


def test_cancel_takes_the_claim_away(alice_client: Client, study: Study, ask: Callable[..., Any], work: Work) -> None:
    ask(alice_client, study)
    alice_client.post(f"{address(study)}cancel", BUDGETS, **HTMX)  # type: ignore[arg-type]
    assert Analysis.objects.get().state == State.CANCELLED
    work()
    assert Analysis.objects.get().found is None


def test_one_that_fails_says_why_and_may_be_tried_again(
    alice_client: Client, study: Study, ask: Callable[..., Any], work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise SpecError("latency: found nothing, expected something")

    ask(alice_client, study)
    with monkeypatch.context() as broken_once:
        broken_once.setattr(stored_lab.StoredLab, "run", broken)
        work()
    failed = look(alice_client, study).content.decode()
    assert "latency: found nothing, expected something" in failed
    assert "Try again" in failed
    assert rest(alice_client, study).json()["reason"] == "latency: found nothing, expected something"
    ask(alice_client, study)
    work()
    assert rest(alice_client, study).json()["state"] == "done"


def test_what_was_found_and_is_damaged_is_asked_for_again(
    alice_client: Client, study: Study, ask: Callable[..., Any], work: Work
) -> None:
    ask(alice_client, study)
    work()
    Analysis.objects.update(found=b"rust")
    assert "Work it out" in look(alice_client, study).content.decode()
    ask(alice_client, study)
    work()
    assert rest(alice_client, study).json()["state"] == "done"


def test_a_row_of_other_code_becomes_this_codes(
    alice_client: Client, study: Study, ask: Callable[..., Any], work: Work
) -> None:
    ask(alice_client, study)
    Analysis.objects.update(key="of other code", code_version="other")
    work()
    assert rest(alice_client, study).json()["state"] == "done"


def test_a_reader_sees_what_is_done_and_starts_nothing(
    alice_client: Client, study: Study, ask: Callable[..., Any], work: Work, charlie: User, charlie_client: Client,
    team: Team,
) -> None:  # fmt: skip
    assert look(charlie_client, study).status_code == 404  # a stranger's
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    assert ask(charlie_client, study).status_code == 403
    assert "Work it out" not in look(charlie_client, study).content.decode()
    assert not Analysis.objects.exists()
    ask(alice_client, study)
    work()
    assert "requests/s" in look(charlie_client, study).content.decode()


def test_a_link_shows_what_is_done_and_asks_for_nothing(alice: User, study: Study, sent: list[tuple[str, str]]) -> None:
    shared = f"/shared/{links.create(alice, study, 'for finance')[1]}"

    def seen(path: str) -> str:
        return unescape(Client().get(f"{shared}{path}").content.decode())

    assert "Token budget" not in seen("/")
    services.request(study.created_by, study, "token_budget", {})
    for row in Analysis.objects.filter(state=State.QUEUED):
        tasks.work_out(row.pk)
    page = seen("/")
    assert "Token budget" in page
    assert "hold most" in page
    assert "Work it out" not in page
    assert "<form" not in seen(address(study))
    assert Client().post(f"{shared}{address(study)}", BUDGETS).status_code == 405


def test_rest_lists_asks_and_refuses(alice_client: Client, study: Study, sent: list[tuple[str, str]]) -> None:
    base = f"/api/v1/studies/{study.pk}/analyses"
    listed = {one["kind"]: one for one in alice_client.get(base).json()["results"]}
    assert listed["token_budget"]["state"] == "unasked"
    assert listed["token_budget"]["predicted_cpu_s"] > 0

    def post(kind: str, parameters: Any) -> Any:
        return alice_client.post(f"{base}/{kind}", {"parameters": parameters}, content_type="application/json")

    assert post("token_budget", {"budgets": [512]}).status_code == 202
    assert "budget: unknown key" in str(post("token_budget", {"budget": 512}).json())
    assert post("token_budget", [512]).status_code == 400
    assert post("budget", {}).status_code == 404


def test_a_bad_parameter_is_said_where_it_was_asked(
    alice_client: Client, study: Study, ask: Callable[..., Any]
) -> None:
    answer = ask(alice_client, study, budgets="many")
    assert answer.status_code == 200  # htmx would not show a 422
    assert alice_client.post(address(study), {"budgets": "many"}).status_code == 422
    assert "found &#x27;many&#x27;, expected a whole number" in answer.content.decode()


def test_fields_are_read_as_what_they_are() -> None:
    typed = {"phases": "1", "volts": "230", "breaker_a": "32.5", "design": "", "other": "x"}
    assert given_by(typed, kind_of("racks")) == {"phases": 1, "volts": 230, "breaker_a": 32.5}
    assert given_by({"phases": "two"}, kind_of("racks")) == {"phases": "two"}
    assert given_by({"budgets": "128, 1k,"}, kind_of("token_budget")) == {"budgets": [128, "1k"]}


@pytest.mark.parametrize("endless", ["inf", "1e999", "nan", "9" * 400])
def test_rest_names_a_number_that_is_none(alice_client: Client, study: Study, endless: str) -> None:
    answer = alice_client.get(f"/api/v1/studies/{study.pk}/analyses/token_budget", {"budgets": endless})
    assert answer.status_code == 200
    assert answer.json()["parameters"] == {"budgets": [endless]}
    assert answer.json()["state"] == "impossible"
    assert "expected a whole number" in answer.json()["reason"]


def test_the_page_without_scripts_asks_and_shows(
    alice_client: Client, study: Study, work: Work, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        asked = alice_client.post(address(study), BUDGETS)
    assert asked.status_code == 302
    work()
    page = alice_client.get(asked.headers["Location"]).content.decode()
    assert "hold most" in page
    assert "256, 512" in page


def test_a_study_without_an_answer_has_nothing_to_ask(alice: User, study: Study) -> None:
    study.designs.all().delete()
    Evaluation.objects.all().delete()
    with pytest.raises(SpecError, match="was evaluated"):
        services.request(study.created_by, study, "token_budget", {})
    assert asdict(subject_of(study).statistics)["requests"] == 300
