"""A row is deleted after what depends on it was listed; questions and answers about it stay as they were."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from planner.accounts.models import Team, User
from planner.calibrations.models import Calibration
from planner.catalogue.dependents import dependents
from planner.catalogue.models import FigureOverride, Price, PriceBook
from planner.catalogue.rows import row_or_none
from planner.scenarios.services import create_scenario
from planner.studies import services
from planner.studies.models import Study
from tests.unit.planner.studies.conftest import Counted, Inputs

Work = Callable[..., int]
OURS = {
    "name": "Our box", "accelerator": "h100-80gb", "accelerators": "8", "nic_bytes_per_s": "50e9", "host_w": "2000",
    "nameplate_w": "10200",
}  # fmt: skip


@pytest.fixture
def ours(team: Team, alice: User) -> None:
    """A machine of the team's own, with a price in a book of its own."""
    for field, value in OURS.items():
        FigureOverride.objects.create(
            team=team, table="machines", row_id="ours", field=field, value=value, source="x", date="2026-11"
        )
    book = PriceBook.objects.create(team=team, book_id="offer", name="Offer", date="2026-11-30")
    for machine in ("ours", "dgx-a100"):
        Price.objects.create(book=book, machine=machine, usd_per_hour=30, source="x", date="2026-11-30")


@pytest.fixture
def about_ours(
    ours: None,
    alice: User,
    inputs: Inputs,
    work: Work,
    counted: Counted,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> Study:
    """An answered question about it."""
    asked = {**inputs, "machines": ["ours"], "families": ["sarathi:ours"], "price_book": "offer"}
    with django_capture_on_commit_callbacks(execute=True):
        study = services.start_study(alice, create_scenario(alice, asked, "About ours"))
    work()
    study.refresh_from_db()
    return study


def test_what_depends_on_a_machine_is_listed_before_it_goes(
    about_ours: Study, alice_client: Client, alice: User
) -> None:
    page = unescape(alice_client.get("/catalogue/machines/ours/delete").content.decode())
    assert f'Scenario <a href="/studies/{about_ours.pk}/">About ours</a>' in page
    assert 'Price book <a href="/catalogue/prices/offer">Offer</a>' in page
    before = alice_client.get(f"/api/v1/studies/{about_ours.pk}/designs").json()
    assert before["results"]
    alice_client.post("/catalogue/machines/ours/delete")
    assert row_or_none(alice, "machines", "ours") is None
    assert alice_client.get(f"/api/v1/studies/{about_ours.pk}/designs").json() == before
    result = unescape(alice_client.get(f"/studies/{about_ours.pk}/").content.decode())
    assert "Our box" in result
    assert "not in the catalogue any more" in result
    assert "in the catalogue no more" in alice_client.get("/catalogue/prices/offer").content.decode()


def test_the_question_can_still_be_changed(
    about_ours: Study, alice_client: Client, inputs: Inputs, sent: list[Any]
) -> None:
    alice_client.post("/catalogue/machines/ours/delete")
    alice_client.post("/catalogue/prices/offer/delete")
    asked = {**inputs, "machines": ["ours"], "families": [], "price_book": "offer", "rate_req_per_s": "11"}
    response = alice_client.post(f"/studies/{about_ours.pk}/ask", asked)
    assert response.status_code == 302
    study = Study.unscoped.latest("pk")
    assert [one["machine"]["id"] for one in study.spec["machines"]] == ["ours"]
    assert study.prices == about_ours.prices
    todays = unescape(alice_client.post(f"/studies/{study.pk}/ask", {**asked, "rows": "today"}).content.decode())
    assert "ours" in todays.split('class="error-summary"')[1].split("</ul>")[0]


def test_a_price_book_and_a_model_have_dependents_too(
    about_ours: Study, alice: User, charlie: User, team: Team
) -> None:
    assert [(one.kind, one.name) for one in dependents(alice, "prices", "offer")] == [("scenario", "About ours")]
    Calibration.objects.create(
        team=team, name="Ours at night", model="bloom-176b", accelerator="h100-80gb", content="{}", found={}
    )
    found = [(one.kind, one.name) for one in dependents(alice, "models", "bloom-176b")]
    assert found == [("scenario", "About ours"), ("calibration", "Ours at night")]
    of_h100 = dependents(alice, "accelerators", "h100-80gb")
    assert [(one.kind, one.blocks) for one in of_h100] == [*[("machine", True)] * 3, ("calibration", False)]
    assert [one.name for one in of_h100][2:] == ["Our box", "Ours at night"]
    assert [one.kind for one in dependents(charlie, "models", "bloom-176b")] == []
