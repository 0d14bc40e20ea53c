"""Quotes and currencies of a price book: entered, converted, imported, exported, and said where they do not hold."""

import csv
import io
from datetime import timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from planner.accounts.models import User
from planner.catalogue.books import by_machine
from planner.catalogue.services import price_book_for
from simcore import catalogue
from simcore.spec import Break, PriceBook
from tests.unit.planner.catalogue.test_books import change

D = Decimal
BOOK = "/catalogue/prices/list"
EUR = {"currency": "EUR", "usd": "1.08", "source": "ECB reference rate", "date": "2026-11-30"}
QUOTE = {
    "machine": "dgx-h100", "term": "owned", "vendor": "Acme", "quote": "Q-17", "valid_from": "2026-11-01",
    "valid_to": "2027-01-31", "currency": "EUR", "price": "310,000", "breaks": "8: 290000; 16: 270000",
    "discount_percent": "10", "support_per_year": "10000", "source": "mail of 2026-11-28", "date": "2026-11-28",
}  # fmt: skip


def add(client: Client, what: str, **fields: str) -> tuple[int, str]:
    of = EUR if what == "rates" else QUOTE
    seen = client.get(f"{BOOK}/{what}/add").context["form"]["seen"].value()
    response = client.post(f"{BOOK}/{what}/add", {**of, "seen": seen, **fields})
    return response.status_code, unescape(response.content.decode())


def book_of(user: User) -> PriceBook:
    return price_book_for(user, "list")


def shown(client: Client) -> str:
    return unescape(client.get(BOOK).content.decode())


def test_a_quote_in_euro_stands_in_the_book_with_all_that_it_says(
    alice_client: Client, alice: User, charlie: User
) -> None:
    assert add(alice_client, "rates")[0] == 302
    assert add(alice_client, "quotes")[0] == 302
    (offer,) = book_of(alice).offers
    assert (offer.price, offer.discount, offer.breaks) == (
        D(310_000),
        D("0.1"),
        (Break(8, D(290_000)), Break(16, D(270_000))),
    )
    page = shown(alice_client)
    for words in ("Q-17", "Acme", "2026-11-01 to 2027-01-31", "from 8", "290,000 EUR", "261,000 EUR", "10 %", "1.08"):
        assert words in page, words
    assert by_machine(book_of(alice)) == by_machine(catalogue.price_book("list"))
    assert book_of(charlie) == catalogue.price_book("list")
    (told,) = alice_client.get("/api/v1/catalogue/price-books/list/").json()["quotes"]
    assert (told["key"], told["price"], told["currency"]) == (offer.key, "310000", "EUR")


def test_what_does_not_hold_today_is_said(alice_client: Client) -> None:
    add(alice_client, "rates")
    today = timezone.now().date()
    yesterday, tomorrow = ((today + timedelta(days)).isoformat() for days in (-1, 1))
    add(alice_client, "quotes", valid_from="", valid_to=yesterday)
    add(alice_client, "quotes", quote="Q-18", valid_from=tomorrow, valid_to="")
    add(alice_client, "quotes", quote="Q-19", valid_from=today.isoformat(), valid_to=today.isoformat())
    page = shown(alice_client)
    assert f"Quote Q-17 of Acme for DGX H100 expired on {yesterday}, before {today} (today)." in page
    assert f"Quote Q-18 of Acme for DGX H100 not valid before {tomorrow}" in page
    assert "Q-19 of Acme for" not in page
    assert "1 expired" in unescape(alice_client.get("/catalogue/prices/").content.decode())


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("price", "", "Found nothing, expected a number above 0"),
        ("price", "1e400", "expected a number above 0"),
        ("valid_to", "2026-10-01", "expected no day before valid_from (2026-11-01)"),
        ("valid_to", "31.1.2027", "expected a day such as 2027-01-31"),
        ("breaks", "8=290000", "expected machines and a price, as 8: 290000; 16: 270000"),
        ("breaks", "8: 290000; 8: 1", "expected each more than the one before"),
        ("discount_percent", "100", "expected from 0 to less than 100"),
        ("vendor", "", "expected who offers it"),
        ("quote", "", "expected the quote’s number"),
        ("source", "", "expected where it is from"),
    ],
)
def test_what_is_no_quote_is_said_at_its_field(
    alice_client: Client, alice: User, field: str, text: str, words: str
) -> None:
    add(alice_client, "rates")
    status, page = add(alice_client, "quotes", **{field: text})
    assert (status, words in page) == (422, True), page
    assert f'href="#id_{field}"' in page
    assert not book_of(alice).offers


def test_a_currency_needs_a_rate_first_and_keeps_it_while_it_is_used(alice_client: Client, alice: User) -> None:
    assert add(alice_client, "quotes")[0] == 422
    add(alice_client, "rates")
    add(alice_client, "quotes")
    alice_client.post(f"{BOOK}/rates/EUR/delete")
    assert "change them first" in shown(alice_client)
    (offer,) = book_of(alice).offers
    alice_client.post(f"{BOOK}/quotes/{offer.key}/delete")
    alice_client.post(f"{BOOK}/rates/EUR/delete")
    assert book_of(alice) == catalogue.price_book("list")  # as it is shipped, with nothing beside


def test_a_price_by_the_hour_in_euro_is_converted_once_and_anew_with_another_rate(
    alice_client: Client, alice: User
) -> None:
    add(alice_client, "rates", usd="1.0837")
    status, page = change(alice_client, f"{BOOK}/edit", **{"usd:dgx-h100": "33.33 EUR"})
    assert status == 302, page
    price = book_of(alice).price("dgx-h100")
    assert (price.currency, price.local_per_hour, price.usd_per_hour) == ("EUR", D("33.33"), D("36.119721"))
    assert "33.33 EUR" in shown(alice_client)
    assert change(alice_client, f"{BOOK}/edit", name="Ours")[0] == 302  # read back as it is
    assert book_of(alice).price("dgx-h100") == price
    form = alice_client.get(f"{BOOK}/rates/EUR").context["form"]
    alice_client.post(f"{BOOK}/rates/EUR", {**EUR, "usd": "1.1", "seen": form["seen"].value()})
    assert book_of(alice).price("dgx-h100").usd_per_hour == D("36.663")
    assert (
        "which has no rate: expected one of USD, EUR"
        in change(alice_client, f"{BOOK}/edit", **{"usd:dgx-h100": "30 GBP"})[1]
    )


def test_a_rate_by_which_a_price_is_none_that_may_be_is_refused(alice_client: Client, alice: User) -> None:
    add(alice_client, "rates")
    change(alice_client, f"{BOOK}/edit", **{"usd:dgx-h100": "33.33 EUR"})
    form = alice_client.get(f"{BOOK}/rates/EUR").context["form"]
    refused = alice_client.post(f"{BOOK}/rates/EUR", {**EUR, "usd": "999999", "seen": form["seen"].value()})
    assert "expected from 0.0001 to 1,000,000 USD" in unescape(refused.content.decode())
    assert book_of(alice).rates[0].usd == D("1.08")


def test_a_price_that_changes_keeps_quotes_and_rates(alice_client: Client, alice: User) -> None:
    add(alice_client, "rates")
    add(alice_client, "quotes")
    change(alice_client, f"{BOOK}/edit", **{"usd:dgx-h100": "30"})
    assert (len(book_of(alice).offers), len(book_of(alice).rates)) == (1, 1)
    change(alice_client, "/catalogue/prices/add?like=list", id="ours")
    assert price_book_for(alice, "ours").offers == book_of(alice).offers


def test_somebody_elses_change_in_between_is_noticed(alice_client: Client, bob_client: Client, alice: User) -> None:
    add(alice_client, "rates")
    seen = bob_client.get(f"{BOOK}/quotes/add").context["form"]["seen"].value()
    add(alice_client, "quotes")
    bob_client.post(f"{BOOK}/quotes/add", {**QUOTE, "quote": "Q-99", "seen": seen})
    assert [offer.quote for offer in book_of(alice).offers] == ["Q-17"]


def test_a_second_quote_of_a_number_is_refused_and_one_is_changed_in_its_place(
    alice_client: Client, alice: User
) -> None:
    add(alice_client, "rates")
    add(alice_client, "quotes")
    assert "in the book already" in add(alice_client, "quotes")[1]
    (offer,) = book_of(alice).offers
    address = f"{BOOK}/quotes/{offer.key}"
    seen = alice_client.get(address).context["form"]["seen"].value()
    assert alice_client.post(address, {**QUOTE, "price": "300000", "quote": "Q-20", "seen": seen}).status_code == 302
    assert [(one.quote, one.price) for one in book_of(alice).offers] == [("Q-20", D(300_000))]


def test_who_only_reads_or_is_not_of_the_team_changes_nothing(
    alice_client: Client, charlie_client: Client, alice: User
) -> None:
    add(alice_client, "rates")
    add(alice_client, "quotes")
    (offer,) = book_of(alice).offers
    assert charlie_client.get(f"{BOOK}/quotes/{offer.key}").status_code == 404
    assert charlie_client.post(f"{BOOK}/quotes/{offer.key}/delete").status_code == 404
    assert book_of(alice).offers == (offer,)


def upload(client: Client, table: str, text: str) -> Any:
    file = SimpleUploadedFile("file.csv", text.encode())
    return client.post(f"/catalogue/{table}/import", {"file": file}, follow=True)


def take(client: Client, table: str, text: str) -> str:
    looked = upload(client, table, text)
    assert looked.status_code == 200, looked.content.decode()
    done = client.post(looked.request["PATH_INFO"], {"seen": looked.context["plan"].token}, follow=True)
    return unescape(done.content.decode())


def test_files_are_looked_at_and_then_taken_and_come_back_unchanged(alice_client: Client, alice: User) -> None:
    take(alice_client, "rates", "book,currency,usd,source,date\nlist,EUR,1.08,ECB,2026-11-30\n")
    text = (
        "book,machine,term,vendor,quote,valid_to,currency,price,breaks,discount_percent,source\n"
        "list,dgx-h100,owned,Acme,=Q-17,2027-01-31,EUR,310000,8: 290000; 16: 270000,10,a mail\n"
        "list,dgx-a100,reserved_1y,Acme,Q-2,,USD,19.5,,,a mail\n"
    )
    looked = upload(alice_client, "quotes", text)
    assert "dgx-h100, Quote =Q-17 of Acme" in unescape(looked.content.decode())
    assert not book_of(alice).offers  # nothing yet
    take(alice_client, "quotes", text)
    assert {offer.quote for offer in book_of(alice).offers} == {"=Q-17", "Q-2"}
    for table in ("quotes", "rates", "prices"):
        exported = alice_client.get(f"/catalogue/{table}/export.csv").content.decode()
        plan = upload(alice_client, table, exported).context["plan"]
        assert (plan.added, plan.changed, plan.refused, bool(plan.unchanged)) == ([], [], [], True), table
    rows = csv.DictReader(io.StringIO(alice_client.get("/catalogue/quotes/export.csv").content.decode()))
    assert {row["quote"] for row in rows} == {"'=Q-17", "Q-2"}  # guarded


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("lists,dgx-h100,owned,Acme,Q-1,USD,1", "book: found ‘lists’, expected one of"),
        ("list,dgx-h10,owned,Acme,Q-1,USD,1", "machine: found ‘dgx-h10’"),
        ("list,dgx-h100,leased,Acme,Q-1,USD,1", "term: found ‘leased’, expected one of on_demand"),
        ("list,dgx-h100,owned,Acme,Q-1,EUR,1", "currency: found 'EUR', which has no rate"),
        ("list,dgx-h100,owned,Acme,Q-1,USD,-1", "price: found ‘-1’, expected a number above 0"),
    ],
)
def test_a_row_that_cannot_be_is_refused_with_its_line(alice_client: Client, row: str, words: str) -> None:
    text = f"book,machine,term,vendor,quote,currency,price,source\n{row},a mail\n"
    (refused,) = upload(alice_client, "quotes", text).context["plan"].refused
    assert (refused.line, words in refused.words) == (2, True), refused.words


def test_prices_in_another_currency_are_imported_by_the_books_rate(alice_client: Client, alice: User) -> None:
    add(alice_client, "rates")
    head = "book,machine,usd_per_hour,currency,source,local_per_hour\n"
    take(alice_client, "prices", f"{head}list,dgx-h100,,EUR,a mail,30\n")
    assert book_of(alice).price("dgx-h100").usd_per_hour == D("32.40")
    (refused,) = upload(alice_client, "prices", f"{head}list,dgx-h100,30,EUR,a mail,30\n").context["plan"].refused
    assert "usd_per_hour: found 30, expected 32.4 by the book's rate of EUR" in refused.words
