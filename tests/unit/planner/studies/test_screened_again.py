"""Designs that need not be simulated: in the rows of a complete study, with the reason; in no count of those tried."""

from collections.abc import Callable

import pytest
from django.test import Client

from planner.studies import planning, services, stored
from planner.studies.leases import State
from planner.studies.models import Evaluation, Study
from planner.studies.results import progress, study_result
from simcore import study as search
from tests.unit.planner.studies import conftest
from tests.unit.planner.studies.conftest import Counted

Start = Callable[[], Study]
Work = Callable[..., int]


@pytest.fixture(autouse=True)
def some_that_beat_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split designs hold more than larger ones can by the fluid bound."""
    monkeypatch.setitem(conftest.HELD_EACH, 2, (900.0, 900.0))


def test_a_complete_study_has_the_screened_designs_of_the_search(
    start: Start, work: Work, counted: Counted, alice_client: Client
) -> None:
    study = start()
    work(3)
    assert not study.designs.filter(origin="screened").exists()
    work()
    study.refresh_from_db()
    assert study.state == State.DONE
    done = {name: found for name, found in stored.evaluations_of(study).items() if not found.by_bound}
    expected = search.screened(planning.context_of(study), done)
    assert len(expected) > 0
    screened = {name: found for name, found in stored.evaluations_of(study).items() if found.by_bound}
    assert screened == {design.design_id: evaluation for design, evaluation in expected}
    assert counted.designs == progress(study).tried == progress(study).total == len(done)
    rows = study_result(study).rows
    assert len(rows) == len(done) + len(screened)
    page = alice_client.get(f"/studies/{study.pk}/designs/by-cost/").content.decode()
    assert page.count("<tr data-design=") == len(rows)
    listed = alice_client.get("/api/v1/studies/").json()["results"][0]
    assert listed["progress"] == {"tried": len(done), "total": len(done)}
    assert not Evaluation.objects.filter(key__in=screened).exists()


def test_trying_again_finds_anew_what_need_not_be_simulated(
    start: Start, work: Work, counted: Counted, django_capture_on_commit_callbacks
) -> None:
    def fail_first(design) -> None:
        if len(counted.calls) == 1:
            raise OSError("disk full")

    counted.before = fail_first
    study = start()
    work()
    with django_capture_on_commit_callbacks(execute=True):
        services.retry(study, study.created_by)
    work()
    study.refresh_from_db()
    again = start()
    work()
    assert (study.state, progress(study).failed) == (State.DONE, 0)
    rows = [sorted(one.designs.values_list("design_id", "result_checksum")) for one in (study, again)]
    assert rows[0] == rows[1]
