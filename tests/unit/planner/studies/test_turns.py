"""A question asked a moment later does not wait for all of an earlier one's designs."""

from datetime import timedelta

import pytest
from django.utils import timezone

from planner.studies.leases import LeasedRow, State
from planner.studies.models import Shard, Study, Wave
from planner.studies.turns import row_in_turn, take_turns
from tests.unit.planner.bare_study import bare_study

pytestmark = pytest.mark.django_db


def study_with_shards(team, shards: int) -> tuple[Study, list[Shard]]:
    study = bare_study(team)
    wave = Wave.objects.create(study=study, number=0, state=State.DONE)
    return study, [Shard.objects.create(wave=wave, number=number) for number in range(shards)]


def serve(row: LeasedRow, seconds_ago: float) -> None:
    type(row).objects.filter(pk=row.pk).update(
        state=State.RUNNING, started_at=timezone.now() - timedelta(seconds=seconds_ago)
    )


def test_a_study_alone_runs_in_the_order_of_its_messages(team):
    _, shards = study_with_shards(team, 3)
    serve(shards[0], 5)
    assert row_in_turn(shards[2]) == shards[2]


def test_the_study_that_was_never_served_comes_first(team):
    _, large = study_with_shards(team, 3)
    serve(large[0], 5)
    _, small = study_with_shards(team, 2)
    assert row_in_turn(large[1]) == small[0]


def test_then_they_take_turns(team):
    _, large = study_with_shards(team, 3)
    serve(large[0], 5)
    _, small = study_with_shards(team, 2)
    serve(small[0], 1)
    assert row_in_turn(small[1]) == large[1]
    assert row_in_turn(large[1]) == large[1]


def test_a_new_studys_first_wave_is_planned_before_anothers_shards(team):
    _, large = study_with_shards(team, 2)
    serve(large[0], 5)
    wave = Wave.objects.create(study=bare_study(team), number=0)
    assert row_in_turn(large[1]) == wave


def test_a_study_with_nothing_queued_waits_for_nothing(team):
    _, large = study_with_shards(team, 2)
    serve(large[0], 5)
    bare_study(team)
    assert row_in_turn(large[1]) == large[1]


def test_a_row_that_gives_way_is_sent_again(team, monkeypatch):
    _, large = study_with_shards(team, 2)
    serve(large[0], 5)
    _, small = study_with_shards(team, 1)
    sent, worked = [], []
    monkeypatch.setattr("planner.studies.queue.send_id", lambda model, pk: sent.append((model, pk)))
    take_turns(large[1], worked.append, for_s=0)
    assert (sent, worked) == ([(Shard, large[1].pk)], [small[0]])


def test_a_worker_that_is_awake_goes_on_with_all_that_is_queued_study_by_study(team, monkeypatch):
    _, large = study_with_shards(team, 3)
    _, small = study_with_shards(team, 2)
    sent, worked = [], []
    monkeypatch.setattr("planner.studies.queue.send_id", lambda model, pk: sent.append((model, pk)))

    def work(row: LeasedRow) -> None:
        worked.append(row)
        type(row).objects.filter(pk=row.pk).update(state=State.DONE, started_at=timezone.now())

    take_turns(large[1], work, for_s=60)
    assert (sent, worked) == ([], [large[1], small[0], large[0], small[1], large[2]])


def test_a_message_about_a_row_that_is_done_is_one_about_what_is_queued(team):
    _, shards = study_with_shards(team, 2)
    Shard.objects.filter(pk=shards[0].pk).update(state=State.DONE)
    shards[0].refresh_from_db()
    worked: list[LeasedRow] = []
    take_turns(shards[0], worked.append, for_s=60)
    assert worked == [shards[0], shards[1]]  # a claim on the first fails


def test_a_row_that_cannot_be_taken_is_not_tried_for_ever(team):
    _, shards = study_with_shards(team, 1)
    worked: list[LeasedRow] = []
    take_turns(shards[0], worked.append, for_s=60)
    assert worked == [shards[0]]


def test_a_study_that_begins_anew_throws_the_row_away_that_was_worked_on(team, monkeypatch):
    _, old = study_with_shards(team, 1)
    _, other = study_with_shards(team, 1)
    serve(other[0], 5)
    Shard.objects.filter(pk=other[0].pk).update(state=State.QUEUED)
    monkeypatch.setattr("planner.studies.queue.send_id", lambda model, pk: None)
    worked = []

    def work(row: LeasedRow) -> None:
        worked.append(row.pk)
        row.wave.delete()

    take_turns(old[0], work, for_s=60)
    assert worked == [old[0].pk, other[0].pk]
