"""Messages are hints: lost ones are sent again, rows decide."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from planner.accounts.models import Team
from planner.celery import app
from planner.studies import leases, queue
from planner.studies.leases import LEASE_S, State
from planner.studies.models import Wave
from tests.unit.planner.bare_study import bare_study


@pytest.fixture
def wave(team: Team) -> Wave:
    study = bare_study(team)
    return Wave.objects.create(study=study, number=0)


@pytest.fixture(autouse=True)
def _empty_queue() -> Iterator[None]:
    queue.purge()
    yield
    queue.purge()


def messages() -> list[dict[str, Any]]:
    with app.connection_for_read() as connection:
        waiting = connection.SimpleQueue(app.conf.task_default_queue)
        return [waiting.get(block=False).payload for _ in range(queue.depth())]


def aged(wave: Wave, **seconds: float) -> None:
    then = {name: timezone.now() - timedelta(seconds=age_s) for name, age_s in seconds.items()}
    Wave.objects.filter(pk=wave.pk).update(**then)


def test_a_message_is_the_rows_id_and_nothing_else(wave: Wave) -> None:
    queue.send_id(Wave, wave.pk)
    (message,) = messages()
    assert message[0] == [str(wave.pk)]
    assert message[1] == {}


@pytest.mark.django_db(transaction=True)
def test_it_is_sent_after_the_commit(wave: Wave) -> None:
    from django.db import transaction

    with transaction.atomic():
        queue.send(wave)
        assert queue.depth() == 0
    assert queue.depth() == 1


def test_a_lost_message_is_sent_again(wave: Wave) -> None:
    queue.reap()
    assert queue.depth() == 0  # too early: it may be on its way
    aged(wave, sent_at=queue.RESEND_S + 1)
    queue.reap()
    assert queue.depth() == 1


def test_while_messages_wait_none_is_doubled(wave: Wave) -> None:
    queue.send_id(Wave, wave.pk)
    aged(wave, sent_at=queue.RESEND_S + 1)
    queue.reap()
    assert queue.depth() == 1


def test_what_a_dead_worker_held_is_queued_and_sent(wave: Wave) -> None:
    leases.claim(Wave, wave.pk)
    aged(wave, heartbeat_at=LEASE_S + 1)
    queue.reap()
    wave.refresh_from_db()
    assert wave.state == State.QUEUED
    assert queue.depth() == 1


def test_ended_rows_are_left_alone(wave: Wave) -> None:
    Wave.objects.filter(pk=wave.pk).update(state=State.DONE, sent_at=timezone.now() - timedelta(days=1))
    queue.reap()
    assert queue.depth() == 0


def test_no_message_is_seen_before_it_is_whole(wave: Wave, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that looks at any moment of the writing finds nothing, or all of it."""
    seen: list[int] = []
    write = Path.write_text

    def watched(path: Path, text: str, **options: Any) -> int:
        write(path, "", **options)
        seen.append(queue.depth())
        return write(path, text, **options)

    monkeypatch.setattr(Path, "write_text", watched)
    queue.send_id(Wave, wave.pk)
    assert seen == [0]
    assert [message[0] for message in messages()] == [[str(wave.pk)]]
