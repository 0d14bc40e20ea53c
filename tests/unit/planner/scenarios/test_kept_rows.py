"""A scenario keeps the catalogue's rows as they were: a later edit changes neither it nor its answer, until it is asked
for."""

from decimal import Decimal

import pytest

from planner.accounts.models import Team, User
from planner.catalogue.models import FigureOverride, Price, PriceBook
from planner.scenarios.choices import Choices
from planner.scenarios.errors import FieldErrors
from planner.scenarios.models import Revision
from planner.scenarios.services import create_scenario, save_revision
from planner.studies.spec import compile_question
from simcore.catalogue import machine, resolve_machine
from tests.unit.planner.scenarios.conftest import Inputs

OURS = {
    "name": "Ours", "accelerator": "h100-80gb", "accelerators": "4", "nic_bytes_per_s": "25e9", "host_w": "900",
    "nameplate_w": "5000",
}  # fmt: skip


def own(team: Team, row_id: str, **figures: str) -> None:
    for field, value in figures.items():
        FigureOverride.objects.create(
            team=team, table="machines", row_id=row_id, field=field, value=value, source="x", date="2026-11"
        )


def own_list(team: Team, **prices: int) -> None:
    book = PriceBook.objects.create(team=team, book_id="list", name="Ours", date="2026-11-01")
    for name, usd in prices.items():
        Price.objects.create(book=book, machine=name.replace("_", "-"), usd_per_hour=usd, source="x", date="2026-11")


def asked(user: User, revision: Revision) -> dict[str, tuple[float, Decimal]]:
    """Host watts and price of each machine that a study of the revision would have."""
    question = compile_question(user, revision.inputs, revision.rows)
    machines = [resolve_machine(choice.machine) for choice in question.spec.machines]
    return {one.id: (one.host_w, question.prices.price(one.id).usd_per_hour) for one in machines}


def test_a_revision_keeps_its_rows_through_edits_of_the_catalogue(alice: User, team: Team, typed: Inputs) -> None:
    revision = create_scenario(alice, typed)
    before = asked(alice, revision)
    own(team, "dgx-h100", host_w="1")
    own_list(team, dgx_h100=1, dgx_a100=2)
    assert asked(alice, Revision.objects.get(pk=revision.pk)) == before
    later = save_revision(alice, revision.scenario, typed | {"rate_req_per_s": "85"})
    assert asked(alice, later) == before


def test_todays_rows_are_taken_when_asked_for(alice: User, team: Team, typed: Inputs) -> None:
    revision = create_scenario(alice, typed)
    own(team, "dgx-h100", host_w="1")
    own_list(team, dgx_h100=1, dgx_a100=2)
    later = save_revision(alice, revision.scenario, typed | {"rows": "today"})
    assert later.number == 2
    assert asked(alice, later) == {"dgx-h100": (1, Decimal(1)), "dgx-a100": (machine("dgx-a100").host_w, Decimal(2))}


def test_a_machine_newly_chosen_has_todays_figures_and_price(alice: User, team: Team, typed: Inputs) -> None:
    own_list(team, dgx_h100=36, dgx_a100=28)
    revision = create_scenario(alice, typed)
    PriceBook.unscoped.all().delete()
    own_list(team, dgx_h100=1, dgx_a100=2, ours=9)
    own(team, "dgx-h100", host_w="1")
    own(team, "ours", **OURS)
    later = save_revision(alice, revision.scenario, typed | {"machines": ["dgx-h100", "ours"]})
    assert asked(alice, later) == {"dgx-h100": (machine("dgx-h100").host_w, Decimal(36)), "ours": (900, Decimal(9))}


def test_a_machine_that_the_catalogue_has_no_more_can_still_be_asked_about(
    alice: User, team: Team, typed: Inputs
) -> None:
    own(team, "ours", **OURS)
    own_list(team, dgx_h100=36, ours=9)
    typed = typed | {"machines": ["dgx-h100", "ours"]}
    revision = create_scenario(alice, typed)
    FigureOverride.unscoped.all().delete()
    PriceBook.unscoped.all().delete()
    assert ("ours", "Ours") in Choices.of(alice, revision.rows).machines
    later = save_revision(alice, revision.scenario, typed | {"rate_req_per_s": "85"})
    assert asked(alice, later)["ours"] == (900, Decimal(9))
    with pytest.raises(FieldErrors, match="machines"):
        save_revision(alice, revision.scenario, typed | {"rows": "today"})


def test_an_unchanged_save_is_no_revision_even_where_the_catalogue_changed(
    alice: User, team: Team, typed: Inputs
) -> None:
    revision = create_scenario(alice, typed)
    own(team, "dgx-h100", host_w="1")
    own_list(team, dgx_h100=1, dgx_a100=2, dgx_b200=3)
    assert save_revision(alice, revision.scenario, typed) == revision


def test_a_revision_of_before_takes_todays_rows(alice: User, team: Team, typed: Inputs) -> None:
    revision = create_scenario(alice, typed)
    Revision.objects.update(rows={})
    own(team, "dgx-h100", host_w="1")
    revision.refresh_from_db()
    assert asked(alice, revision)["dgx-h100"][0] == 1
