"""CSV out and in: what a file would change is shown first, and it is taken as a whole or not at all."""

import csv
import io
import re
from decimal import Decimal
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from planner.accounts.models import Team, User
from planner.catalogue.books import book_or_none
from planner.catalogue.models import CatalogueImport, FigureOverride, PriceBook
from planner.catalogue.rows import row_or_none
from planner.catalogue.services import machine_for, price_book_for
from simcore import catalogue

HEADER = "id,field,value,unit,source,date,status\n"
OURS = """ours,name,Ours,,offer,2026-11,user
ours,accelerator,h100-80gb,,offer,2026-11,user
ours,accelerators,4,accelerators,offer,2026-11,user
ours,nic_bytes_per_s,50e9,bytes/s,offer,2026-11,user
ours,host_w,900,W,offer,2026-11,user
ours,nameplate_w,5000,W,offer,2026-11,user
"""


def upload(client: Client, table: str, content: str | bytes) -> tuple[int, str]:
    """Status and address, or the page where it is refused at once."""
    data = content.encode() if isinstance(content, str) else content
    response = client.post(f"/catalogue/{table}/import", {"file": SimpleUploadedFile("ours.csv", data)})
    return response.status_code, response.get("Location") or unescape(response.content.decode())


def look(client: Client, table: str, content: str | bytes) -> tuple[str, str, str]:
    """Address, page and token of the dry run."""
    status, address = upload(client, table, content)
    assert status == 302, address
    page = unescape(client.get(address).content.decode())
    token = re.search(r'name="seen" value="(\w+)"', page)
    return address, page, token[1] if token else ""


def take(client: Client, table: str, content: str | bytes) -> int:
    address, _, token = look(client, table, content)
    return client.post(address, {"seen": token}).status_code


def exported(client: Client, table: str, **query: str) -> str:
    return client.get(f"/catalogue/{table}/export.csv", query).content.decode()


@pytest.mark.parametrize("table", [*catalogue.TABLES, "prices"])
def test_what_is_exported_is_imported_without_a_change(alice_client: Client, table: str) -> None:
    text = exported(alice_client, table)
    _, page, _ = look(alice_client, table, text)
    lines = len(text.splitlines()) - 1
    assert f"0 added, 0 changed, {lines} unchanged, 0 refused" in page
    assert "Make these changes" not in page


def test_the_export_has_the_form_of_the_shipped_file(alice_client: Client) -> None:
    found = list(csv.DictReader(io.StringIO(exported(alice_client, "machines"))))
    shipped = [vars(figure) for figure in catalogue.figures("machines")]
    assert found == shipped


def test_a_dry_run_says_what_would_change_and_changes_nothing(alice_client: Client, alice: User) -> None:
    changed = "dgx-h100,host_w,1900,W,our meter,2026-11-30,user\ndgx-h100,fans_w,800,W,our meter,2026-11-30,user\n"
    same = next(
        line
        for line in exported(alice_client, "machines").splitlines()
        if line.startswith("dgx-a100,tdp") or "dgx-a100,host_w" in line
    )
    address, page, token = look(alice_client, "machines", HEADER + changed + OURS + same + "\n")
    assert "6 added, 2 changed, 1 unchanged, 0 refused. New: <code>ours</code>" in page
    assert "<del>2,000 W</del>" in page
    assert "<ins>1,900 W</ins>" in page
    assert "<del>800 W (estimate, 2026-11)</del>" in page
    assert not FigureOverride.objects.visible_to(alice).exists()
    assert alice_client.post(address, {"seen": token}).status_code == 302
    assert (machine_for(alice, "dgx-h100").host_w, machine_for(alice, "ours").accelerators) == (1900, 4)
    assert "Was taken" in alice_client.get(address).content.decode()
    assert alice_client.post(address, {"seen": token}).status_code == 200
    assert FigureOverride.objects.visible_to(alice).count() == 8


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("dgx-h100,host_w,much,W,x,2026-11,user", "host_w: found ‘much’, expected a number of W from 0"),
        ("dgx-h100,host_w,1.900,kW,x,2026-11,user", "unit: found ‘kW’, expected ‘W’ for host_w"),
        ("dgx-h100,host_w,1900,W,,2026-11,user", "source: found nothing"),
        ("dgx-h100,host_w,1900,W,x,11/2026,user", "date: found ‘11/2026’"),
        ("dgx-h100,host_w,1900,W,x,2026-13,user", "date: found ‘2026-13’"),
        ("dgx-h100,host_w,1900,W,x,2026-11,sure", "status: found ‘sure’, expected one of verified"),
        ("dgx-h100,hosts_w,1900,W,x,2026-11,user", "field: found ‘hosts_w’, expected one of"),
        ("DGX H100,host_w,1900,W,x,2026-11,user", "id: found ‘DGX H100’"),
        ("dgx-h100,accelerator,h100,,x,2026-11,user", "accelerator: found 'h100', expected one of"),
        ('dgx-h100,host_w,"1,900",W,x,2026-11,user', "with a decimal point and nothing between thousands"),
        ("dgx-h100,host_w,1900", "unit: found nothing, expected ‘W’"),
        (
            "fresh,host_w,1900,W,x,2026-11,user",
            "accelerators, nic_bytes_per_s and nameplate_w: found nothing",
        ),
        ("dgx-a100,host_w,2,W,x,2026-11,user", "host_w: found a second value, the first is on line 2"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line_and_nothing_is_taken(
    alice_client: Client, alice: User, row: str, words: str
) -> None:
    good = "dgx-a100,host_w,1000,W,x,2026-11,user\n"
    address, page, token = look(alice_client, "machines", HEADER + good + row + "\n")
    assert f'<td class="number">3</td><td>{row.partition(",")[0]}</td>' in page
    assert words in page
    assert "Make these changes" not in page
    assert alice_client.post(address, {"seen": token}).status_code == 409
    assert not FigureOverride.objects.visible_to(alice).exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "Line 1: found nothing"),
        (b"PK\x03\x04rest of a workbook", "Found an Excel or zip file, expected CSV"),
        ("id,field,value".encode("utf-16"), "Found UTF-16, as Excel writes Unicode text, expected CSV"),
        (b"\n\n", "Line 1: found nothing"),
        (b"id,field\xff\xfe", "found bytes that are not UTF-8"),
        (b"id,field,value\x00\n", "found a NUL character"),
        (HEADER.encode() + b"x" * 2_000_000, "Found more than 2,000,000 bytes"),
        (HEADER.encode() + b"a,b,c\n" * 20_001, "Found more than 20,000 rows"),
        (HEADER.encode() + b'dgx-h100,host_w,"1900,W\n', "found what is not CSV"),
        (HEADER.encode() + b"a,b,c,d,e,f,g,h\n", "Line 2: found 8 cells, expected 7"),
        (HEADER.encode() + b"a,b,1,W," + b"x" * 1001 + b",2026-11,user\n", "Line 2: source: found 1,001 characters"),
        (b"id,field,value,unit,source,date,state\n", "found the column ‘state’, expected some of"),
        (b"id,field,value,value\n", "found the column ‘value’ twice"),
        (b",".join(b"c%d" % n for n in range(65)) + b"\n", "found 65 columns, expected at most 64"),
        (b"id,bf16_flops_per_s,tdp_w\n", "found the columns of accelerators, expected those of machines"),
        (b"name,host_w\n", "found no column ‘id’"),
        (b"id,field,unit,source,date,status\n", "found no column ‘value’"),
        (HEADER.encode() + b"\n,,,\n", "Found the names of the columns alone, expected rows below them"),
    ],
)  # fmt: skip
def test_what_is_no_such_file_is_refused_in_a_sentence(
    alice_client: Client, alice: User, content: bytes, words: str
) -> None:
    status, page = upload(alice_client, "machines", content)
    assert status == 422
    assert words in page
    assert not CatalogueImport.objects.visible_to(alice).exists()


def test_no_file_is_said_too(alice_client: Client) -> None:
    response = alice_client.post("/catalogue/machines/import")
    assert (response.status_code, "Found no file" in response.content.decode()) == (422, True)


def test_one_row_an_item_with_semicolons_and_a_byte_order_mark(alice_client: Client, alice: User) -> None:
    text = (
        "\ufeffsep=;\r\n\r\nid;name;accelerator;accelerators;nic_bytes_per_s;host_w;nameplate_w;source\r\n"
        "ours;Ours;h100-80gb;4;50e9;900;5000;our offer\r\n"
        "dgx-h100;;;;;1900;;our meter\r\n"
    )
    assert take(alice_client, "machines", text) == 302
    assert (machine_for(alice, "ours").nameplate_w, machine_for(alice, "dgx-h100").host_w) == (5000, 1900)
    row = row_or_none(alice, "machines", "dgx-h100")
    assert row is not None
    assert (row.own["host_w"].source, row.own["host_w"].status, row.own["host_w"].unit) == ("our meter", "user", "W")
    assert "ours,Ours,h100-80gb,4" in exported(alice_client, "machines", form="wide", show="own")


@pytest.mark.parametrize("table", catalogue.TABLES)
def test_one_row_an_item_is_imported_as_it_was_exported_too(alice_client: Client, table: str) -> None:
    _, page, _ = look(alice_client, table, exported(alice_client, table, form="wide"))
    assert f"0 added, 0 changed, {len(catalogue.figures(table))} unchanged, 0 refused" in page


def test_one_row_an_item_says_a_source_for_what_it_changes_alone(alice_client: Client, alice: User) -> None:
    head, *lines = exported(alice_client, "machines", form="wide").splitlines()
    (line,) = (line for line in lines if line.startswith("dgx-h100,"))
    changed = line.replace(",2000,", ",1900,")
    assert changed != line
    _, page, _ = look(alice_client, "machines", f"{head}\n{changed}\n")
    assert page.count("source: found nothing, expected where the figure is from") == 1
    assert take(alice_client, "machines", f"{head},source\n{changed},our meter\n") == 302
    row = row_or_none(alice, "machines", "dgx-h100")
    assert row is not None
    assert {name: figure.source for name, figure in row.own.items()} == {"host_w": "our meter"}


def test_an_edit_in_between_is_noticed(alice_client: Client, alice: User, team: Team) -> None:
    address, _, token = look(alice_client, "machines", HEADER + "dgx-h100,host_w,1900,W,x,2026-11,user\n")
    FigureOverride.objects.create(
        team=team, table="machines", row_id="dgx-h100", field="host_w", value="1800", unit="W", source="y",
        date="2026-10", status="user",
    )  # fmt: skip
    response = alice_client.post(address, {"seen": token})
    assert response.status_code == 409
    assert "Somebody changed the catalogue since" in response.content.decode()
    assert machine_for(alice, "dgx-h100").host_w == 1800


def test_an_import_is_its_teams(alice_client: Client, charlie_client: Client) -> None:
    address, _, token = look(alice_client, "machines", HEADER + OURS)
    assert charlie_client.get(address).status_code == 404
    assert charlie_client.post(address, {"seen": token}).status_code == 404


def test_what_a_spreadsheet_would_compute_is_guarded_and_read_back(alice_client: Client, alice: User) -> None:
    evil = '=HYPERLINK("http://x")'
    text = OURS.replace("ours,name,Ours,,offer", f'ours,name,"{evil.replace(chr(34), chr(34) * 2)}",,@offer')
    assert take(alice_client, "machines", HEADER + text) == 302
    out = exported(alice_client, "machines", show="own")
    cells = [cell for row in csv.reader(io.StringIO(out)) for cell in row]
    assert f"'{evil}" in cells
    assert "'@offer" in cells
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    _, page, _ = look(alice_client, "machines", out)
    assert "0 added, 0 changed, 6 unchanged" in page


PRICES = "book,machine,usd_per_hour,currency,kind,date,source,status\n"


def test_prices_are_imported_into_books(alice_client: Client, alice: User, charlie: User) -> None:
    text = (
        PRICES
        + "list,dgx-h100,30.125,USD,on_demand,2026-11-30,offer,user\n"
        + "offer-1,dgx-h100,20,USD,reserved,2026-11-30,offer,user\n"
    )
    _, page, _ = look(alice_client, "prices", text)
    assert "1 added, 1 changed, 0 unchanged, 0 refused. New: <code>offer-1</code>" in page
    assert take(alice_client, "prices", text) == 302
    book = book_or_none(alice, "list")
    assert book is not None
    assert (book.origin, book.was("dgx-h100").usd_per_hour) == ("overridden", Decimal(36))  # type: ignore[union-attr]
    assert price_book_for(alice, "list").price("dgx-h100").usd_per_hour == Decimal("30.125")
    assert price_book_for(alice, "list").price("dgx-a100") == catalogue.price_book("list").price("dgx-a100")
    assert price_book_for(alice, "offer-1").price("dgx-h100").kind == "reserved"
    assert price_book_for(charlie, "list") == catalogue.price_book("list")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("list,dgx-h10,30,USD,on_demand,2026-11-30,offer,user", "machine: found ‘dgx-h10’"),
        ("list,dgx-h100,0,USD,on_demand,2026-11-30,offer,user", "usd_per_hour: found ‘0’, expected dollars"),
        ("list,dgx-h100,1e9,USD,on_demand,2026-11-30,offer,user", "usd_per_hour: found ‘1e9’"),
        ("list,dgx-h100,30,EUR,on_demand,2026-11-30,offer,user", "local_per_hour: found ‘’, expected EUR an hour"),
        ("list,dgx-h100,30,USD,leased,2026-11-30,offer,user", "kind: found ‘leased’"),
        ("list,dgx-h100,30,USD,owned,2026-11-30,,user", "source: found nothing"),
        ("My list,dgx-h100,30,USD,owned,2026-11-30,offer,user", "book: found ‘My list’"),
        ("list,dgx-a100,2,USD,owned,2026-11-30,offer,user", "machine: found a second price, the first is on line 2"),
    ],
)
def test_a_wrong_price_is_refused_with_its_line(alice_client: Client, alice: User, row: str, words: str) -> None:
    good = "list,dgx-a100,30,USD,on_demand,2026-11-30,offer,user\n"
    _, page, _ = look(alice_client, "prices", PRICES + good + row + "\n")
    assert words in page
    assert '<td class="number">3</td>' in page
    assert not PriceBook.objects.visible_to(alice).exists()
