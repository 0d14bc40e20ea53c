"""One worker at a time holds a row, and only the holder writes."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from planner.accounts.models import Team, User
from planner.studies import leases
from planner.studies.leases import LEASE_S, MAX_ATTEMPTS, Claim, Heartbeat, LostClaimError, State
from planner.studies.models import Wave
from tests.services import until
from tests.unit.planner.bare_study import bare_study


@pytest.fixture
def wave(alice: User, team: Team) -> Wave:
    study = bare_study(team)
    return Wave.objects.create(study=study, number=0)


def claimed(wave: Wave) -> Claim:
    held = leases.claim(Wave, wave.pk)
    assert held is not None
    return held


def let_the_lease_run_out(wave: Wave) -> None:
    Wave.objects.filter(pk=wave.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=LEASE_S + 1))


def state_of(wave: Wave) -> str:
    wave.refresh_from_db()
    return wave.state


def test_a_claim_takes_a_queued_row(wave: Wave) -> None:
    held = claimed(wave)
    assert state_of(wave) == State.RUNNING
    assert (wave.claim_id, wave.attempt, held.attempt) == (held.claim_id, 1, 1)


def test_a_second_claimer_gets_nothing(wave: Wave) -> None:
    claimed(wave)
    assert leases.claim(Wave, wave.pk) is None


def test_a_claim_of_a_row_that_is_not_there_gets_nothing(db: None) -> None:
    assert leases.claim(Wave, 999) is None


def test_a_lease_that_ran_out_goes_to_the_next_under_a_new_id(wave: Wave) -> None:
    first = claimed(wave)
    let_the_lease_run_out(wave)
    second = claimed(wave)
    assert second.claim_id != first.claim_id
    assert second.attempt == 2


@pytest.mark.parametrize(
    "write",
    [Claim.beat, Claim.finish, Claim.give_back, lambda held: held.fail("no"), lambda held: held.update(error="x")],
    ids=["beat", "finish", "give_back", "fail", "update"],
)
def test_nothing_is_written_under_a_lost_claim(wave: Wave, write: Callable[[Claim], bool]) -> None:
    first = claimed(wave)
    let_the_lease_run_out(wave)
    second = claimed(wave)
    assert write(first) is False
    assert state_of(wave) == State.RUNNING
    assert (wave.claim_id, wave.error) == (second.claim_id, "")


def test_rows_written_under_a_lost_claim_are_undone(wave: Wave) -> None:
    held = claimed(wave)
    leases.cancel(Wave.objects.filter(pk=wave.pk))
    with pytest.raises(LostClaimError), held.writing():
        Wave.objects.create(study=wave.study, number=1)
    assert not Wave.objects.filter(number=1).exists()


def test_finish_and_fail_end_the_claim(wave: Wave) -> None:
    held = claimed(wave)
    assert held.fail("too little memory")
    assert state_of(wave) == State.FAILED
    assert (wave.error, wave.claim_id) == ("too little memory", None)
    assert not held.finish()


@pytest.mark.parametrize(
    ("left", "why"),
    [("", "too little memory is the usual cause."), ("the database could not be used (disk full).",) * 2],
)
def test_a_row_that_is_given_up_says_what_its_last_attempt_left(wave: Wave, left: str, why: str) -> None:
    for _ in range(leases.MAX_ATTEMPTS):
        held = claimed(wave)
        if left:
            held.leave(left)
        let_the_lease_run_out(wave)
        leases.requeue_expired(Wave)
    assert state_of(wave) == State.FAILED
    assert wave.error == f"The worker stopped in the middle of this 3 times: {why}"


def test_what_is_given_back_does_not_count_as_an_attempt(wave: Wave) -> None:
    assert claimed(wave).give_back()
    assert state_of(wave) == State.QUEUED
    assert wave.attempt == 0


def test_cancel_takes_the_claim_away_and_leaves_ended_rows(wave: Wave) -> None:
    held = claimed(wave)
    done = Wave.objects.create(study=wave.study, number=1, state=State.DONE)
    assert leases.cancel(Wave.objects.all()) == 1
    assert state_of(wave) == State.CANCELLED
    assert state_of(done) == State.DONE
    assert not held.beat()
    assert leases.claim(Wave, wave.pk) is None


def test_rows_of_dead_workers_are_queued_again(wave: Wave) -> None:
    claimed(wave)
    assert leases.requeue_expired(Wave) == []
    let_the_lease_run_out(wave)
    assert leases.requeue_expired(Wave) == [wave.pk]
    assert state_of(wave) == State.QUEUED


def test_the_third_dead_worker_fails_the_row(wave: Wave) -> None:
    for _ in range(MAX_ATTEMPTS):
        claimed(wave)
        let_the_lease_run_out(wave)
    assert leases.claim(Wave, wave.pk) is None
    assert leases.requeue_expired(Wave) == []
    assert state_of(wave) == State.FAILED
    assert "3 times" in wave.error


@pytest.mark.parametrize(("forget", "attempt"), [(True, 0), (False, 1)])
def test_a_start_queues_every_running_row(wave: Wave, forget: bool, attempt: int) -> None:
    claimed(wave)
    assert leases.requeue_running(Wave, forget_attempts=forget) == 1
    assert state_of(wave) == State.QUEUED
    assert wave.attempt == attempt


def test_a_row_that_ends_its_worker_each_time_is_given_up(wave: Wave) -> None:
    for _ in range(MAX_ATTEMPTS):
        claimed(wave)
        leases.requeue_running(Wave, forget_attempts=False)
    assert state_of(wave) == State.FAILED


@pytest.mark.django_db(transaction=True)
def test_of_many_claimers_at_once_one_wins(wave: Wave) -> None:
    won: list[Any] = []
    at_once = threading.Barrier(6)

    def contend() -> None:
        at_once.wait()
        won.append(leases.claim(Wave, wave.pk))
        connection.close()

    threads = [threading.Thread(target=contend) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [held is None for held in won].count(False) == 1
    assert len(won) == 6


@pytest.mark.django_db(transaction=True)
def test_a_heartbeat_keeps_the_lease_and_notices_a_cancel(wave: Wave, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_S", 0.02)
    held = claimed(wave)
    let_the_lease_run_out(wave)
    with Heartbeat(held) as heart:
        until(lambda: not Wave.objects.filter(leases.expired(timezone.now())).exists())
        heart.check()
        leases.cancel(Wave.objects.filter(pk=wave.pk))
        assert heart.lost.wait(10)
        with pytest.raises(LostClaimError):
            heart.check()
