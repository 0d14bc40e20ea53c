"""Cancel keeps what is computed; retry goes on; what a reaper gives up does not hold a study up."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from planner.accounts.models import Membership, Role, Team, User
from planner.studies import exports, queue, results, services, tasks
from planner.studies.leases import MAX_ATTEMPTS, State
from planner.studies.models import Shard, Study
from planner.studies.results import progress, study_result
from simcore.evaluation import Design
from tests.unit.planner.studies.conftest import Counted

Start = Callable[[], Study]
Work = Callable[..., int]


def test_a_cancelled_study_keeps_its_designs_and_does_no_more(start: Start, work: Work, counted: Counted) -> None:
    study = start()
    work(3)
    tried = progress(study).tried
    services.cancel(study, study.created_by)
    assert work() > 0
    study.refresh_from_db()
    assert study.state == State.CANCELLED
    assert study.is_partial
    assert progress(study).tried == tried == len(study_result(study).rows) > 0
    assert len(counted.calls) == tried


def test_a_running_studys_json_says_one_number(
    start: Start, work: Work, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = start()
    work(3)
    study.refresh_from_db()

    def later(study: Study) -> results.Progress:
        """Another design is tried each time that somebody looks."""
        looks.append(len(looks) + 1)
        return replace(progress(study), tried=len(looks), total=99)

    looks: list[int] = []
    monkeypatch.setattr(results, "progress", later)
    monkeypatch.setattr(exports, "progress", later)
    told = exports.summary(study)
    assert f"{told['progress']['tried']} of 99 tried" in told["answer"][0]["text"]


def test_a_cancel_in_the_middle_of_a_design_writes_nothing_more(start: Start, work: Work, counted: Counted) -> None:
    study = start()
    work(1)
    counted.before = lambda design: services.cancel(study, study.created_by)
    work()
    study.refresh_from_db()
    assert study.state == State.CANCELLED
    assert len(counted.calls) == 1
    assert not study.designs.exclude(origin="").exists()


def test_a_study_cancelled_before_it_began_has_no_designs(start: Start, work: Work, counted: Counted) -> None:
    study = start()
    services.cancel(study, study.created_by)
    work()
    study.refresh_from_db()
    assert (study.state, study.designs.count(), counted.calls) == (State.CANCELLED, 0, [])


def test_a_finished_study_cannot_be_cancelled(start: Start, work: Work, counted: Counted) -> None:
    study = start()
    work()
    services.cancel(study, study.created_by)
    study.refresh_from_db()
    assert study.state == State.DONE


@pytest.mark.parametrize("after", [0, 1, 3, 1000])
def test_retry_goes_on_where_it_was_cancelled(
    start: Start, work: Work, counted: Counted, after: int, django_capture_on_commit_callbacks
) -> None:
    study = start()
    work(after)
    services.cancel(study, study.created_by)
    with django_capture_on_commit_callbacks(execute=True):
        services.retry(study, study.created_by)
    work()
    study.refresh_from_db()
    assert study.state == State.DONE
    assert counted.designs == study.designs.count()


def test_the_pause_before_a_retry_is_not_counted(
    start: Start, work: Work, counted: Counted, django_capture_on_commit_callbacks
) -> None:
    study = start()
    work(3)
    services.cancel(study, study.created_by)
    began = timezone.now() - timedelta(hours=2)
    Study.unscoped.filter(pk=study.pk).update(started_at=began, finished_at=began + timedelta(seconds=40))
    for _ in range(2):
        study.refresh_from_db()
        assert 40 <= study.elapsed_s < 70
        with django_capture_on_commit_callbacks(execute=True):
            services.retry(study, study.created_by)
        work()


def test_retry_tries_failed_designs_again(
    start: Start, work: Work, counted: Counted, django_capture_on_commit_callbacks
) -> None:
    def fail_first(design: Design) -> None:
        if len(counted.calls) == 1:
            raise OSError("disk full")

    counted.before = fail_first
    study = start()
    work()
    assert progress(study).failed == 1
    with django_capture_on_commit_callbacks(execute=True):
        services.retry(study, study.created_by)
    work()
    study.refresh_from_db()
    assert (study.state, progress(study).failed) == (State.DONE, 0)


def test_retry_of_a_complete_study_changes_nothing(start: Start, work: Work, counted: Counted) -> None:
    study = start()
    work()
    study.refresh_from_db()
    before = study.finished_at
    services.retry(study, study.created_by)
    study.refresh_from_db()
    assert (study.state, study.finished_at) == (State.DONE, before)


def test_a_shard_that_kills_its_worker_is_given_up_and_the_study_goes_on(
    start: Start, work: Work, counted: Counted, django_capture_on_commit_callbacks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "depth", lambda: 1)
    study = start()
    work(1)
    shard = Shard.objects.order_by("pk").first()
    assert shard is not None
    long_ago = shard.sent_at.replace(year=2000)
    Shard.objects.filter(pk=shard.pk).update(state=State.RUNNING, attempt=MAX_ATTEMPTS, heartbeat_at=long_ago)
    work()
    with django_capture_on_commit_callbacks(execute=True):
        queue.reap()
    work()
    study.refresh_from_db()
    assert study.state == State.DONE
    assert all("The worker stopped" in design.failure for design in shard.designs.all())
    assert progress(study).failed == shard.designs.count()


def test_only_the_design_that_kills_its_workers_is_given_up(
    start: Start, work: Work, counted: Counted, django_capture_on_commit_callbacks
) -> None:
    study = start()
    work(1)
    shard = max(Shard.objects.all(), key=lambda one: one.designs.count())
    assert shard.designs.count() > 1
    killer = shard.designs.order_by("order")[0].design_id

    def kill(design: Design) -> None:
        if design.design_id == killer:
            raise KeyboardInterrupt

    counted.before = kill
    long_ago = shard.sent_at.replace(year=2000)
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(KeyboardInterrupt):
            tasks.run_shard(str(shard.pk))
        Shard.objects.filter(pk=shard.pk).update(heartbeat_at=long_ago)
        with django_capture_on_commit_callbacks(execute=True):
            queue.reap()
    work()
    study.refresh_from_db()
    assert study.state == State.DONE
    assert [row.design_id for row in study.designs.exclude(failure="")] == [killer]


def test_a_wave_that_kills_its_worker_fails_the_study(
    start: Start, counted: Counted, django_capture_on_commit_callbacks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "depth", lambda: 1)
    study = start()
    wave = study.waves.get()
    long_ago = wave.sent_at.replace(year=2000)
    study.waves.update(state=State.RUNNING, attempt=MAX_ATTEMPTS, heartbeat_at=long_ago)
    with django_capture_on_commit_callbacks(execute=True):
        queue.reap()
    study.refresh_from_db()
    assert study.state == State.FAILED
    assert "The worker stopped" in study.error


def test_who_may_only_read_cannot_start(revision, team: Team, db: None) -> None:
    viewer = User.objects.create_user("dora")
    Membership.objects.create(team=team, user=viewer, role=Role.VIEWER)
    with pytest.raises(PermissionDenied):
        services.start_study(viewer, revision)
