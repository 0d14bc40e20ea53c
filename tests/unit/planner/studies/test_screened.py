"""Designs that need no simulation: kept with the study, and told from those that were simulated."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from planner.accounts.models import User
from planner.scenarios import services as scenarios
from planner.studies import services
from planner.studies.leases import State
from planner.studies.models import Evaluation, Study, StudyDesign
from planner.studies.page import ResultPage
from planner.studies.results import progress, study_result
from simcore.evaluation import Design
from simcore.evaluation import Evaluation as Found
from simcore.study import Context
from tests.unit.planner.studies.conftest import Counted
from tests.unit.simcore.questions import linear


def held(_: Counted, design: Design, context: Context) -> Found:
    each = 0.1 if design.case.scheduler.token_budget == 16 else 2.0
    return linear(design, (each,), context.spec.rate_req_per_s)


@pytest.fixture
def study(
    alice: User,
    inputs: dict[str, Any],
    sent: list[tuple[str, str]],
    work: Callable[..., int],
    counted: Counted,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Study:
    """Sarathi on 5 and 10 machines, with a budget that is ample and one of sixteen tokens, which holds little."""
    monkeypatch.setattr(Counted, "__call__", held)
    only = {"families": ["sarathi:dgx-h100"], "mixed_counts": "5, 10", "token_budgets": "16, 512"}
    revision = scenarios.create_scenario(alice, inputs | only)
    with django_capture_on_commit_callbacks(execute=True):
        started = services.start_study(alice, revision)
    work()
    started.refresh_from_db()
    return started


def test_a_finished_study_keeps_what_was_screened_with_the_reason(study: Study, counted: Counted) -> None:
    assert study.state == State.DONE
    beaten = study.designs.filter(origin=StudyDesign.Origin.SCREENED)
    assert beaten.exists()
    assert beaten.count() + len(counted.calls) == 4
    rows = {row.design_id: row for row in study_result(study).rows}
    for name in beaten.values_list("design_id", flat=True):
        row = rows[name]
        assert (row.status, row.capacity_req_per_s, row.token_budget) == ("screened", None, 16)
        assert "by the fluid bound" in row.reason


def test_progress_counts_what_is_simulated(study: Study, counted: Counted) -> None:
    assert progress(study).total == progress(study).tried == len(counted.calls)


def test_page_and_csv_show_them_apart(study: Study, alice_client: Client) -> None:
    page = alice_client.get(f"/studies/{study.pk}/").content.decode()
    assert study.designs.filter(origin=StudyDesign.Origin.SCREENED).count() == 1
    assert "1 more design is beaten whatever machines and power cost, by proof;" in page
    assert "<td>screened</td>" in page
    assert "in the table only" in page
    csv = alice_client.get(f"/studies/{study.pk}/designs.csv").content.decode()
    assert ",screened," in csv
    name = study.designs.filter(origin=StudyDesign.Origin.SCREENED).values_list("design_id", flat=True)[0]
    assert "by the fluid bound" in alice_client.get(f"/studies/{study.pk}/designs/{name}/").content.decode()


@pytest.fixture
def beaten_by_a_run(
    alice: User,
    inputs: dict[str, Any],
    work: Callable[..., int],
    counted: Counted,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Study]:
    """Sarathi with two budgets that hold nearly the same, so that one run tells which holds less; the question with
    other fields, if any."""

    def nearly(_: Counted, design: Design, context: Context) -> Found:
        each = 1.8 if design.case.scheduler.token_budget == 256 else 2.0
        return linear(design, (each,), context.spec.rate_req_per_s)

    monkeypatch.setattr(Counted, "__call__", nearly)
    only = {"families": ["sarathi:dgx-h100"], "mixed_counts": "5, 10", "token_budgets": "256, 512"}

    def asked(**changes: Any) -> Study:
        with django_capture_on_commit_callbacks(execute=True):
            study = services.start_study(alice, scenarios.create_scenario(alice, inputs | only | changes))
        work()
        study.refresh_from_db()
        assert study.state == State.DONE
        return study

    return asked


def test_those_beaten_by_a_run_have_not_failed(
    beaten_by_a_run: Callable[..., Study], alice_client: Client, counted: Counted
) -> None:
    study = beaten_by_a_run()
    assert len(counted.beaten) > 0
    assert ResultPage(study, "nameplate").failed == 0
    page = alice_client.get(f"/studies/{study.pk}/").content.decode()
    assert "by one run at what another holds" in page
    assert "Try what failed again" not in page


@pytest.mark.parametrize("harm", [{"payload": b"harmed"}, {"checksum": "0" * 64}])
def test_a_damaged_trial_is_run_again_and_said(
    beaten_by_a_run: Callable[..., Study], alice_client: Client, counted: Counted, harm: dict[str, Any]
) -> None:
    beaten_by_a_run()
    before = list(counted.beaten)
    entry = Evaluation.objects.filter(kind="trial")[0]
    Evaluation.objects.filter(pk=entry.pk).update(**harm)
    again = beaten_by_a_run(goal="power")
    assert len(counted.beaten) == len(before) + 1
    assert again.damaged == 1
    assert bytes(Evaluation.objects.get(key=entry.key).payload) == bytes(entry.payload)
    assert "1 stored result was damaged" in alice_client.get(f"/studies/{again.pk}/").content.decode()
