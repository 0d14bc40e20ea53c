"""The finance page and its files: worked out once, assumptions saved as sets, rows that a spreadsheet adds up."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client

from planner.accounts.models import Membership, Role, User
from planner.finance import workbook
from planner.finance.models import AssumptionSet
from planner.sharing import links
from planner.studies.models import Study
from planner.studies.results import study_result

BOUGHT = {
    "terms.base": "owned", "terms.base_share": "100", "ownership.life_months": "48", "ownership.residual_share": "10",
    "annual_discount_rate": "8", "facility.usd_per_kwh": "0.08", "facility.pue": "1.25", "demand.start": "2027-02",
    "demand.months": "6", "demand.duty_cycle": "50", "machines.0.capex_usd": "300,000",
    "api.input_usd": "0.5", "api.output_usd": "1.5",
}  # fmt: skip


def address(study: Study) -> str:
    return f"/studies/{study.pk}/finance/"


def shown(client: Client, study: Study, **query: str) -> str:
    return unescape(client.get(address(study), query).content.decode())


def save(client: Client, study: Study, **entered: str) -> Any:
    return client.post(f"{address(study)}assumptions", {**BOUGHT, **entered})


def table(client: Client, study: Study, name: str, **query: str) -> list[dict[str, str]]:
    response = client.get(f"{address(study)}{name}.csv", query)
    assert response.status_code == 200, response.content
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def test_before_it_is_worked_out_the_page_offers_that(alice_client: Client, answered: Callable[..., Study]) -> None:
    study = answered()
    assert "Work it out" in shown(alice_client, study)
    assert alice_client.get(f"{address(study)}lines.csv").status_code == 404


def test_the_screens_month_is_the_first_step_of_the_bridge(alice_client: Client, costed: Study) -> None:
    page = shown(alice_client, costed)
    winner = study_result(costed).winner
    assert winner is not None
    assert f"${winner.usd_per_hour * 730:,.2f}" in page
    lines = [row for row in table(alice_client, costed, "lines") if row["period_start"].startswith("2027-01")]
    (machines,) = (row for row in lines if row["category"] == "on_demand")
    assert Decimal(machines["amount_usd"]) == winner.usd_per_hour * 744
    assert f"${Decimal(machines['amount_usd']):,.2f}" in page


def test_assumptions_are_saved_as_a_set_and_asked_by_their_address(alice_client: Client, costed: Study) -> None:
    saved = save(alice_client, costed)
    assert saved.status_code == 302, saved.content.decode()
    page = unescape(alice_client.get(saved["Location"]).content.decode())
    machines = int(study_result(costed).winner.mixed_machines)
    capital = Decimal(machines * 270_000) / 48
    rows = table(alice_client, costed, "lines", view="book")
    first = [row for row in rows if row["period_start"] == "2027-02-01T00:00:00Z"]
    assert [Decimal(row["amount_usd"]) for row in first if row["category"] == "capital"] == [capital]
    assert f"${capital:,.2f}" in page
    assert "Against the API" in page
    assert "Machines bought" in page
    before = table(alice_client, costed, "lines", set="own")
    assert {row["category"] for row in before} == {"on_demand"}
    assert before[0]["assumption_set"] != rows[0]["assumption_set"]


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("machines.0.capex_usd", "3OO", "found '3OO', expected a number such as 1234.5"),
        ("ownership.residual_share", "120", "expected at most 1"),
        ("demand.start", "2027-13", "expected a month such as 2027-01"),
        ("ownership.life_months", "4.5", "found 4.5, expected a whole number"),
        ("demand.duty_cycle", "NaN", "expected a number such as 1234.5"),
    ],
)
def test_what_cannot_be_is_said_at_its_field_and_nothing_is_lost(
    alice_client: Client, costed: Study, field: str, text: str, words: str
) -> None:
    refused = save(alice_client, costed, **{field: text})
    page = unescape(refused.content.decode())
    assert refused.status_code == 422
    assert f'href="#field-{field}"' in page
    assert words in page
    assert f'name="{field}" value="{text}"' in page
    assert not AssumptionSet.objects.visible_to(costed.created_by).exists()


def test_a_term_without_a_price_says_which(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed, **{"machines.0.capex_usd": ""})
    assert "'dgx-h100' has no capex_usd" in shown(alice_client, costed)
    refused = alice_client.get(f"{address(costed)}lines.csv")
    assert (refused.status_code, b"capex_usd" in refused.content) == (409, True)


@pytest.mark.parametrize("view", ["cash", "book", "economic"])
def test_files_are_the_same_bytes_twice_and_add_up(alice_client: Client, costed: Study, view: str) -> None:
    save(alice_client, costed)
    for name in ("lines.csv", "cash-flow.csv", "unit-costs.csv", "focus.csv", "costs.json", "costs.xlsx"):
        one, two = (alice_client.get(f"{address(costed)}{name}", {"view": view}).content for _ in range(2))
        assert one == two
    lines = table(alice_client, costed, "lines", view=view)
    whole = json.loads(alice_client.get(f"{address(costed)}costs.json", {"view": view}).content)
    assert sum(Decimal(row["amount_usd"]) for row in lines) == Decimal(whole["total_usd"])
    units = [row for row in table(alice_client, costed, "unit-costs", view=view) if row["load"] == "duty_cycle"]
    assert sum(Decimal(row["amount_usd"]) for row in units) == Decimal(whole["total_usd"])
    focus = table(alice_client, costed, "focus", view=view)
    assert sum(Decimal(row["EffectiveCost"]) for row in focus) == Decimal(whole["total_usd"])
    assert {row["x_IsForecast"] for row in focus} == {"true"}
    assert not {"BilledCost", "InvoiceId"} & set(focus[0])
    if view == "cash":
        flow = table(alice_client, costed, "cash-flow")
        assert Decimal(flow[-1]["paid_so_far_usd"]) == Decimal(whole["total_usd"])


def test_a_stranger_sees_nothing_and_a_guest_only_reads(
    bob: User, bob_client: Client, charlie_client: Client, client: Client, alice_client: Client, costed: Study
) -> None:
    save(alice_client, costed)
    for path in ("", "lines.csv"):
        assert charlie_client.get(address(costed) + path).status_code == 404
        assert bob_client.get(address(costed) + path).status_code == 200
    assert charlie_client.post(f"{address(costed)}assumptions", BOUGHT).status_code == 404
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    assert bob_client.post(f"{address(costed)}assumptions", BOUGHT).status_code == 403
    assert "Save as" not in shown(bob_client, costed)
    _, token = links.create(costed.created_by, costed)
    page = client.get(f"/shared/{token}{address(costed)}")
    assert page.status_code == 200
    assert "Save as" not in page.content.decode()
    assert "/catalogue/" not in page.content.decode()
    assert "The study’s own" in page.content.decode()  # what was saved after the link is not what it shows
    assert client.post(f"/shared/{token}{address(costed)}assumptions", BOUGHT).status_code == 405


def test_a_set_of_another_study_is_not_found(alice_client: Client, costed: Study) -> None:
    for text in ("999999", "x", "9" * 30, "-1"):
        assert alice_client.get(address(costed), {"set": text}).status_code == 404


def test_the_workbook_has_numbers_dates_and_no_formulas(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed)
    content = alice_client.get(f"{address(costed)}costs.xlsx", {"view": "book"}).content
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        sheets = {name: parts.read(name).decode() for name in parts.namelist() if name.startswith("xl/worksheets/")}
        names = parts.read("xl/workbook.xml").decode()
    for name in ("Summary", "Designs", "Cost lines", "Cash flow", "Unit costs", "Assumptions"):
        assert f'name="{name}"' in names
    assert len(sheets) == 6
    assert not any("<f>" in sheet for sheet in sheets.values())
    assert all('state="frozen"' in sheet for sheet in sheets.values())
    amounts = [Decimal(row["amount_usd"]) for row in table(alice_client, costed, "lines", view="book")]
    numbers = {float(text) for text in re.findall(r"<v>([^<]*)</v>", sheets["xl/worksheets/sheet3.xml"])}
    assert {float(amount) for amount in amounts} <= numbers


def test_ids_that_look_like_numbers_stay_text_in_the_workbook(
    alice_client: Client, costed: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hex digits may be all decimal, or read as a number beyond any spreadsheet."""
    result = study_result(costed)
    rows = [
        replace(row, design_id=text) for row, text in zip(result.rows, ("686891493138", "6e1294262105"), strict=False)
    ]
    monkeypatch.setattr(workbook, "study_result", lambda study: replace(result, rows=tuple(rows)))
    content = alice_client.get(f"{address(costed)}costs.xlsx").content
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        texts = parts.read("xl/sharedStrings.xml").decode()
    assert all(f"<t>{row.design_id}</t>" in texts for row in rows)


def test_a_file_of_an_unknown_view_is_refused(alice_client: Client, costed: Study) -> None:
    refused = alice_client.get(f"{address(costed)}lines.csv", {"view": "bok"})
    assert (refused.status_code, b"expected one of cash, book, economic" in refused.content) == (400, True)


def test_the_months_by_category_and_by_pool_add_up_to_the_lines(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed, **{"overheads.staff_usd_per_month": "20000"})
    page = shown(alice_client, costed)
    lines = table(alice_client, costed, "lines")
    for of, names in (
        ("pool", {"mixed": "Mixed pool", "shared": "Shared by all pools"}),
        ("category", {"staff": "Staff"}),
    ):
        found = re.search(rf'<script id="months-{of}-figure" type="application/json">(.*?)</script>', page)
        assert found is not None
        drawn = {trace["name"]: sum(trace["y"]) for trace in json.loads(found[1])["data"]}
        sums: dict[str, Decimal] = {}
        for row in lines:
            sums[row[of]] = sums.get(row[of], Decimal(0)) + Decimal(row["amount_usd"])
        assert len(drawn) == len(sums)
        for name, words in names.items():
            assert drawn[words] == pytest.approx(float(sums[name]))
            assert f"{words.lower()} ${sums[name]:,.2f}" in page
    staff = "$120,000.00"  # 6 months
    assert '<tr><th scope="row">Shared by all pools</th><td class="number">–</td>' in page
    assert f'{staff}</td><td class="number">{staff}</td></tr>' in page
