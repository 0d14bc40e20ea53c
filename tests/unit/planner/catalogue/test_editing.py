"""A team's own rows: added, overridden, cloned, taken back and deleted on the pages; shipped figures are never lost."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from planner.accounts.models import Membership, Role, Team, User
from planner.catalogue.columns import columns
from planner.catalogue.models import FigureOverride, ShippedFigure
from planner.catalogue.rows import row_or_none
from planner.catalogue.services import accelerator_for, machine_for
from planner.catalogue.typed import stored
from simcore import catalogue

FROM = {"source": "our meter", "date": "2026-11-30", "status": "user"}
MACHINE = {
    "name": "Ours", "accelerator": "h100-80gb", "accelerators": "4", "nic_bytes_per_s": "400 Gb/s", "host_w": "900",
    "nameplate_w": "5 kW",
}  # fmt: skip


def form_of(client: Client, address: str) -> dict[str, str]:
    """The values that a browser would send back unchanged."""
    page = client.get(address).content.decode()
    inputs = dict(re.findall(r'<input type="(?:text|hidden)" name="(\w+)" value="([^"]*)"', page))
    selects = re.findall(r'<select name="([^"]+)".*?</select>', page, re.S)
    chosen = {
        name: (re.search(r'value="([^"]*)" selected', block) or ["", ""])[1]
        for name, block in zip(selects, re.findall(r"<select.*?</select>", page, re.S)[-len(selects) :], strict=True)
    }
    return {name: unescape(value) for name, value in (inputs | chosen).items()}


def change(client: Client, address: str, **fields: str) -> tuple[int, str]:
    response = client.post(address, form_of(client, address) | FROM | fields)
    return response.status_code, unescape(response.content.decode())


def test_an_overridden_figure_stands_beside_the_shipped_one(alice_client: Client, alice: User, charlie: User) -> None:
    status, _ = change(alice_client, "/catalogue/machines/dgx-h100/edit", host_w="1.9 kW")
    assert status == 302
    assert [machine_for(user, "dgx-h100").host_w for user in (alice, charlie)] == [1900, 2000]
    assert FigureOverride.objects.visible_to(alice).count() == 1
    page = unescape(alice_client.get("/catalogue/machines/dgx-h100").content.decode())
    assert re.search(r"our meter <span class=\"muted\">\(entered by alice, \d{4}-\d\d-\d\d\)", page)
    assert "Shipped: 2,000 W (estimate" in page
    assert "Back to the shipped figure" in page
    assert "Shipped: 2,000 W" in alice_client.get("/catalogue/machines/dgx-h100/edit").content.decode()
    figure = alice_client.get("/api/v1/catalogue/machines/dgx-h100/").json()["figures"]["host_w"]
    assert (figure["value"], figure["own"], figure["shipped"]["value"]) == ("1900", True, "2000")


def test_back_to_the_shipped_figure(alice_client: Client, alice: User) -> None:
    change(alice_client, "/catalogue/machines/dgx-h100/edit", host_w="1900", fans_w="700")
    alice_client.post("/catalogue/machines/dgx-h100/restore", {"field": "host_w"})
    now = machine_for(alice, "dgx-h100")
    assert (now.host_w, now.fans_w) == (2000, 700)
    alice_client.post("/catalogue/machines/dgx-h100/delete")
    assert row_or_none(alice, "machines", "dgx-h100").origin == "shipped"  # type: ignore[union-attr]
    assert ShippedFigure.objects.filter(row_id="dgx-h100").count() == len(
        [figure for figure in catalogue.figures("machines") if figure.id == "dgx-h100"]
    )


def test_a_new_row_is_added_with_units_and_provenance(
    alice_client: Client, alice: User, charlie_client: Client
) -> None:
    status, page = change(alice_client, "/catalogue/machines/add", id="ours", **MACHINE)
    assert status == 302, page
    ours = machine_for(alice, "ours")
    assert (ours.nic_bytes_per_s, ours.nameplate_w, ours.accelerators) == (50e9, 5000, 4)
    figures = FigureOverride.objects.visible_to(alice).filter(row_id="ours")
    assert {(one.source, one.date, one.status) for one in figures} == {tuple(FROM.values())}
    assert {one.field: one.unit for one in figures}["nic_bytes_per_s"] == "bytes/s"
    assert charlie_client.get("/catalogue/machines/ours").status_code == 404


def test_a_clone_keeps_the_provenance_of_what_is_left(alice_client: Client, alice: User) -> None:
    status, page = change(alice_client, "/catalogue/accelerators/add?like=h100-80gb", id="h100-ours", tdp_w="650")
    assert status == 302, page
    own = row_or_none(alice, "accelerators", "h100-ours")
    assert own is not None
    assert (own.origin, own.name) == ("own", "H100 80 GB SXM, ours")
    assert (own.figures["tdp_w"].source, own.figures["tdp_w"].value) == ("our meter", "650")
    shipped = row_or_none(alice, "accelerators", "h100-80gb")
    assert shipped is not None
    assert own.figures["bf16_flops_per_s"].source == shipped.figures["bf16_flops_per_s"].source
    assert accelerator_for(alice, "h100-ours").memory_bytes == accelerator_for(alice, "h100-80gb").memory_bytes


def test_a_clone_keeps_what_was_measured_until_a_peak_is_another(alice_client: Client) -> None:
    change(alice_client, "/catalogue/accelerators/add?like=h100-80gb", id="h100-ours", memory_bytes="94 GiB")
    page = unescape(alice_client.get("/catalogue/accelerators/h100-ours").content.decode())
    assert 'It is measured as <a href="/catalogue/accelerators/h100-80gb">' in page
    assert "<code>measured_as</code> h100-80gb" in page
    assert "llama-3.1-70b" in page
    assert "What it no longer keeps" not in page
    status, _ = change(alice_client, "/catalogue/accelerators/h100-ours/edit", memory_bandwidth_bytes_per_s="2 TB/s")
    assert status == 302
    page = unescape(alice_client.get("/catalogue/accelerators/h100-ours").content.decode())
    assert "What it no longer keeps" in page
    assert '<th scope="row">Memory bandwidth</th><td class="number">2 TB/s</td><td class="number">3.35 TB/s' in page
    assert "llama-3.1-70b" not in page
    status, page = change(alice_client, "/catalogue/accelerators/h100-ours/edit", measured_as="h100-ours")
    assert (status, "Found ‘h100-ours’, expected one of a100-80gb" in page) == (422, True)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"memory_bytes": "80"}, "Found ‘80’, expected a whole number of bytes from 1e8 to 1e14."),
        ({"tdp_w": "much"}, "Found ‘much’, expected a number of W from 1 to 100,000."),
        ({"tdp_w": "-700"}, "Found ‘-700’, expected a number of W from 1"),
        ({"tdp_w": "nan"}, "Found ‘nan’, expected a number of W"),
        ({"idle_w": "800"}, "Found 800, expected at most tdp_w (700)."),
        ({"bf16_flops_per_s": ""}, "Found nothing, expected a number of FLOP/s"),
        ({"bf16_flops_per_s": "989"}, "Found ‘989’, expected a number of FLOP/s from 1e9"),
        ({"name": "x" * 201}, "expected text of at most 200 characters"),
        ({"tdp_w": "650", "source": ""}, "expected where the figures are from"),
        ({"tdp_w": "650", "date": "yesterday"}, "Found ‘yesterday’, expected a date such as 2026-11"),
        ({}, "Found no figure changed"),
    ],
)
def test_what_is_wrong_is_named_with_the_range(
    alice_client: Client, alice: User, fields: dict[str, str], words: str
) -> None:
    status, page = change(alice_client, "/catalogue/accelerators/h100-80gb/edit", **fields)
    assert status == 422
    assert words in page
    assert not FigureOverride.objects.visible_to(alice).exists()


@pytest.mark.parametrize(
    ("row", "fields", "words"),
    [
        ("machines/dgx-h100-pcap", {"power_cap_w": "70"}, "Found 70, expected more than its accelerator"),
        ("accelerators/h100-80gb", {"idle_w": "500"}, "Found 500, expected less than the power cap of DGX"),
        ("models/llama-3.1-8b", {"kv_heads": "7"}, "Found 7, expected a divisor of heads (32)."),
        ("models/llama-3.1-8b", {"experts": "8"}, "Found null, expected a value with 8 experts."),
    ],
)  # fmt: skip
def test_figures_that_do_not_go_together_are_refused(
    alice_client: Client, alice: User, row: str, fields: dict[str, str], words: str
) -> None:
    status, page = change(alice_client, f"/catalogue/{row}/edit", **fields)
    assert (status, words in page) == (422, True)
    assert not FigureOverride.objects.visible_to(alice).exists()


@pytest.mark.parametrize(
    ("row_id", "words"),
    [
        ("dgx-h100", "in the catalogue already"),
        ("Ours!", "expected small letters"),
        ("import", "expected none of add"),
    ],
)
def test_an_id_is_checked(alice_client: Client, row_id: str, words: str) -> None:
    status, page = change(alice_client, "/catalogue/machines/add", id=row_id, **MACHINE)
    assert (status, words in page) == (422, True)


def test_text_is_never_html(alice_client: Client) -> None:
    evil = '"><script>alert(1)</script>'
    change(
        alice_client,
        "/catalogue/machines/add",
        id="ours",
        **{**MACHINE, "name": evil},
    )
    for address in (
        "/catalogue/",
        "/catalogue/machines/ours",
        "/catalogue/machines/ours/edit",
        "/catalogue/models/yi-34b",
    ):
        assert "<script>alert" not in alice_client.get(address).content.decode()


def test_an_edit_in_between_is_noticed(alice_client: Client, bob_client: Client, alice: User) -> None:
    address = "/catalogue/machines/dgx-h100/edit"
    mine = form_of(alice_client, address) | FROM | {"host_w": "1900"}
    change(bob_client, address, fans_w="700")
    response = alice_client.post(address, mine, follow=True)
    assert "Somebody changed it since" in response.content.decode()
    now = machine_for(alice, "dgx-h100")
    assert (now.host_w, now.fans_w) == (2000, 700)


def test_an_accelerator_is_kept_while_a_machine_has_it(alice_client: Client, alice: User) -> None:
    change(alice_client, "/catalogue/accelerators/add?like=h100-80gb", id="h100-ours", tdp_w="650")
    change(alice_client, "/catalogue/machines/add", id="ours", **{**MACHINE, "accelerator": "h100-ours"})
    asked = alice_client.get("/catalogue/accelerators/h100-ours/delete").content.decode()
    assert "needs it" in asked
    assert alice_client.post("/catalogue/accelerators/h100-ours/delete").status_code == 409
    alice_client.post("/catalogue/machines/ours/delete")
    alice_client.post("/catalogue/accelerators/h100-ours/delete")
    assert row_or_none(alice, "accelerators", "h100-ours") is None


def test_only_members_who_may_write_write(
    alice_client: Client, charlie_client: Client, team: Team, alice: User
) -> None:
    change(alice_client, "/catalogue/machines/add", id="ours", **MACHINE)
    for address in ("edit", "delete", "restore"):
        assert charlie_client.post(f"/catalogue/machines/ours/{address}", FROM).status_code == 404
    Membership.objects.filter(user=alice).update(role=Role.VIEWER)
    for address in ("machines/ours/edit", "machines/ours/delete", "machines/add", "machines/import", "prices/add"):
        assert alice_client.post(f"/catalogue/{address}", FROM).status_code == 403
    assert "Change</a>" not in alice_client.get("/catalogue/machines/ours").content.decode()
    assert machine_for(alice, "ours").host_w == 900


@pytest.mark.parametrize("table", catalogue.TABLES)
def test_every_shipped_figure_is_within_the_ranges_of_the_forms(table: str) -> None:
    known = columns(table)
    for figure in catalogue.figures(table):
        assert known[figure.field].problem(figure.value) == "", figure
        assert known[figure.field].unit == figure.unit


@pytest.mark.parametrize(("text", "unit", "value"), [
    ("989 TFLOP/s", "FLOP/s", 989e12),
    ("80 GiB", "bytes", 80 * 2**30),
    ("81,559", "bytes", 81559),
    ("400 Gb/s", "bytes/s", 50e9),
    ("400 GB/s", "bytes/s", 400e9),
    ("10.2 kW", "W", 10200),
    ("5 µs", "s", 5e-6),
    ("$2,000", "USD", 2000),
    ("70 billion", "parameters", 70e9),
    ("312e12", "FLOP/s", 312e12),
])  # fmt: skip
def test_figures_may_be_typed_with_units(text: str, unit: str, value: float) -> None:
    assert float(stored(text, unit)) == value


@pytest.mark.parametrize("text", ["1 000", "1.2.3", "=1+1", "5 apples", "1_000", "0x10", "inf"])
def test_what_is_no_number_stays_as_typed(text: str) -> None:
    assert stored(text, "W") == text


def test_the_date_starts_as_today(alice_client: Client) -> None:
    assert form_of(alice_client, "/catalogue/machines/add")["date"] == timezone.now().date().isoformat()


def offered(client: Client, **query: Any) -> list[str]:
    page = client.get("/catalogue/machines/", query).content.decode()
    return re.findall(r'<tr><td><a href="/catalogue/machines/([^"]+)">', page)


def test_a_list_is_filtered_and_sorted(alice_client: Client) -> None:
    change(alice_client, "/catalogue/machines/add", id="ours", **MACHINE)
    change(alice_client, "/catalogue/machines/dgx-h200/edit", host_w="1900")
    assert offered(alice_client) == [*catalogue.machine_ids(), "ours"]
    assert offered(alice_client, show="own") == ["ours"]
    assert offered(alice_client, show="overridden") == ["dgx-h200"]
    assert offered(alice_client, q="H100 capped") == ["dgx-h100-pcap"]
    assert offered(alice_client, q="no such thing") == []
    by_power = offered(alice_client, sort="-nameplate_w")
    assert by_power[0] == "nvidia-gb200"
    assert offered(alice_client, sort="nameplate_w") == by_power[::-1] or set(by_power) == set(offered(alice_client))
    assert offered(alice_client, sort="nonsense") == offered(alice_client)
    rest = alice_client.get("/api/v1/catalogue/machines/", {"show": "own"}).json()
    assert [row["id"] for row in rest["results"]] == ["ours"]
