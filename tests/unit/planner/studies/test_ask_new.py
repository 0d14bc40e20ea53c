"""The button that asks a new question, pressed twice, by two people, in two tabs."""

import threading

import pytest
from django.db import connection
from django.test import Client

from planner.accounts.models import User
from planner.scenarios.errors import FieldErrors
from planner.scenarios.models import Scenario
from planner.studies import services
from planner.studies.models import Study
from tests.unit.planner.studies.conftest import Inputs

Sent = list[tuple[str, str]]


def test_a_second_press_leads_to_the_study_under_way(inputs: Inputs, sent: Sent, alice_client: Client) -> None:
    addresses = {alice_client.post("/", inputs)["Location"] for _ in range(2)}
    assert addresses == {f"/studies/{Study.unscoped.get().pk}/"}
    assert Scenario.unscoped.count() == 1


def test_another_question_is_a_study_of_its_own(inputs: Inputs, sent: Sent, alice_client: Client) -> None:
    alice_client.post("/", inputs)
    alice_client.post("/", inputs | {"rate_req_per_s": 11})
    assert Study.unscoped.count() == 2


def test_another_persons_is_theirs(inputs: Inputs, sent: Sent, alice: User, bob: User) -> None:
    studies = {services.ask_new(user, inputs).created_by for user in (alice, bob)}
    assert studies == {alice, bob}


def test_once_it_has_ended_it_is_asked_anew(inputs: Inputs, sent: Sent, alice: User) -> None:
    first = services.ask_new(alice, inputs)
    services.cancel(first, first.created_by)
    assert services.ask_new(alice, inputs) != first


def test_a_question_of_a_shipped_one_pressed_twice_is_one(inputs: Inputs, sent: Sent, alice_client: Client) -> None:
    shipped = services.ask_new(User.objects.get(username="alice"), inputs)
    Scenario.unscoped.update(shipped_id="shipped")
    changed = inputs | {"rate_req_per_s": 11}
    addresses = {alice_client.post(f"/studies/{shipped.pk}/ask", changed)["Location"] for _ in range(2)}
    assert len(addresses) == 1
    assert Study.unscoped.count() == 2


def test_a_question_that_cannot_be_asked_leaves_nothing(
    inputs: Inputs, sent: Sent, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise FieldErrors({"model": "gone"})

    monkeypatch.setattr(services, "compile_question", refuse)
    with pytest.raises(FieldErrors):
        services.ask_new(alice, inputs)
    assert not Scenario.unscoped.exists()


@pytest.mark.django_db(transaction=True)
def test_presses_at_once_start_one_study(inputs: Inputs, sent: Sent, alice: User) -> None:
    studies: list[int] = []

    def press() -> None:
        try:
            studies.append(services.ask_new(alice, inputs).pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert studies == [Study.unscoped.get().pk] * 4
    assert len(sent) == 1
