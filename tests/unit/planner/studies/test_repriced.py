"""A list of questions says by how much an answer costs more at today's prices."""

from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client

from planner.accounts.models import Team
from planner.catalogue.models import Price, PriceBook
from planner.studies.models import Study
from tests.unit.planner.studies.conftest import Counted

LISTED = {"dgx-a100": 28.0, "dgx-h100": 36.0}


@pytest.fixture
def done(start: Callable[[], Study], work: Callable[..., int], counted: Counted) -> Study:
    study = start()
    work()
    return study


def headline(client: Client, study: Study) -> str:
    return unescape(client.get(f"/studies/{study.pk}/headline").content.decode())


def own_book(team: Team, times: float, *machines: str) -> None:
    book = PriceBook.objects.create(team=team, book_id="list", name="List Apr 2026", date="2026-11-01")
    for machine in machines:
        Price.objects.create(
            book=book, machine=machine, usd_per_hour=LISTED[machine] * times, source="offer", date="2026-11-01"
        )


@pytest.mark.parametrize(("times", "said"), [(1.1, "+10 %"), (0.97, "−3 %")])
def test_prices_that_moved_are_said_by_their_share(
    done: Study, team: Team, alice_client: Client, times: float, said: str
) -> None:
    before = headline(alice_client, done)
    assert "prices changed" not in before
    own_book(team, times, *LISTED)
    assert f"[prices changed: {said}]" in headline(alice_client, done)
    assert before.partition("</span>")[0].strip() in headline(alice_client, done)


def test_the_same_prices_or_none_say_nothing(done: Study, team: Team, alice_client: Client) -> None:
    own_book(team, 1.0, *LISTED)
    assert "prices changed" not in headline(alice_client, done)
    Price.objects.filter(machine="dgx-h100").delete()
    assert "prices changed" not in headline(alice_client, done)
