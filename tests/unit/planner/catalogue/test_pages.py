"""The catalogue's pages and its REST interface."""

from datetime import date

import pytest
from django.test import Client

from planner.accounts.models import Team
from planner.catalogue.display import age, quantity
from planner.catalogue.models import FigureOverride
from simcore import catalogue
from simcore.memory import kv_capacity
from simcore.power import idle_w
from simcore.spec import MemorySpec


def test_the_overview_lists_every_row_and_book(alice_client: Client) -> None:
    page = alice_client.get("/catalogue/").content.decode()
    for row_id in (*catalogue.accelerator_ids(), *catalogue.machine_ids(), *catalogue.model_ids()):
        assert f">{row_id}</a>" in page
    for book in catalogue.price_books().values():
        assert book.name in page
    assert "85.9 GB (81,920 MiB)" in page


@pytest.mark.parametrize("table", catalogue.TABLES)
def test_each_row_shows_each_figures_provenance(alice_client: Client, table: str) -> None:
    for row_id in dict.fromkeys(figure.id for figure in catalogue.figures(table)):
        page = alice_client.get(f"/catalogue/{table}/{row_id}")
        assert page.status_code == 200
        for figure in (figure for figure in catalogue.figures(table) if figure.id == row_id):
            assert f"<code>{figure.field}</code> {figure.value}" in page.content.decode()
            assert figure.status in page.content.decode()


def test_the_capped_machine_says_that_it_is_an_assumption(alice_client: Client) -> None:
    page = alice_client.get("/catalogue/machines/dgx-h100-pcap").content.decode()
    assert "the paper&#x27;s assumption, not a measurement" in page
    assert "7,140 W are provisioned" in page


def test_a_model_says_what_its_weights_and_kv_take(alice_client: Client) -> None:
    page = alice_client.get("/catalogue/models/bloom-176b").content.decode()
    assert "352,494,542,848 bytes" in page
    assert "4,014,080 bytes" in page


@pytest.mark.parametrize(
    ("model_id", "words"),
    [
        ("deepseek-v3", "70,272 bytes in bf16"),
        ("deepseek-v3", "All heads share its latent"),
        ("deepseek-v3", "A token takes 8 of 256 experts a layer, 36.6 billion"),
        ("gpt-oss-120b", "65.2 GB (65,248,815,744 bytes) in bf16, experts in mxfp4"),
        ("gpt-oss-120b", "18 of its 36 layers keep a request&#x27;s last 128 tokens only"),
    ],
)
def test_a_model_says_what_its_form_means(alice_client: Client, model_id: str, words: str) -> None:
    assert words in alice_client.get(f"/catalogue/models/{model_id}").content.decode()


def test_an_accelerator_says_where_it_turns_compute_bound_and_what_was_measured(alice_client: Client) -> None:
    page = alice_client.get("/catalogue/accelerators/h100-80gb").content.decode()
    assert "Its balance point: 295 tokens with weights in bf16 and 295 tokens with weights in fp8." in page
    assert '<a href="/catalogue/machines/dgx-h100-pcap">DGX H100 capped</a>' in page
    assert "Splitwise&#x27;s step times of 2023" in page
    assert "Predictions take what" not in page
    assert "Of peak bandwidth that reading weights reaches" in page
    unmeasured = alice_client.get("/catalogue/accelerators/mi300x-192gb").content.decode()
    assert "as nothing was fitted to this one" in unmeasured


def test_a_machine_says_its_watts_and_its_price_in_each_book(alice_client: Client) -> None:
    page = alice_client.get("/catalogue/machines/dgx-h100").content.decode()
    assert f"Idle it draws {idle_w(catalogue.machine('dgx-h100')):,.0f} W; 10,200 W are provisioned" in page
    assert [price in page for price in ("36.00 USD", "38.08 USD", "10.40 USD")] == [True] * 3
    assert "No price book" in alice_client.get("/catalogue/machines/amd-mi250").content.decode()


def test_a_model_says_which_machines_hold_it(alice_client: Client) -> None:
    page = alice_client.get("/catalogue/models/llama-3.1-70b").content.decode()
    whole = kv_capacity(catalogue.model("llama-3.1-70b"), catalogue.machine("dgx-h100"), 4, 1, MemorySpec())
    row = page.split('/catalogue/machines/dgx-h100"')[1].split("</tr>")[0]
    assert f">{whole.tokens:,}<" in row
    assert ">no<" in row
    assert "weights" in row


def test_a_figure_left_of_a_row_that_is_shipped_no_more_breaks_no_other_page(team: Team, alice_client: Client) -> None:
    FigureOverride.objects.create(
        team=team, table="machines", row_id="dgx-v100", field="host_w", value="900", unit="W", source="x",
        date="2026-11", status="user",
    )  # fmt: skip
    page = alice_client.get("/catalogue/models/llama-3.1-70b").content.decode()
    assert "/catalogue/machines/dgx-h100" in page.split("Which machines hold it")[1]
    assert (
        "do not go together: dgx-v100.name: missing"
        in alice_client.get("/catalogue/machines/dgx-v100").content.decode()
    )
    assert alice_client.get("/catalogue/accelerators/h100-80gb").status_code == 200
    assert alice_client.get("/").status_code == 200


def test_a_fabric_says_what_a_long_transfer_gets(alice_client: Client) -> None:
    page = alice_client.get("/catalogue/fabrics/infiniband-ndr").content.decode()
    assert "A long transfer gets 47.5 GB/s a port, one way, after 5 µs." in page


def test_a_price_book_shows_prices_dates_and_sources(alice_client: Client) -> None:
    page = alice_client.get("/catalogue/prices/splitwise-2023").content.decode()
    assert "38.08 USD" in page
    assert "Splitwise, ISCA 2024" in page


@pytest.mark.parametrize("address", ["machines/dgx-h10", "fabrics/x", "prices/lst"])
def test_what_is_not_there_is_a_404(alice_client: Client, address: str) -> None:
    assert alice_client.get(f"/catalogue/{address}").status_code == 404


@pytest.mark.parametrize("address", ["", "machines/dgx-h100", "prices/list"])
def test_a_page_answers_head_too(alice_client: Client, address: str) -> None:
    assert alice_client.head(f"/catalogue/{address}").status_code == 200


def test_a_stranger_does_not_see_a_teams_own_figure(team: Team, alice_client: Client, charlie_client: Client) -> None:
    FigureOverride.objects.create(
        team=team, table="machines", row_id="dgx-h100", field="host_w", value="1234", unit="W", source="our meter",
        date="2026-11", status="user",
    )  # fmt: skip
    seen = [client.get("/catalogue/machines/dgx-h100").content.decode() for client in (alice_client, charlie_client)]
    assert ["our meter" in page for page in seen] == [True, False]
    figures = [
        client.get("/api/v1/catalogue/machines/dgx-h100/").json()["figures"]["host_w"]
        for client in (alice_client, charlie_client)
    ]
    assert [(figure["value"], figure["own"]) for figure in figures] == [("1234", True), ("2000", False)]


def test_a_visitor_is_asked_to_sign_in(client: Client, db: None) -> None:
    assert client.get("/catalogue/").status_code == 302


def test_the_api_gives_rows_with_provenance(alice_client: Client) -> None:
    rows = alice_client.get("/api/v1/catalogue/accelerators/").json()
    assert rows["count"] == 18
    memory = rows["results"][0]["figures"]["memory_bytes"]
    assert (memory["value"], memory["unit"], memory["status"], memory["own"]) == (
        "85899345920",
        "bytes",
        "verified",
        False,
    )
    book = alice_client.get("/api/v1/catalogue/price-books/list/").json()
    assert book["prices"][0]["usd_per_hour"] == "28.00"
    assert alice_client.get("/api/v1/catalogue/price-books/").json()["count"] == 3
    for address in ("cables/", "machines/dgx-h10/", "price-books/lst/"):
        assert alice_client.get(f"/api/v1/catalogue/{address}").status_code == 404


@pytest.mark.parametrize(("text", "said"), [
    ("2026-04-27", "7 months ago"),
    ("2026-10", "a month ago"),
    ("2025-11-30", "12 months ago"),
    ("2026-11-01", ""),
    ("2027-01", ""),
    ("spring", ""),
])  # fmt: skip
def test_a_dates_age_is_said_in_months(text: str, said: str) -> None:
    assert age(text, date(2026, 11, 30)) == said


@pytest.mark.parametrize(("value", "unit", "text"), [
    ("312e12", "FLOP/s", "312 TFLOP/s"),
    ("4500e12", "FLOP/s", "4.5 PFLOP/s"),
    ("2039e9", "bytes/s", "2.039 TB/s"),
    ("25e9", "bytes/s", "25 GB/s"),
    ("400", "bytes/s", "400 B/s"),
    ("10200", "W", "10,200 W"),
    ("1.3", "", "1.3"),
    ("true", "", "yes"),
    ("dgx", "", "dgx"),
    ("176247271424", "parameters", "176.25 billion"),
    ("131072", "tokens", "131,072 tokens"),
])  # fmt: skip
def test_quantities_read_as_people_write_them(value: str, unit: str, text: str) -> None:
    assert quantity(value, unit) == text
