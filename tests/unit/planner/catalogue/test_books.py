"""Price books: cloned, changed, taken back; a shipped book is never lost."""

from decimal import Decimal
from html import unescape

import pytest
from django.test import Client

from planner.accounts.models import User
from planner.catalogue.books import book_or_none
from planner.catalogue.models import PriceBook
from planner.catalogue.services import price_book_for
from simcore import catalogue
from tests.unit.planner.catalogue.test_editing import FROM


def values(client: Client, address: str, **fields: str) -> dict[str, str]:
    form = client.get(address).context["form"]
    return {field.html_name: str(field.value() or "") for field in form} | FROM | fields


def change(client: Client, address: str, **fields: str) -> tuple[int, str]:
    response = client.post(address, values(client, address, **fields))
    return response.status_code, unescape(response.content.decode())


def test_a_changed_price_stands_beside_the_shipped_one(alice_client: Client, alice: User, charlie: User) -> None:
    status, page = change(alice_client, "/catalogue/prices/list/edit", **{"usd:dgx-h100": "$30.125"})
    assert status == 302, page
    mine = price_book_for(alice, "list")
    assert mine.price("dgx-h100").usd_per_hour == Decimal("30.125")
    assert mine.price("dgx-h100").source == "our meter"
    assert mine.price("dgx-a100") == catalogue.price_book("list").price("dgx-a100")
    assert price_book_for(charlie, "list") == catalogue.price_book("list")
    page = unescape(alice_client.get("/catalogue/prices/list").content.decode())
    assert "Shipped: 36.00 USD" in page
    rest = alice_client.get("/api/v1/catalogue/price-books/list/").json()
    assert (rest["origin"], {one["machine"]: one["own"] for one in rest["prices"]}["dgx-h100"]) == ("overridden", True)


def test_back_to_the_shipped_price_and_book(alice_client: Client, alice: User) -> None:
    change(alice_client, "/catalogue/prices/list/edit", **{"usd:dgx-h100": "30", "usd:dgx-a100": "20"})
    alice_client.post("/catalogue/prices/list/restore", {"machine": "dgx-h100"})
    mine = price_book_for(alice, "list")
    assert [mine.price(one).usd_per_hour for one in ("dgx-h100", "dgx-a100")] == [Decimal(36), Decimal(20)]
    alice_client.post("/catalogue/prices/list/restore", {"machine": "dgx-a100"})
    assert not PriceBook.objects.visible_to(alice).exists()
    change(alice_client, "/catalogue/prices/list/edit", **{"usd:dgx-h100": "30"})
    alice_client.post("/catalogue/prices/list/delete")
    assert price_book_for(alice, "list") == catalogue.price_book("list")


def test_a_book_is_cloned_and_its_prices_keep_their_provenance(alice_client: Client, alice: User) -> None:
    address = "/catalogue/prices/add?like=list"
    status, page = change(
        alice_client, address, id="ours", **{"usd:dgx-h100": "30", "kind:dgx-h100": "reserved", "usd:aws-l4": ""}
    )
    assert status == 302, page
    book = price_book_for(alice, "ours")
    shipped = catalogue.price_book("list")
    assert book.price("dgx-h100").kind == "reserved"
    assert book.price("dgx-a100") == shipped.price("dgx-a100")
    assert {price.machine for price in book.prices} == {price.machine for price in shipped.prices} - {"aws-l4"}
    assert book_or_none(alice, "ours").origin == "own"  # type: ignore[union-attr]
    asked = alice_client.get("/catalogue/prices/ours/delete").content.decode()
    assert "Nothing depends on it" in asked
    alice_client.post("/catalogue/prices/ours/delete")
    assert book_or_none(alice, "ours") is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"usd:dgx-h100": "cheap"}, "Found ‘cheap’, expected dollars an hour"),
        ({"usd:dgx-h100": "0"}, "Found ‘0’, expected dollars an hour"),
        ({"usd:dgx-h100": "1.00001"}, "at most 4 decimals"),
        ({"usd:dgx-h100": "30", "source": ""}, "expected where the prices are from"),
        ({"id": "list"}, "in the catalogue already"),
        ({"id": "x" * 51}, "at most 50"),
        ({"day": "soon"}, "Found ‘soon’, expected a date"),
    ],
)
def test_what_is_wrong_is_said(alice_client: Client, alice: User, fields: dict[str, str], words: str) -> None:
    status, page = change(alice_client, "/catalogue/prices/add?like=list", **{"id": "ours", **fields})
    assert (status, words in page) == (422, True), page
    assert not PriceBook.objects.visible_to(alice).exists()


def test_a_change_in_between_is_noticed(alice_client: Client, bob_client: Client, alice: User) -> None:
    address = "/catalogue/prices/list/edit"
    mine = values(alice_client, address, **{"usd:dgx-h100": "30"})
    change(bob_client, address, **{"usd:dgx-a100": "20"})
    response = alice_client.post(address, mine, follow=True)
    assert "Somebody changed it since" in response.content.decode()
    assert price_book_for(alice, "list").price("dgx-h100").usd_per_hour == 36


def test_strangers_see_nothing_of_a_teams_book(alice_client: Client, charlie_client: Client) -> None:
    change(alice_client, "/catalogue/prices/add?like=list", id="ours")
    for address in ("ours", "ours/edit", "ours/delete"):
        assert charlie_client.get(f"/catalogue/prices/{address}").status_code == 404
