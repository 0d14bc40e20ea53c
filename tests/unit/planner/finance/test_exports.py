"""The files of a study's costs, opened by other programs and added up again: openpyxl, DuckDB, and any JSON Schema."""

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest
from django.conf import settings
from django.test import Client
from jsonschema import Draft202012Validator

from planner.finance.tables import KEYS, MEASURES
from planner.schemas import NAMES
from planner.schemas.files import texts
from planner.studies.models import Study
from planner.studies.results import study_result
from tests.unit.planner.catalogue.test_quotes import add
from tests.unit.planner.finance.test_finance import address, save, shown, table

D = Decimal
TABLES = ("lines", "cash-flow", "unit-costs", "focus")
NULLABLE = {"high_usd", "low_usd", "x_HighCost", "x_LowCost"}
OF_FOCUS_1_2 = {
    *("BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodEnd"),
    *("BillingPeriodStart", "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargePeriodEnd"),
    *("ChargePeriodStart", "ContractedCost", "EffectiveCost", "InvoiceIssuerName", "ListCost", "PricingQuantity"),
    *("PricingUnit", "ProviderName", "PublisherName", "ServiceCategory", "ServiceName"),
}
"""Those that FOCUS 1.2 makes mandatory."""


def fetched(client: Client, study: Study, name: str, **query: str) -> bytes:
    response = client.get(f"{address(study)}{name}", query)
    assert response.status_code == 200, response.content
    return response.content


def told(client: Client, study: Study, **query: str) -> Any:
    return json.loads(fetched(client, study, "costs.json", **query))


def queried(query: str, file: Path) -> tuple[Any, ...]:
    """The one row."""
    found = duckdb.execute(query, [str(file)]).fetchone()
    assert found is not None
    return found


def with_quote(client: Client, study: Study, **of_quote: str) -> None:
    """The answer's machines are bought by a quote in euro."""
    add(client, "rates")
    add(client, "quotes", breaks="2: 290000", **of_quote)
    form = client.get(address(study)).context["page"].form
    (field,) = (one for _, inputs in form.machine_groups for one in inputs if one.name == "machines.0.quote.owned")
    saved = save(client, study, **{"machines.0.capex_usd": "", field.name: field.field.choices[1][0]})
    assert saved.status_code == 302, saved.content.decode()


@pytest.mark.parametrize("name", TABLES)
def test_every_row_says_what_it_rests_on_and_how_sure_it_is(alice_client: Client, costed: Study, name: str) -> None:
    save(alice_client, costed)
    rows = table(alice_client, costed, name)
    keys = [f"x_{key.title().replace('_', '')}" for key in KEYS] if name == "focus" else list(KEYS)
    measures = ["x_LowCost", "x_BaseCost", "x_HighCost", "x_SloAttainment", "x_Headroom"]
    measures = measures if name == "focus" else list(MEASURES)
    assert list(rows[0])[-5:] == measures
    result = study_result(costed)
    assert result.winner is not None
    for row in rows:
        assert all(row[key] for key in keys)
        assert all(row[measure] for measure in measures if measure not in NULLABLE)
        assert 0 <= D(row[measures[3]]) <= 1
        headroom = float(result.winner.capacity_req_per_s or 0) / result.spec.rate_req_per_s - 1
        assert float(row[measures[4]]) == pytest.approx(headroom, abs=1e-8)
        amount = D(row[measures[1]])
        low, high = (D(row[place] or "Infinity") for place in (measures[0], measures[2]))
        assert (low <= amount <= high) if amount >= 0 else (low >= amount)


def test_low_and_high_are_by_the_ends_of_the_capacitys_interval(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed)
    winner = study_result(costed).winner
    assert winner is not None
    assert winner.capacity_low
    assert winner.capacity_req_per_s
    for row in table(alice_client, costed, "lines"):
        high = float(row["amount_usd"]) * winner.capacity_req_per_s / winner.capacity_low
        assert float(row["high_usd"]) == pytest.approx(high, abs=0.006)
        assert row["base_usd"] == row["amount_usd"]


@pytest.mark.parametrize("view", ["cash", "book", "economic"])
def test_the_json_is_what_its_published_schema_says(
    alice_client: Client, client: Client, costed: Study, view: str
) -> None:
    with_quote(alice_client, costed)
    found = told(alice_client, costed, view=view)
    published = client.get(found["schema"])
    assert (published.status_code, published["Content-Type"]) == (200, "application/schema+json")
    Draft202012Validator(published.json()).validate(found)
    designs = alice_client.get(f"/studies/{costed.pk}/designs.json").json()
    Draft202012Validator(client.get(designs["schema"]).json()).validate(designs)
    del found["lines"][0]["headroom"]
    assert not Draft202012Validator(published.json()).is_valid(found)


def test_the_committed_schemas_are_those_of_the_code(client: Client) -> None:
    for name, text in texts().items():
        Draft202012Validator.check_schema(json.loads(text))
        file = Path(settings.BASE_DIR) / "docs" / "schemas" / f"{name}.json"
        assert file.read_text() == text, f"python manage.py schemas writes {name}"
    assert set(texts()) == set(NAMES)
    assert client.get("/schemas/costs-0.json").status_code == 404


def test_duckdb_reads_and_adds_up_every_table(alice_client: Client, costed: Study, tmp_path: Path) -> None:
    with_quote(alice_client, costed)
    whole = told(alice_client, costed)
    for name, amount in (("lines", "amount_usd"), ("focus", "EffectiveCost"), ("cash-flow", "paid_usd")):
        file = tmp_path / f"{name}.csv"
        file.write_bytes(fetched(alice_client, costed, f"{name}.csv"))
        (found,) = queried(f"select sum({amount}::decimal(18,2)) from read_csv(?, all_varchar=true)", file)  # noqa: S608
        expected = whole["cash_flow"][-1]["paid_so_far_usd"] if name == "cash-flow" else whole["total_usd"]
        assert found == D(expected), name
    file = tmp_path / "comma.csv"
    file.write_bytes(fetched(alice_client, costed, "lines.csv", locale="de-DE", bom="1"))
    found = queried(
        "select sum(amount_usd), typeof(any_value(period_start))"
        " from read_csv(?, delim=';', decimal_separator=',', header=true)",
        file,
    )
    assert float(found[0]) == pytest.approx(float(whole["total_usd"]))
    assert found[1].startswith("TIMESTAMP")


def test_a_german_file_has_the_same_cells_written_otherwise(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed)
    for name in TABLES:
        plain = table(alice_client, costed, name)
        german = fetched(alice_client, costed, f"{name}.csv", locale="de-DE", bom="1").decode()
        assert german.startswith("\ufeff")
        rows = list(csv.DictReader(io.StringIO(german.removeprefix("\ufeff")), delimiter=";"))
        assert list(rows[0]) == list(plain[0])
        amount = "EffectiveCost" if name == "focus" else "base_usd"
        for one, other in zip(rows, plain, strict=True):
            assert one.get("period_start") == other.get("period_start")
            assert "." not in one.get(amount, "")
            assert one.get(amount, "").replace(",", ".") == other.get(amount, "")
    designs = alice_client.get(f"/studies/{costed.pk}/designs.csv", {"locale": "de-DE"}).content.decode()
    (row, *_) = csv.DictReader(io.StringIO(designs), delimiter=";")
    assert "," in row["capacity_req_per_s"]
    assert "." not in row["capacity_req_per_s"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"locale": "de"}, "locale: found 'de', expected one of cs-CZ"),
        ({"locale": "xx-XX"}, "expected one of"),
        ({"bom": "yes"}, "bom: found 'yes', expected 0 or 1"),
    ],
)
def test_another_form_than_there_is_is_refused(
    alice_client: Client, costed: Study, query: dict[str, str], words: str
) -> None:
    for at in (f"{address(costed)}lines.csv", f"/studies/{costed.pk}/designs.csv"):
        refused = alice_client.get(at, query)
        assert (refused.status_code, words in refused.content.decode()) == (400, True), refused.content


def test_the_forecast_has_the_columns_of_focus_and_is_no_bill(alice_client: Client, costed: Study) -> None:
    with_quote(alice_client, costed)
    rows = table(alice_client, costed, "focus")
    names = list(rows[0])
    assert set(names) >= OF_FOCUS_1_2 - {"BilledCost"}
    assert not {"BilledCost", "InvoiceId"} & set(names)
    own = [name.startswith("x_") for name in names]
    assert own == sorted(own)  # last
    assert {(row["x_IsForecast"], row["x_FocusVersion"]) for row in rows} == {("true", "1.2")}
    starts = sorted({row["ChargePeriodStart"] for row in rows})
    assert sorted({row["ChargePeriodEnd"] for row in rows})[:-1] == starts[1:]  # half open, without a gap
    assert {len([row for row in rows if row["ChargePeriodStart"] == start]) for start in starts} == {4}
    assert {row["SkuId"] for row in rows} == {"input-tokens", "cached_input-tokens", "output-tokens", "idle"}
    assert sum(D(row["ListCost"]) for row in rows) > sum(D(row["EffectiveCost"]) for row in rows)
    rest = alice_client.get(f"/api/v1/studies/{costed.pk}/finance/focus").json()
    assert [list(row) for row in rest["results"]] == [names] * len(rows)
    assert [row["EffectiveCost"] for row in rest["results"]] == [row["EffectiveCost"] for row in rows]


def test_openpyxl_finds_numbers_days_and_frozen_heads_in_every_sheet(alice_client: Client, costed: Study) -> None:
    with_quote(alice_client, costed)
    book = openpyxl.load_workbook(io.BytesIO(fetched(alice_client, costed, "costs.xlsx")))
    whole = told(alice_client, costed)
    for name in ("Summary", "Designs", "Cost lines", "Cash flow", "Unit costs", "Assumptions"):
        sheet = book[name]
        head = [cell.value for cell in sheet[1]]
        assert sheet.freeze_panes == "A2"
        assert set(KEYS) <= set(head)
        assert set(MEASURES) <= set(head)
        assert not any(cell.data_type == "f" for row in sheet for cell in row)
        at = head.index("assumption_set")
        assert {row[at].value for row in sheet.iter_rows(min_row=2)} == {whole["assumption_set"]}
    head = [cell.value for cell in book["Cost lines"][1]]
    lines = [dict(zip(head, row, strict=True)) for row in book["Cost lines"].iter_rows(min_row=2, values_only=True)]
    assert sum(D(str(row["amount_usd"])) for row in lines) == D(whole["total_usd"])
    assert lines[0]["period_start"].isoformat() == "2027-02-01T00:00:00"
    sources = {row[0]: row[4] for row in book["Assumptions"].iter_rows(min_row=2, values_only=True)}
    assert sources["dgx-h100: Quote Q-17 of Acme, after discount"] == "mail of 2026-11-28"
    assert sources["dgx-h100: Quote Q-17 of Acme, 1 EUR"] == "ECB reference rate"
    assert sources["dgx-h100: By the hour"].startswith("llm-d-planner")


def test_a_quote_in_euro_is_chosen_counted_and_said(alice_client: Client, costed: Study) -> None:
    with_quote(alice_client, costed, valid_from="", valid_to="2026-01-31")
    winner = study_result(costed).winner
    assert winner is not None
    machines = int(winner.mixed_machines or 0)
    euro = 290_000 if machines >= 2 else 310_000
    net = D(euro) * D("0.9") * D("1.08")
    capital = [row for row in table(alice_client, costed, "lines") if row["category"] == "capital"]
    assert sum(D(row["amount_usd"]) for row in capital) == pytest.approx(
        net * machines * 6 * D("0.9") / 48, abs=D("0.03")
    )
    first = capital[0]
    assert (first["quote"], first["quote_standing"], first["quote_valid_to"], first["quote_currency"]) == (
        "Quote Q-17 of Acme", "expired", "2026-01-31", "EUR",
    )  # fmt: skip
    assert (first["exchange_usd"], first["exchange_date"]) == ("1.08", "2026-11-30")
    assert f"${net.normalize():,f} ({euro:,} EUR less 10 % × 1.08)" in first["formula"]
    page = shown(alice_client, costed)
    (day,) = {costed.created_at.date().isoformat()}
    assert f"Quote Q-17 of Acme for dgx-h100 expired on 2026-01-31, before {day} (the study’s day and today)." in page
    assert 'href="#quote-' in page
    assert "1 EUR = 1.08 USD" in page
    (quote,) = told(alice_client, costed)["quotes"]
    assert (quote["standing"], quote["machines"], D(quote["net_usd"])) == ("expired", machines, net)
    assert quote["exchange"] == {"currency": "EUR", "usd": "1.08", "date": "2026-11-30", "source": "ECB reference rate"}


def test_what_was_chosen_stays_when_the_book_forgets_it(alice_client: Client, costed: Study) -> None:
    with_quote(alice_client, costed)
    before = fetched(alice_client, costed, "lines.csv")
    alice_client.post("/catalogue/prices/list/delete")
    assert fetched(alice_client, costed, "lines.csv") == before
    form = alice_client.get(address(costed)).context["page"].form
    (field,) = (one for _, inputs in form.machine_groups for one in inputs if one.name == "machines.0.quote.owned")
    assert field.value == field.field.choices[1][0]  # still chosen
    refused = save(alice_client, costed, **{"machines.0.quote.owned": "0" * 12})
    assert refused.status_code == 422
    assert "in no price book any more" in refused.content.decode()


def test_every_figure_of_the_page_opens_its_formula(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed, **{"facility.kg_co2e_per_kwh": "0.4", "annual_discount_rate": "8"})
    page = alice_client.get(address(costed)).context["page"]
    html = shown(alice_client, costed)
    for how in (page.how_month, page.how_whole, page.how_npv, page.how_left, page.how_energy, page.how_api):
        assert how.words in html
        assert how.rows
    for load in page.loads:
        for how in (load.idle, load.accelerator, *(how for token, how in load.tokens if token.usd_per_million)):
            assert how.words in html
    for even in page.break_even:
        assert even.how.words in html
    for step in page.bridge:
        assert step.how in html


def test_the_bridge_begins_with_the_result_pages_own_figure(alice_client: Client, costed: Study) -> None:
    """With electricity beside the machines, a line has cents and the result an hour's millionths: a step says so."""
    study = costed
    study.prices = {**study.prices, "usd_per_kwh": "0.0837"}
    study.save(update_fields=["prices"])
    study.finished_at = None
    Study.unscoped.filter(pk=study.pk).update(engine_version="another")  # so that the result is made anew
    study.refresh_from_db()
    page = alice_client.get(address(study)).context["page"]
    winner = study_result(study).winner
    assert winner is not None
    assert page.bridge[0].usd == (winner.usd_per_hour * 730).quantize(D("0.01"))
    assert sum(step.usd for step in page.bridge[:-1]) == page.bridge[-1].usd
