"""The store of simulated results: what is shared, what is computed anew, and what becomes of damage and of size."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from planner.accounts.models import User
from planner.catalogue.models import ShippedPrice
from planner.scenarios import services as scenarios
from planner.scenarios.models import Revision
from planner.studies import services, store, stored, tasks
from planner.studies.leases import State
from planner.studies.models import Evaluation, Study
from planner.studies.results import progress, study_result
from tests.unit.planner.studies.conftest import Counted, Inputs

Start = Callable[[], Study]
Work = Callable[..., int]
Ask = Callable[..., Study]


@pytest.fixture
def ask(
    alice: User, revision: Revision, inputs: Inputs, start: Start, work: Work, counted: Counted, request: Any
) -> Ask:
    """The question with these fields changed, answered."""
    capture = request.getfixturevalue("django_capture_on_commit_callbacks")

    def asked(**changes: Any) -> Study:
        changed = scenarios.save_revision(alice, revision.scenario, inputs | changes)
        with capture(execute=True):
            study = services.start_study(alice, changed)
        work()
        study.refresh_from_db()
        assert study.state == State.DONE
        return study

    return asked


def test_another_rate_searches_no_capacity_again_and_runs_those_near_it_once(ask: Ask, counted: Counted) -> None:
    fixed = {"mixed_counts": "1,2,6", "prefill_counts": "1,2", "decode_counts": "1,2"}
    first = ask(**fixed)
    searched, runs = len(counted.calls), len(counted.runs)
    assert searched == first.designs.count()
    second = ask(**fixed, rate_req_per_s=11)
    assert len(counted.calls) == searched
    near = {name for name, found in stored.evaluations_of(second).items() if found.wants_run(11)}
    assert 0 < len(near) < searched
    assert sorted(counted.runs[runs:]) == sorted((name, 11.0) for name in near)
    assert (progress(second).at_rate, progress(second).simulated) == (len(near), 0)
    assert progress(second).known == searched - len(near)
    for name, found in stored.evaluations_of(second).items():
        assert (found.at_required and found.at_required.rate_req_per_s) == (11 if name in near else None)


def test_a_study_with_more_in_it_computes_only_what_is_new(ask: Ask, counted: Counted) -> None:
    first = ask(mixed_counts="1,6", prefill_counts="1", decode_counts="1")
    second = ask(mixed_counts="1,5,6", prefill_counts="1", decode_counts="1,3")
    more = second.designs.count() - first.designs.count()
    assert (progress(second).known, progress(second).simulated) == (first.designs.count(), more)
    assert more > 0
    assert len(counted.calls) == len(set(counted.calls)) == second.designs.count()


@pytest.mark.parametrize("change", [{"usd_per_month": 90_000}, {"goal": "power"}, {"power_limit_kw": 30}])
def test_limits_and_goals_compute_nothing_that_is_known(ask: Ask, counted: Counted, change: dict[str, Any]) -> None:
    first = ask(mixed_counts="1,2", prefill_counts="1", decode_counts="1")
    calls = len(counted.calls)
    ask(mixed_counts="1,2", prefill_counts="1", decode_counts="1", **change)
    assert len(counted.calls) == calls == first.designs.count()


def test_another_teams_study_takes_what_this_one_has_found(
    ask: Ask, counted: Counted, charlie: User, inputs: Inputs, work: Work, django_capture_on_commit_callbacks: Any
) -> None:
    from planner.accounts.models import Membership, Role, Team
    from planner.workloads.services import save_mix
    from simcore.traces import SyntheticSpec

    first = ask()
    calls = len(counted.calls)
    other = Team.objects.create(name="others")
    Membership.objects.create(team=other, user=charlie, role=Role.EDITOR)
    same = save_mix(other, charlie, "The same chat", SyntheticSpec("conversation", 10.0, 300))
    with django_capture_on_commit_callbacks(execute=True):
        study = services.start_study(charlie, scenarios.create_scenario(charlie, inputs | {"workload": str(same.pk)}))
    work()
    assert len(counted.calls) == calls
    assert progress(study).known == first.designs.count()


@pytest.mark.parametrize(
    "harm",
    [
        {"payload": b"nothing that was packed"},
        {"payload": b""},
        {"checksum": "0" * 64},
        {"kind": "nonsense"},
    ],
)
@pytest.mark.parametrize("kind", ["capacity", "rate"])
def test_a_damaged_entry_is_computed_again_counted_and_said(
    ask: Ask, counted: Counted, harm: dict[str, Any], kind: str, caplog: pytest.LogCaptureFixture, alice_client: Any
) -> None:
    first = ask()
    entry = Evaluation.objects.filter(kind=kind).order_by("?").first()
    assert entry is not None
    Evaluation.objects.filter(pk=entry.pk).update(**harm)
    before = len(counted.calls), len(counted.runs)
    with caplog.at_level(logging.ERROR):
        second = ask(goal="power")
    assert f"evaluation {entry.key} is damaged" in caplog.text
    done = len(counted.calls) - before[0], len(counted.runs) - before[1]
    assert done == ((1, 0) if kind == "capacity" else (0, 1))
    assert (second.damaged, progress(second).damaged) == (1, 1)
    assert stored.evaluations_of(second) == stored.evaluations_of(first)
    whole = Evaluation.objects.get(key=entry.key)
    assert (whole.kind, bytes(whole.payload), whole.checksum) == (kind, bytes(entry.payload), entry.checksum)
    page = alice_client.get(f"/studies/{second.pk}/").content.decode()
    assert "1 stored result was damaged and has been computed again" in page
    assert alice_client.get(f"/api/v1/studies/{second.pk}").json()["progress"]["damaged"] == 1
    third = ask(goal="machines")
    assert third.damaged == 0


def test_a_store_that_is_damaged_in_the_middle_of_a_study_and_other_prices_change_none_of_its_results(
    ask: Ask, start: Start, work: Work, counted: Counted
) -> None:
    expected = stored.evaluations_of(ask())
    Evaluation.objects.all().delete()
    Study.unscoped.all().delete()
    study = start()
    while work(2):
        Evaluation.objects.update(payload=b"harmed")
        ShippedPrice.objects.update(usd_per_hour=F("usd_per_hour") * 3)
    study.refresh_from_db()
    assert study.state == State.DONE
    assert stored.evaluations_of(study) == expected


def test_another_engine_version_never_matches(ask: Ask, counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask()
    calls = len(counted.calls)
    monkeypatch.setattr(tasks, "engine_version", lambda: "another")
    second = ask(goal="power")
    assert len(counted.calls) - calls == calls
    assert second.designs.count() == first.designs.count()


@pytest.mark.usefixtures("sent")
def test_the_entries_used_longest_ago_are_evicted_and_answers_stay(ask: Ask, counted: Counted, settings: Any) -> None:
    first = ask()
    shown = study_result(first).rows
    old = set(Evaluation.objects.values_list("key", flat=True))
    Evaluation.objects.update(used_at=timezone.now() - timedelta(days=2))
    touched = list(old)[:4]
    Evaluation.objects.filter(key__in=touched).update(used_at=timezone.now() - timedelta(days=1))
    size = sum(Evaluation.objects.filter(key__in=touched).values_list("size_bytes", flat=True))
    settings.EVALUATIONS_MAX_BYTES = round(size / store.KEPT_SHARE) + 1
    assert store.evict() == len(old) - 4
    assert set(Evaluation.objects.values_list("key", flat=True)) == set(touched)
    Study.unscoped.filter(pk=first.pk).update(error="looked at anew")  # past every cache: another state of the row
    again = Study.unscoped.get(pk=first.pk)
    stored._result.cache_clear()
    assert study_result(again).rows == shown
    calls, left = len(counted.calls), Evaluation.objects.filter(kind="capacity").count()
    settings.EVALUATIONS_MAX_BYTES = 10**9  # what is left stays until a later wave asks for it
    second = ask(goal="power")
    assert len(counted.calls) - calls == calls - left
    assert stored.evaluations_of(second) == stored.evaluations_of(first)


def test_the_store_never_takes_more_than_its_limit_once_studies_have_ended(ask: Ask, settings: Any) -> None:
    settings.EVALUATIONS_MAX_BYTES = 5_000
    for goal in ("cost", "power", "machines"):
        study = ask(goal=goal)
        assert sum(Evaluation.objects.values_list("size_bytes", flat=True)) <= 5_000
        assert progress(study).tried == study.designs.count()


def test_what_an_unfinished_study_has_used_is_not_evicted(
    start: Start, work: Work, counted: Counted, settings: Any
) -> None:
    start()
    work(3)
    settings.EVALUATIONS_MAX_BYTES = 1
    kept = Evaluation.objects.count()
    assert kept > 0
    assert store.evict() == 0
    assert Evaluation.objects.count() == kept
    Study.unscoped.update(state=State.CANCELLED)
    assert store.evict() == kept


def test_what_is_used_again_is_used_latest(ask: Ask, counted: Counted) -> None:
    ask()
    long_ago = timezone.now() - timedelta(days=2)
    Evaluation.objects.update(used_at=long_ago)
    ask(goal="power")
    assert not Evaluation.objects.filter(used_at=long_ago).exists()


def test_a_studys_own_damaged_results_are_said_and_computed_again_when_asked(
    ask: Ask, counted: Counted, work: Work, alice_client: Any, django_capture_on_commit_callbacks: Any
) -> None:
    study = ask()
    was = stored.evaluations_of(study)
    rows = list(study.designs.all()[:2])
    study.designs.filter(pk=rows[0].pk).update(result=b"harmed")
    study.designs.filter(pk=rows[1].pk).update(design=b"harmed")
    Evaluation.objects.all().delete()
    calls = len(counted.calls)
    page = alice_client.get(f"/studies/{study.pk}/")
    assert page.status_code == 200
    assert stored.DAMAGED in page.content.decode()
    assert f'action="/studies/{study.pk}/retry"' in page.content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        services.retry(study, study.created_by)
    work()
    study.refresh_from_db()
    assert study.state == State.DONE
    assert len(counted.calls) - calls == 2
    assert stored.evaluations_of(study) == was
    assert stored.DAMAGED not in alice_client.get(f"/studies/{study.pk}/").content.decode()
    assert {row.status for row in study_result(study).rows} == {found.status for found in was.values()}
