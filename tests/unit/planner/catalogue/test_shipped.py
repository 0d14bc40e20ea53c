"""Loading the catalogue: complete, idempotent, and never over a team's own rows."""

from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command

from planner.accounts.models import Team
from planner.catalogue.models import FigureOverride, Price, PriceBook, ShippedFigure, ShippedPrice
from planner.catalogue.shipped import load_shipped
from simcore import catalogue

pytestmark = pytest.mark.django_db


def test_a_migrated_database_has_the_whole_catalogue() -> None:
    assert ShippedFigure.objects.count() == sum(len(catalogue.figures(table)) for table in catalogue.TABLES)
    assert ShippedPrice.objects.count() == sum(len(book.prices) for book in catalogue.price_books().values())


def test_loading_again_changes_nothing() -> None:
    before = list(ShippedFigure.objects.values())
    again = load_shipped()
    assert (again.added, again.changed, again.withdrawn) == (0, 0, 0)
    assert again.unchanged > 150
    assert list(ShippedFigure.objects.values()) == before


def test_loading_mends_shipped_rows_and_leaves_the_teams_own(team: Team) -> None:
    ShippedFigure.objects.filter(row_id="dgx-h100", field="host_w").update(value="1")
    ShippedFigure.objects.filter(row_id="dgx-h100", field="nameplate_w").delete()
    ShippedFigure.objects.create(
        table="machines", row_id="old", field="name", value="Old", source="x", date="2020", status="memory", position=0
    )
    own = FigureOverride.objects.create(
        team=team, table="machines", row_id="dgx-h100", field="host_w", value="1900", unit="W", source="our meter",
        date="2026-11", status="user",
    )  # fmt: skip
    book = PriceBook.objects.create(team=team, book_id="list", name="Ours", date="2026-11-01")
    Price.objects.create(
        book=book, machine="dgx-h100", usd_per_hour=Decimal("30"), source="offer", date="2026-11-01", status="user"
    )
    out = StringIO()
    call_command("load_catalogue", stdout=out)
    assert "1 added, 1 changed, 1 withdrawn" in out.getvalue()
    assert "2 of the teams' own kept" in out.getvalue()
    own.refresh_from_db()
    assert own.value == "1900"
    assert ShippedFigure.objects.get(row_id="dgx-h100", field="host_w").value == "2000"
    assert book.prices.get().usd_per_hour == 30
