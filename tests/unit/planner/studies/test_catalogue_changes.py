"""A question keeps the rows it was asked with, says where the catalogue has moved on, and takes today's if asked."""

from collections.abc import Callable
from html import unescape
from typing import Any

from django.test import Client

from planner.accounts.models import Team, User
from planner.catalogue.changes import changes_since
from planner.catalogue.dependents import dependents
from planner.catalogue.models import FigureOverride, Price, PriceBook
from planner.catalogue.services import price_book_for
from planner.scenarios.services import create_scenario
from planner.studies import services
from planner.studies.models import Study
from tests.unit.planner.catalogue.test_quotes import BOOK, QUOTE, add
from tests.unit.planner.studies.conftest import Inputs

Start = Callable[[], Study]


def own(team: Team, table: str, row_id: str, **figures: str) -> None:
    for field, value in figures.items():
        FigureOverride.objects.create(
            team=team, table=table, row_id=row_id, field=field, value=value, source="x", date="2026-11", status="user"
        )


def change_everything(team: Team) -> None:
    own(team, "machines", "dgx-h100", host_w="1900")
    own(team, "accelerators", "a100-80gb", tdp_w="390", fp8_flops_per_s="624e12")
    own(team, "models", "bloom-176b", max_model_tokens="4096")
    own(team, "machines", "dgx-b200", host_w="1")
    book = PriceBook.objects.create(team=team, book_id="list", name="List Apr 2026", date="2026-11-01")
    for machine, usd in (("dgx-h100", 30), ("dgx-b200", 1)):
        Price.objects.create(book=book, machine=machine, usd_per_hour=usd, source="offer", date="2026-11-01")


def test_what_changed_is_said_figure_by_figure(start: Start, alice: User, team: Team) -> None:
    rows = start().revision.rows
    assert changes_since(alice, rows) == []
    change_everything(team)
    assert [(one.row, one.figure, one.was, one.now) for one in changes_since(alice, rows)] == [
        ("BLOOM 176B", "Longest sequence", "2,048 tokens", "4,096 tokens"),
        ("DGX A100, A100 80 GB SXM", "TDP", "400 W", "390 W"),
        ("DGX A100, A100 80 GB SXM", "Peak, fp8 dense", "not given", "624 TFLOP/s"),
        ("DGX H100", "Host: CPUs, NICs, switches", "2,000 W", "1,900 W"),
        ("DGX A100 in List Apr 2026", "Price", "28.00 USD an hour, on demand", "not in the catalogue any more"),
        ("DGX H100 in List Apr 2026", "Price", "36.00 USD an hour, on demand", "30.00 USD an hour, on demand"),
    ]
    assert changes_since(alice, {}) == []


def test_a_fabrics_changes_are_said_too(alice: User, team: Team, inputs: Inputs) -> None:
    revision = create_scenario(alice, inputs | {"fabric": "roce-400"})
    own(team, "fabrics", "roce-400", efficiency="0.6")
    (change,) = changes_since(alice, revision.rows)
    assert (change.row, change.was, change.now) == ("RoCE, 400 Gb/s", "0.475", "0.6")
    assert change.address == "/catalogue/fabrics/roce-400"
    assert [one.name for one in dependents(alice, "fabrics", "roce-400")] == [revision.title]


def test_the_page_says_so_and_the_old_answer_stays(
    start: Start, team: Team, alice_client: Client, sent: list[Any]
) -> None:
    study = start()
    before = (study.spec, study.prices)
    assert "The catalogue has changed" not in alice_client.get(f"/studies/{study.pk}/").content.decode()
    own(team, "machines", "dgx-h100", host_w="1900")
    page = unescape(alice_client.get(f"/studies/{study.pk}/").content.decode())
    assert "The catalogue has changed since this was asked: 1 figure." in page
    study.refresh_from_db()
    assert (study.spec, study.prices) == before


def test_asked_again_it_keeps_its_rows_until_todays_are_wanted(
    start: Start, inputs: Inputs, team: Team, alice_client: Client, sent: list[Any]
) -> None:
    study = start()
    own(team, "machines", "dgx-h100", host_w="1900")

    def asked(**more: str) -> Study:
        response = alice_client.post(f"/studies/{study.pk}/ask", {**inputs, **more})
        return Study.unscoped.get(pk=int(response["Location"].split("/")[2]))

    def host_w(of: Study) -> float:
        return next(one["machine"]["host_w"] for one in of.spec["machines"] if one["machine"]["id"] == "dgx-h100")

    changed = asked(rate_req_per_s="11")
    assert (changed.revision.number, host_w(changed)) == (2, 2000)
    todays = asked(rate_req_per_s="11", rows="today")
    assert (todays.revision.number, host_w(todays)) == (3, 1900)
    assert "The catalogue has changed" not in alice_client.get(f"/studies/{todays.pk}/").content.decode()
    from_the_first = asked(rate_req_per_s="12")
    assert (from_the_first.revision.number, host_w(from_the_first)) == (4, 2000)


def test_a_quote_that_has_expired_is_said_on_question_and_result_and_changes_no_amount(
    alice_client: Client, alice: User, inputs: Inputs
) -> None:
    add(alice_client, "quotes", currency="USD", valid_from="", valid_to="2026-01-31")
    preview = unescape(alice_client.get("/preview", inputs).content.decode())
    assert "List Apr 2026: Quote Q-17 of Acme for dgx-h100 expired on 2026-01-31, before " in preview
    assert "(today)" in preview
    study = services.start_study(alice, create_scenario(alice, inputs))
    (kept,) = study.prices["offers"]
    assert kept["valid_to"] == "2026-01-31"
    page = unescape(alice_client.get(f"/studies/{study.pk}/").content.decode())
    assert "Quote Q-17 of Acme for dgx-h100 expired on 2026-01-31" in page
    assert "(the study’s day and today)" in page


def test_quotes_that_changed_since_are_said_and_what_was_asked_keeps_its_own(
    alice_client: Client, alice: User, inputs: Inputs
) -> None:
    add(alice_client, "quotes", currency="USD", breaks="")
    revision = create_scenario(alice, inputs)
    assert changes_since(alice, revision.rows) == []
    (offer,) = price_book_for(alice, "list").offers
    form = alice_client.get(f"{BOOK}/quotes/{offer.key}").context["form"]
    changed = {**QUOTE, "currency": "USD", "breaks": "", "price": "299000", "seen": form["seen"].value()}
    alice_client.post(f"{BOOK}/quotes/{offer.key}", changed)
    add(alice_client, "quotes", currency="USD", quote="Q-18")
    found = {one.figure: (one.was, one.now) for one in changes_since(alice, revision.rows)}
    assert "price 310000" in found["Quote Q-17 of Acme"][0]
    assert "price 299000" in found["Quote Q-17 of Acme"][1]
    assert found["Quote Q-18 of Acme"][0] == "none"
    assert revision.rows["prices"]["offers"][0]["price"] == "310000"
