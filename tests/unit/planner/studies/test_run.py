"""A study from start to end: waves, shards, and what is written when."""

import itertools
from collections.abc import Callable
from datetime import timedelta

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import OperationalError
from django.utils import timezone

from planner.studies import leases, planning, queue, services, store, stored, tasks, waves
from planner.studies.leases import State
from planner.studies.models import Evaluation, Shard, Study, StudyDesign, Wave
from planner.studies.results import progress, study_result
from simcore.answer.result import StudyResult
from simcore.engine.version import engine_version
from simcore.evaluation import Design
from simcore.rows import DesignRow
from tests.unit.planner.studies.conftest import Counted
from tests.unit.simcore.questions import told

Start = Callable[[], Study]
Work = Callable[..., int]


def test_a_study_runs_to_its_end(start: Start, work: Work, counted: Counted) -> None:
    study = start()
    assert study.state == State.QUEUED
    work()
    study.refresh_from_db()
    assert study.state == State.DONE
    assert study.engine_version == engine_version()
    assert study.started_at is not None
    assert study.finished_at is not None
    assert study.waves.count() >= 2
    assert {wave.state for wave in study.waves.all()} == {State.DONE}
    assert not study.designs.filter(origin="").exists()
    assert counted.designs == study.designs.count() > 10


def test_results_stream_in_and_the_frontier_grows(start: Start, work: Work, counted: Counted) -> None:
    study = start()
    seen: list[StudyResult] = []
    while work(1):
        study.refresh_from_db()
        seen.append(study_result(study))
    for before, after in itertools.pairwise(seen):
        assert evaluated(before) <= evaluated(after)
        assert all(held_at(after, row) >= (row.capacity_req_per_s or 0.0) for row in before.rows)
    frontiers = [{row.design_id for row in result.rows if row.on_cost_frontier} for result in seen]
    assert len({len(evaluated(result)) for result in seen}) > 5
    assert len({frozenset(frontier) for frontier in frontiers}) > 3


def evaluated(result: StudyResult) -> set[str]:
    return {row.design_id for row in result.rows if row.status == "evaluated"}


def held_at(result: StudyResult, row: DesignRow) -> float:
    """What the cost frontier holds for the row's money."""
    frontier = [other for other in result.rows if other.on_cost_frontier and other.usd_per_hour <= row.usd_per_hour]
    return max((other.capacity_req_per_s or 0.0 for other in frontier), default=0.0)


def test_the_result_is_that_of_the_command_line(start: Start, work: Work, counted: Counted) -> None:
    """The same search on the same evaluations, whoever runs it."""
    from simcore.study import context, next_designs

    study = start()
    work()
    asked = context(stored.spec_of(study), study.workload.trace())
    done: dict = {}
    while wave := next_designs(asked, done):
        done |= {design.design_id: told(design, asked, Counted()(design, asked)) for design in wave}
    result = study_result(Study.unscoped.get(pk=study.pk))
    assert {row.design_id: row.status for row in result.rows} == {name: found.status for name, found in done.items()}
    assert result.winner is not None
    assert result.winner.met


def test_a_message_that_comes_twice_is_done_once(
    start: Start, work: Work, sent: list[tuple[str, str]], counted: Counted
) -> None:
    study = start()
    sent *= 2
    work(2)
    sent *= 3
    work()
    study.refresh_from_db()
    assert study.state == State.DONE
    assert counted.designs == study.designs.count()


def test_a_repeated_study_computes_nothing(start: Start, work: Work, counted: Counted) -> None:
    first = start()
    work()
    calls = len(counted.calls)
    second = start()
    work()
    assert second.pk != first.pk
    assert len(counted.calls) == calls
    results = [list(study.designs.values_list("design_id", "result")) for study in (first, second)]
    assert results[0] == results[1]
    assert second.waves.count() == 1
    assert not Shard.objects.filter(wave__study=second).exists()
    second.refresh_from_db()
    assert (second.state, progress(second).known) == (State.DONE, second.designs.count())


def test_another_rate_of_another_study_is_computed_anew(
    alice, inputs, revision, start: Start, work: Work, counted: Counted, django_capture_on_commit_callbacks
) -> None:
    from planner.scenarios.services import save_revision

    start()
    work()
    calls = len(counted.calls)
    changed = save_revision(alice, revision.scenario, inputs | {"rate_req_per_s": 20})
    with django_capture_on_commit_callbacks(execute=True):
        services.start_study(alice, changed)
    work()
    assert len(counted.calls) > calls


def test_a_second_press_of_the_button_starts_nothing(start: Start, work: Work, counted: Counted) -> None:
    first = start()
    assert start().pk == first.pk
    work()
    assert start().pk != first.pk


def test_a_design_that_fails_does_not_fail_the_study(start: Start, work: Work, counted: Counted) -> None:
    broken: list[str] = []

    def break_the_second(design: Design) -> None:
        if len(counted.calls) == 2:
            broken.append(design.design_id)
            raise MemoryError("no memory left")

    counted.before = break_the_second
    study = start()
    work()
    study.refresh_from_db()
    assert study.state == State.DONE
    row = study.designs.get(design_id=broken[0])
    assert (row.result, row.failure) == (None, "MemoryError: no memory left")
    shown = study_result(study).row(broken[0])
    assert shown is not None
    assert (shown.status, shown.reason) == ("failed", "MemoryError: no memory left")
    assert progress(study).failed == 1
    assert Evaluation.objects.filter(kind="capacity").count() == len(counted.calls) - 1


def test_a_wave_that_cannot_be_planned_fails_the_study_with_the_reason(
    start: Start, work: Work, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("families: nothing fits")

    study = start()
    monkeypatch.setattr(planning.search, "next_designs", refuse)
    work()
    study.refresh_from_db()
    assert (study.state, study.error) == (State.FAILED, "families: nothing fits")
    assert study.is_partial


def test_a_worker_that_takes_over_evaluates_only_what_is_left(start: Start, work: Work, counted: Counted) -> None:
    """Killed in the middle of a shard: the designs it had written stay, the others are evaluated once more."""
    study = start()
    work(1)

    def die_at_the_third(design: Design) -> None:
        if len(counted.calls) == 3:
            raise KeyboardInterrupt

    counted.before = die_at_the_third
    with pytest.raises(KeyboardInterrupt):
        work()
    assert StudyDesign.objects.exclude(origin="").count() == 2
    counted.before = lambda design: None
    dead = Shard.objects.get(state=State.RUNNING)
    Shard.objects.filter(pk=dead.pk).update(state=State.QUEUED, claim_id=None)
    tasks.run_shard(str(dead.pk))
    work()
    study.refresh_from_db()
    assert study.state in {State.RUNNING, State.DONE}
    assert len(set(counted.calls)) == len(counted.calls) - 1


def test_nothing_is_written_for_a_shard_that_was_taken_over(start: Start, work: Work, counted: Counted) -> None:
    study = start()
    work(1)

    def take_over(design: Design) -> None:
        Shard.objects.filter(state=State.RUNNING).update(claim_id="00000000-0000-0000-0000-000000000001")

    counted.before = take_over
    work(1)
    shard = Shard.objects.get(state=State.RUNNING)
    assert not shard.designs.exclude(origin="").exists()
    assert len(counted.calls) == 1
    assert study.waves.count() == 1


def test_a_study_of_another_engine_begins_again(
    start: Start, work: Work, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = start()
    work(4)
    monkeypatch.setattr(tasks, "engine_version", lambda: "another")
    work()
    study.refresh_from_db()
    assert (study.state, study.engine_version) == (State.DONE, "another")
    evaluated = [found for found in stored.evaluations_of(study).values() if found.status == "evaluated"]
    assert {found.engine_version for found in evaluated} == {"another"}


def test_a_changed_trace_is_noticed(start: Start, work: Work, counted: Counted) -> None:
    study = start()
    Study.unscoped.filter(pk=study.pk).update(trace_hash="0" * 64)
    work()
    study.refresh_from_db()
    assert study.state == State.FAILED
    assert "not the one that the study was started with" in study.error


def test_waves_are_numbered_once(start: Start, work: Work, counted: Counted) -> None:
    study = start()
    work()
    numbers = list(Wave.objects.filter(study=study).values_list("number", flat=True))
    assert numbers == list(range(len(numbers)))


def test_only_the_last_shard_of_a_wave_begins_the_next(start: Start, work: Work, counted: Counted) -> None:
    study = start()
    work(1)
    held = [leases.claim(Shard, pk) for pk in Shard.objects.values_list("pk", flat=True)]
    claims = [one for one in held if one is not None]
    assert len(claims) > 2
    for one in claims[:-1]:
        waves.end_shard(one, study)
    assert study.waves.count() == 1
    waves.end_shard(claims[-1], study)
    waves.end_shard(claims[-1], study)
    assert study.waves.count() == 2


def test_time_that_runs_out_fails_one_design_and_the_others_go_on(start: Start, work: Work, counted: Counted) -> None:
    def be_slow(design: Design) -> None:
        if len(counted.calls) == 1:
            raise SoftTimeLimitExceeded

    counted.before = be_slow
    study = start()
    work()
    study.refresh_from_db()
    assert (study.state, progress(study).failed) == (State.DONE, 1)
    assert study.designs.exclude(failure="").get().failure == "It took longer to simulate than a task may take."
    assert {shard.attempt for shard in Shard.objects.all()} == {1}


@pytest.mark.parametrize("name", ["plan", "keys_of"])
def test_a_database_that_goes_away_for_a_moment_fails_nothing(
    name: str, start: Start, work: Work, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, lost = getattr(planning, name), [OperationalError("database is locked")]

    def once_lost(*given: object) -> object:
        if lost:
            raise lost.pop()
        return real(*given)

    monkeypatch.setattr(planning, name, once_lost)
    study = start()
    work()
    long_ago = timezone.now() - timedelta(seconds=leases.LEASE_S + 1)
    for model in (Wave, Shard):
        model.objects.filter(state=State.RUNNING).update(heartbeat_at=long_ago)
    queue.reap()
    work()
    study.refresh_from_db()
    assert lost == []
    assert (study.state, progress(study).failed) == (State.DONE, 0)


def test_a_disk_that_stays_full_is_named_as_what_stopped_the_designs(
    start: Start, work: Work, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(entries: object) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(store, "keep", full)
    study = start()
    work()
    for _ in range(leases.MAX_ATTEMPTS):
        long_ago = timezone.now() - timedelta(seconds=leases.LEASE_S + 1)
        for model in (Wave, Shard):
            model.objects.filter(state=State.RUNNING).update(heartbeat_at=long_ago)
        queue.reap()
        work()
    stopped = list(study.designs.exclude(failure="").values_list("failure", flat=True))
    assert stopped
    assert set(stopped) == {
        "The worker stopped in the middle of this 3 times: the database could not be used (database or disk is full)."
    }
