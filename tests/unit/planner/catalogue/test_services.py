"""The catalogue as one user sees it."""

from decimal import Decimal

import pytest
from django.contrib.auth.models import AnonymousUser

from planner.accounts.models import Team, User
from planner.catalogue.models import FigureOverride, Price, PriceBook
from planner.catalogue.services import (
    accelerator_for,
    machine_for,
    model_for,
    price_book_for,
    price_books_for,
    rows_of,
)
from simcore import catalogue
from simcore.spec import Accelerator, SpecError


def override(team: Team, table: str, row_id: str, **figures: str) -> None:
    for field, value in figures.items():
        FigureOverride.objects.create(
            team=team,
            table=table,
            row_id=row_id,
            field=field,
            value=value,
            source="ours",
            date="2026-11",
            status="user",
        )


@pytest.mark.django_db
def test_without_own_rows_it_is_simcores_catalogue() -> None:
    nobody = AnonymousUser()
    for machine_id in catalogue.machine_ids():
        assert machine_for(nobody, machine_id) == catalogue.machine(machine_id)
    for model_id in catalogue.model_ids():
        assert model_for(nobody, model_id) == catalogue.model(model_id)
    for accelerator_id in catalogue.accelerator_ids():
        assert accelerator_for(nobody, accelerator_id) == catalogue.accelerator(accelerator_id)
    assert price_books_for(nobody) == catalogue.price_books()
    assert tuple(rows_of(nobody, "machines")) == catalogue.machine_ids()


def test_a_teams_figure_counts_for_its_members_alone(team: Team, alice: User, bob: User, charlie: User) -> None:
    override(team, "machines", "dgx-h100", host_w="1900")
    assert [machine_for(user, "dgx-h100").host_w for user in (alice, bob, charlie)] == [1900, 1900, 2000]


def test_an_accelerator_with_own_figures_is_inline(team: Team, alice: User, charlie: User) -> None:
    override(team, "accelerators", "h100-80gb", tdp_w="650")
    own = machine_for(alice, "dgx-h100-pcap").accelerator
    assert isinstance(own, Accelerator)
    assert (own.id, own.tdp_w) == ("h100-80gb", 650)
    assert machine_for(alice, "dgx-a100").accelerator == "a100-80gb"
    assert machine_for(charlie, "dgx-h100-pcap").accelerator == "h100-80gb"


def test_a_team_may_have_a_row_of_its_own(team: Team, alice: User, charlie: User) -> None:
    figures = {
        "name": "Ours",
        "accelerator": "h100-80gb",
        "accelerators": "4",
        "nic_bytes_per_s": "25e9",
        "host_w": "900",
    }
    override(team, "machines", "ours", **figures, nameplate_w="5000")
    assert machine_for(alice, "ours").accelerators == 4
    assert list(rows_of(alice, "machines"))[-1] == "ours"
    with pytest.raises(SpecError, match="machine: found 'ours', expected one of dgx-a100"):
        machine_for(charlie, "ours")


def test_a_wrong_figure_is_named(team: Team, alice: User) -> None:
    override(team, "machines", "dgx-h100", host_w="much")
    with pytest.raises(SpecError, match=r"dgx-h100\.host_w: found 'much', expected a finite number"):
        machine_for(alice, "dgx-h100")


def test_a_teams_book_stands_in_for_the_shipped_one(team: Team, alice: User, charlie: User) -> None:
    book = PriceBook.objects.create(team=team, book_id="list", name="Ours", date="2026-11-01")
    Price.objects.create(
        book=book, machine="dgx-h100", usd_per_hour=Decimal("30.125"), source="offer", date="2026-11-01", status="user"
    )
    assert price_book_for(alice, "list").price("dgx-h100").usd_per_hour == Decimal("30.125")
    assert price_book_for(charlie, "list") == catalogue.price_book("list")
    assert str(price_book_for(charlie, "list").price("dgx-a100").usd_per_hour) == "28.00"


def test_what_is_unknown_is_named_with_the_nearest(alice: User) -> None:
    for call, words in (
        (lambda: machine_for(alice, "dgx-h10"), "nearest: 'dgx-h100'"),
        (lambda: model_for(alice, "bloom"), "nearest: 'bloom-176b'"),
        (lambda: price_book_for(alice, "lst"), "nearest: 'list'"),
    ):
        with pytest.raises(SpecError, match=words):
            call()
