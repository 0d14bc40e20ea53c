"""Months of actuals: a report before they are saved, the variance to the cent, and what became of each file."""

import csv
import io
import re
from collections.abc import Callable
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from planner.accounts.models import User
from planner.finance.models import ActualRow, Actuals
from planner.scenarios import granting
from planner.sharing import links
from planner.studies.models import Study
from tests.unit.planner.finance.test_finance import address, save, table

D = Decimal
FILE = (
    "month,cost,gpu_hours,used_gpu_hours,input_tokens,output_tokens,kwh\n"
    "2027-02,20000.01,5000,2000,1000000000,200000000,900\n"
    "2027-03,30000,,,,,\n"
)


def at(study: Study) -> str:
    return f"{address(study)}actuals/"


def upload(client: Client, study: Study, text: str = FILE, name: str = "bill.csv", **asked: str) -> Any:
    return client.post(at(study), {"file": SimpleUploadedFile(name, text.encode()), **asked})


def saved(client: Client, study: Study, text: str = FILE, name: str = "bill.csv") -> Actuals:
    report = upload(client, study, text, name)
    assert report.status_code == 302, report.content.decode()
    done = client.post(report["Location"], {"go": "save"})
    assert done.status_code == 302
    return Actuals.unscoped.latest("pk")


def shown(client: Client, address: str, **query: str) -> str:
    response = client.get(address, query)
    assert response.status_code == 200
    return unescape(response.content.decode())


def effects(client: Client, study: Study, **query: str) -> dict[str, dict[str, Decimal]]:
    response = client.get(f"{address(study)}variance.csv", query)
    assert response.status_code == 200
    found: dict[str, dict[str, Decimal]] = {}
    for row in csv.DictReader(io.StringIO(response.content.decode())):
        of = found.setdefault(row["period_start"][:7], {})
        of[row["effect"]] = D(row["amount_usd"])
        of["forecast"], of["actual"] = D(row["forecast_usd"]), D(row["actual_usd"])
    return found


@pytest.fixture
def priced(alice_client: Client, costed: Study) -> Study:
    """Months from 2027-02."""
    assert save(alice_client, costed).status_code == 302
    return costed


def test_nothing_is_compared_before_it_is_saved(alice_client: Client, priced: Study) -> None:
    report = upload(alice_client, priced)
    page = shown(alice_client, report["Location"])
    assert "2 of 2 rows count, in 2 months; nothing is saved yet" in page
    assert effects(alice_client, priced) == {}
    assert "not saved" in shown(alice_client, at(priced))
    alice_client.post(report["Location"], {"go": "discard"})
    assert not Actuals.unscoped.exists()
    assert not ActualRow.objects.exists()


@pytest.mark.parametrize("view", ["book", "cash", "economic"])
def test_effects_add_up_from_the_forecasts_lines_to_what_was_billed(
    alice_client: Client, priced: Study, view: str
) -> None:
    saved(alice_client, priced)
    lines = table(alice_client, priced, "lines", view=view)
    found = effects(alice_client, priced, view=view)
    assert set(found) == {"2027-02", "2027-03"}
    for period, of in found.items():
        forecast = sum(D(row["amount_usd"]) for row in lines if row["period_start"].startswith(period))
        assert of.pop("forecast") == forecast
        actual = of.pop("actual")
        assert actual == {"2027-02": D("20000.01"), "2027-03": D(30000)}[period]
        assert sum(of.values()) == actual - forecast
    assert set(found["2027-02"]) == {"volume", "token_mix", "efficiency", "use", "price"}
    assert set(found["2027-03"]) == {"volume_and_token_mix_and_efficiency_and_use_and_price"}


def test_the_page_tells_all_months_and_one(alice_client: Client, priced: Study) -> None:
    saved(alice_client, priced)
    whole = shown(alice_client, at(priced))
    assert "$50,000.01" in whole
    assert 'id="variance-figure"' in whole
    assert "Volume, token mix, efficiency, use and price" in whole
    one = shown(alice_client, at(priced), month="2027-02")
    assert re.search(r"→ 1,200,000,000 tokens", one)
    assert "not known" not in one.split("Quantities of")[0]
    other = shown(alice_client, at(priced), month="2027-03")
    assert "Told together" in other
    assert "not known" in other


def test_rows_that_do_not_count_are_listed_and_go_nowhere(alice_client: Client, priced: Study) -> None:
    rows = ("2027-02,100,USD,llm", "2027-02,7,EUR,llm", "2027-02,5,USD,storage", "2031-01,9,USD,llm")
    text = "month,cost,currency,service\n" + "".join(f"{row}\n" for row in rows)
    report = upload(alice_client, priced, text)["Location"]
    assert "0 of 4 rows count" in shown(alice_client, report)  # no service is called as the study is
    refused = alice_client.post(report, {"go": "save"}, follow=True)
    assert "No row of the file counts" in unescape(refused.content.decode())
    alice_client.post(report, {"go": "match", "service": ["llm"]})
    page = shown(alice_client, report)
    assert "1 of 4 rows counts" in page
    for words in (
        "currency EUR: the study's price book has no rate for it, expected one of USD",
        "service storage: not one of the study's",
        "month 2031-01",
    ):
        assert words in page
    alice_client.post(report, {"go": "save"})
    assert effects(alice_client, priced)["2027-02"]["actual"] == D(100)
    kept = Actuals.unscoped.get()
    response = alice_client.get(f"{at(priced)}{kept.pk}/uncounted.csv")
    listed = csv.DictReader(io.StringIO(response.content.decode()))
    assert [(row["line"], row["cost"], row["currency"]) for row in listed] == [
        ("3", "7", "EUR"), ("4", "5", "USD"), ("5", "9", "USD")
    ]  # fmt: skip
    assert alice_client.post(report, {"go": "match", "service": ["storage"]}).status_code == 302
    assert Actuals.unscoped.get().rules["services"] == ["llm"]  # what is saved stays


def test_a_later_file_replaces_its_months_until_it_is_deleted(alice_client: Client, priced: Study) -> None:
    saved(alice_client, priced)
    later = saved(alice_client, priced, "month,cost\n2027-02,1\n", "corrected.csv")
    assert {period: of["actual"] for period, of in effects(alice_client, priced).items()} == {
        "2027-02": D(1), "2027-03": D(30000)
    }  # fmt: skip
    assert alice_client.post(f"{at(priced)}{later.pk}/delete").status_code == 302
    assert effects(alice_client, priced)["2027-02"]["actual"] == D("20000.01")
    assert "corrected.csv" in shown(alice_client, at(priced))
    assert "deleted" in shown(alice_client, at(priced))


def test_a_focus_bill_is_matched_by_service_and_compared(alice_client: Client, priced: Study) -> None:
    title = priced.revision.title
    head = (
        "ChargePeriodStart,ChargePeriodEnd,BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,ServiceName,"
        "ServiceCategory,ConsumedQuantity,ConsumedUnit,SkuId\n"
    )
    day = "2027-02-{:02d}T00:00:00Z,2027-02-{:02d}T00:00:00Z,9,0.335,USD,Usage,{},Compute,24,Hours,s\n"
    days = "".join(day.format(of, of + 1, f'"{title}"') for of in range(1, 28))
    last = f'2027-02-28T00:00:00Z,2027-03-01T00:00:00Z,9,0.335,USD,Usage,"{title}",Compute,24,Hours,s\n'
    kept = saved(alice_client, priced, head + days + last)
    assert effects(alice_client, priced)["2027-02"]["actual"] == D("9.38")
    (month,) = kept.report["months"]
    assert (month["accelerator_hours"], month["notes"]) == (str(28 * 24 * 8), [])
    report = upload(alice_client, priced, head + days + last, cost="BilledCost")
    alice_client.post(report["Location"], {"go": "save"})
    assert effects(alice_client, priced)["2027-02"]["actual"] == D(9 * 28)
    assert "Cash: what is paid, when" in shown(alice_client, at(priced))


@pytest.mark.parametrize(
    ("text", "asked", "words"),
    [
        ("month,cost\n2027-02,x\n", {}, "line 2: cost: found 'x', expected a number such as 1234.56"),
        (FILE, {"cost": "Cost"}, "cost: found 'Cost', expected one of EffectiveCost"),
        (FILE, {"hours_of": "days"}, "hours_of: found 'days', expected one of machines, accelerators"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(
    alice_client: Client, priced: Study, text: str, asked: dict[str, str], words: str
) -> None:
    refused = upload(alice_client, priced, text, **asked)
    assert refused.status_code == 422
    assert words in unescape(refused.content.decode())
    assert not Actuals.unscoped.exists()


def test_a_strangers_a_guests_and_no_forecast(
    alice_client: Client, charlie_client: Client, alice: Any, priced: Study
) -> None:
    kept = saved(alice_client, priced)
    for page in (at(priced), f"{at(priced)}{kept.pk}/", f"{at(priced)}{kept.pk}/uncounted.csv"):
        assert charlie_client.get(page).status_code == 404
    token = links.create(alice, priced)[1]
    guest = Client().get(f"/shared/{token}{at(priced)}{kept.pk}/")
    assert guest.status_code == 404
    assert "bill.csv" not in Client().get(f"/shared/{token}{at(priced)}").content.decode()


def test_before_costs_are_known_nothing_is_read(alice_client: Client, answered: Callable[..., Study]) -> None:
    study = answered()
    assert "There is no forecast yet" in shown(alice_client, at(study))
    assert upload(alice_client, study).status_code == 409


def rest(study: Study) -> str:
    return f"/api/v1/studies/{study.pk}/finance/"


def test_rest_takes_a_file_and_tells_the_same_effects(alice_client: Client, priced: Study) -> None:
    def sent(**more: str) -> Any:
        return alice_client.post(f"{rest(priced)}actuals", {"file": SimpleUploadedFile("b.csv", FILE.encode()), **more})

    looked = sent(dry_run="true")
    assert (looked.status_code, looked.json()["counted"], looked.json()["saved_at"]) == (200, 2, None)
    assert not Actuals.unscoped.exists()
    made = sent()
    assert made.status_code == 201, made.content
    assert alice_client.get(made["Location"]).json() == made.json()
    rows = alice_client.get(f"{rest(priced)}variance").json()
    told = {(row["period_start"][:7], row["effect"]): D(row["amount_usd"]) for row in rows["results"]}
    for period, of in effects(alice_client, priced).items():
        assert {key: usd for (month, key), usd in told.items() if month == period} == {
            key: usd for key, usd in of.items() if key not in ("forecast", "actual")
        }
    page = alice_client.get(f"{rest(priced)}variance?limit=4").json()
    assert (len(page["results"]), page["count"]) == (4, 6)
    assert alice_client.delete(made["Location"]).status_code == 204
    listed = alice_client.get(f"{rest(priced)}actuals").json()
    assert [(row["counts"], bool(row["deleted_at"])) for row in listed["results"]] == [(False, True)]


def test_rest_refuses_what_the_page_refuses(alice_client: Client, charlie_client: Client, priced: Study) -> None:
    files = f"{rest(priced)}actuals"
    wrong = alice_client.post(files, {"file": SimpleUploadedFile("b.csv", b"month,cost\n2027-02,x\n")})
    assert wrong.status_code == 400
    assert "line 2: cost: found 'x'" in wrong.content.decode()
    assert alice_client.post(files, {}).status_code == 400
    other = SimpleUploadedFile("b.csv", b"month,cost,service\n2027-02,1,mail\n")
    assert alice_client.post(files, {"file": other}).status_code == 409
    assert not Actuals.unscoped.exists()
    assert charlie_client.post(files, {}).status_code == 404


def test_who_was_given_the_question_adds_nothing_to_what_its_team_was_billed(
    alice_client: Client, alice: User, charlie: User, charlie_client: Client, priced: Study
) -> None:
    kept = saved(alice_client, priced)
    granting.grant(alice, priced.revision.scenario, "charlie", may_write=True)
    assert upload(charlie_client, priced).status_code == 403
    rest = f"/api/v1/studies/{priced.pk}/finance/actuals"
    assert charlie_client.post(rest, {"file": SimpleUploadedFile("b.csv", FILE.encode())}).status_code == 403
    for one in (f"{at(priced)}{kept.pk}/", f"{rest}/{kept.pk}"):
        assert charlie_client.get(one).status_code == 404
    page = shown(charlie_client, at(priced))
    assert "bill.csv" not in page
    assert 'type="file"' not in page
    assert Actuals.unscoped.count() == 1


def test_another_currency_is_taken_at_the_books_rate_which_is_said(alice_client: Client, priced: Study) -> None:
    rate = {"currency": "EUR", "usd": "1.08", "date": "2027-01-10", "source": "ECB"}
    Study.unscoped.filter(pk=priced.pk).update(prices={**priced.prices, "rates": [rate]})
    text = "month,cost,currency\n2027-02,10000.005,EUR\n2027-02,500,USD\n2027-02,7,GBP\n"
    kept = saved(alice_client, priced, text)
    (month,) = kept.report["months"]
    assert D(month["cost"]) == D("10000.005") * D("1.08") + 500
    assert effects(alice_client, priced)["2027-02"]["actual"] == D("11300.01")  # 10,800.0054 + 500
    assert [one["reason"] for one in kept.report["reasons"]] == [
        "currency GBP: the study's price book has no rate for it, expected one of USD, EUR"
    ]
    said = "10,000.005 EUR taken at 1.08 USD, the price book's rate of 2027-01-10, ECB"
    assert said in shown(alice_client, at(priced), month="2027-02")
