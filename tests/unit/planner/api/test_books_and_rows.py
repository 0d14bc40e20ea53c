"""REST v1 writes a team's price books and catalogue rows, and a study's assumptions; its files are the pages' files."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from planner.catalogue.models import FigureOverride
from planner.studies.models import Study
from tests.unit.planner.studies.conftest import *  # noqa: F403 - its fixtures
from tests.unit.planner.studies.conftest import Counted

ROOT = "/api/v1/catalogue/"
BOOKS = f"{ROOT}price-books/"
JSON = "application/json"
PRICE = {"machine": "dgx-h100", "usd_per_hour": "31.25", "source": "an offer", "date": "2026-11-01"}
BOOK = {"id": "ours", "name": "Ours", "date": "2026-11-02", "prices": [PRICE]}


def fields(answer: Any) -> dict[str, str]:
    return {one["field"]: one["detail"] for one in answer.json()["errors"]}


def test_a_price_book_is_made_changed_and_deleted(alice_client: Client, charlie_client: Client) -> None:
    made = alice_client.post(BOOKS, BOOK, content_type=JSON)
    assert made.status_code == 201, made.content
    at = made["Location"]
    assert made.json()["prices"][0]["usd_per_hour"] == "31.25"
    got = alice_client.get(at)
    assert (got.json(), got["ETag"]) == (made.json(), made["ETag"])
    assert charlie_client.get(at).status_code == 404
    changed = {**got.json(), "name": "Ours, 2027"}  # what GET told may be sent back
    assert alice_client.put(at, changed, content_type=JSON).status_code == 428
    put = alice_client.put(at, changed, content_type=JSON, headers={"If-Match": got["ETag"]})
    assert (put.status_code, put.json()) == (200, changed)
    assert alice_client.put(at, changed, content_type=JSON, headers={"If-Match": got["ETag"]}).status_code == 412
    assert alice_client.delete(at, headers={"If-Match": got["ETag"]}).status_code == 412
    assert alice_client.delete(at, headers={"If-Match": put["ETag"]}).status_code == 204
    assert alice_client.get(at).status_code == 404


def test_quotes_and_currencies_are_taken_and_stay(alice_client: Client) -> None:
    local = {"machine": "dgx-a100", "currency": "EUR", "local_per_hour": "20.00", "source": "an offer"}
    offer = {"machine": "dgx-h100", "term": "owned", "price": "300000", "vendor": "Acme", "quote": "Q-1"}
    offer |= {"discount": "0.05", "breaks": [{"machines": 8, "price": "290000"}], "source": "a mail"}
    rates = [{"currency": "EUR", "usd": "1.1", "date": "2026-11-01", "source": "the bank"}]
    made = alice_client.post(
        BOOKS, {**BOOK, "prices": [PRICE, local], "quotes": [offer], "rates": rates}, content_type=JSON
    )
    assert made.status_code == 201, made.content
    told = made.json()
    assert [price["usd_per_hour"] for price in told["prices"] if price["machine"] == "dgx-a100"] == ["22.00"]
    assert (told["quotes"][0]["discount"], told["quotes"][0]["standing"]) == ("0.05", "valid")
    assert told["quotes"][0]["breaks"] == [{"machines": 8, "price": "290000"}]
    short = {name: told[name] for name in ("name", "date", "prices")}
    kept = alice_client.put(made["Location"], short, content_type=JSON, headers={"If-Match": "*"})
    assert kept.json() == told


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"prices": []}, "prices", "expected one at least"),
        ({"prices": [{**PRICE, "machine": "dgx-h101"}]}, "prices[0].machine", "nearest: 'dgx-h100'"),
        ({"prices": [{**PRICE, "usd_per_hour": "-3"}]}, "prices[0].usd_per_hour", "above 0"),
        ({"prices": [{**PRICE, "usd_hour": 3}]}, "prices[0].usd_hour", "nearest: 'usd_per_hour'"),
        ({"prices": [PRICE, PRICE]}, "prices", "more than once"),
        ({"prices": [{**PRICE, "date": "May"}]}, "prices[0].date", "found ‘May’"),
        ({"prices": [{**PRICE, "currency": "EUR"}]}, "prices[0].local_per_hour", "EUR"),
        ({"id": "list"}, "id", "in the catalogue already"),
        ({"id": "Ours!"}, "id", "small letters"),
        ({"date": "2026-02-30"}, "date", "2026-02-30"),
        ({"rates": [{"currency": "EURO", "usd": 1}]}, "rates[0].currency", "three letters"),
    ],
)
def test_what_no_book_may_say_is_named(alice_client: Client, change: dict[str, Any], field: str, words: str) -> None:
    answer = alice_client.post(BOOKS, {**BOOK, **change}, content_type=JSON)
    assert answer.status_code == 400, answer.content
    assert words.lower() in fields(answer)[field].lower()


def test_a_book_that_a_question_names_is_kept(alice_client: Client, inputs: dict[str, Any]) -> None:
    alice_client.post(BOOKS, {**BOOK, "prices": [PRICE, {**PRICE, "machine": "dgx-a100"}]}, content_type=JSON)
    asked = alice_client.post("/api/v1/scenarios/", {"inputs": {**inputs, "price_book": "ours"}}, content_type=JSON)
    assert asked.status_code == 201, asked.content
    refused = alice_client.delete(f"{BOOKS}ours/")
    assert refused.status_code == 409
    assert "scenario" in refused.json()["detail"]
    assert alice_client.delete(f"{BOOKS}list/").status_code == 409  # as it is shipped


def test_a_row_is_made_like_another_and_changed(alice_client: Client, charlie_client: Client) -> None:
    shipped = alice_client.get(f"{ROOT}machines/dgx-h100/").json()
    figures = {name: figure["value"] for name, figure in shipped["figures"].items()} | {"name": "Ours"}
    row = {"id": "ours-h100", "source": "a data sheet", "figures": figures}
    made = alice_client.post(f"{ROOT}machines/", row, content_type=JSON)
    assert made.status_code == 201, made.content
    at = made["Location"]
    assert alice_client.get(at)["ETag"] == made["ETag"]
    some = {"source": "a log", "figures": {"fans_w": 321}}
    patched = alice_client.patch(at, some, content_type=JSON, headers={"If-Match": made["ETag"]})
    assert patched.status_code == 200, patched.content
    assert patched.json()["figures"]["fans_w"]["value"] == "321"
    assert patched.json()["figures"]["fans_w"]["source"] == "a log"
    assert patched.json()["figures"]["name"]["source"] == "a data sheet"
    late = alice_client.patch(at, some, content_type=JSON, headers={"If-Match": made["ETag"]})
    assert late.status_code == 412
    assert charlie_client.get(at).status_code == 404
    assert alice_client.delete(at).status_code == 204
    assert not FigureOverride.unscoped.exists()


def test_what_no_row_may_say_is_named(alice_client: Client) -> None:
    headers = {"If-Match": "*"}

    def refused(figures: dict[str, Any], **more: Any) -> dict[str, str]:
        body = {"source": "x", "figures": figures, **more}
        answer = alice_client.patch(f"{ROOT}machines/dgx-h100/", body, content_type=JSON, headers=headers)
        assert answer.status_code == 400
        return fields(answer)

    assert "nearest: 'fans_w'" in refused({"fan_w": 3})["figures.fan_w"]
    assert "figures.fans_w" in refused({"fans_w": "many"})
    assert "figures.accelerators" in refused({"accelerators": 0})
    assert "date" in refused({"fans_w": 3}, date="yesterday")
    assert alice_client.delete(f"{ROOT}machines/dgx-h100/").status_code == 409
    assert alice_client.post(f"{ROOT}racks/", {}, content_type=JSON).status_code in (400, 404)


@pytest.fixture
def study(start: Callable[[], Study], work: Callable[..., int], counted: Counted) -> Study:
    study = start()
    work()
    study.refresh_from_db()
    return study


def test_assumptions_are_saved_and_read(study: Study, alice_client: Client, charlie_client: Client) -> None:
    at = f"/api/v1/studies/{study.pk}/assumptions/"
    machines = [{"machine": name, "capex_usd": 250000} for name in ("dgx-h100", "dgx-a100")]
    values = {"machines": machines, "terms": {"base": "owned"}, "annual_discount_rate": "0.08"}
    made = alice_client.post(at, {"values": values}, content_type=JSON)
    assert made.status_code == 201, made.content
    assert alice_client.get(made["Location"]).json() == made.json()
    assert alice_client.get(at).json()["results"] == [made.json()]
    assert made.json()["values"]["machines"][0]["capex_usd"] == "250000"
    for change, field in (
        ({"terms": {"base": "stolen"}}, "values.terms.base"),
        ({"annual_discount_rate": 3}, "values.annual_discount_rate"),
        ({"machines": machines[:1]}, "values.machines"),
        ({"demand": {"start": "soon"}}, "values.demand.start"),
    ):
        answer = alice_client.post(at, {"values": {**values, **change}}, content_type=JSON)
        assert answer.status_code == 400
        assert field in fields(answer), answer.content
    assert charlie_client.get(at).status_code == 404
    assert charlie_client.post(at, {"values": values}, content_type=JSON).status_code == 404


def test_files_are_those_of_the_pages(study: Study, alice_client: Client) -> None:
    at = f"/api/v1/studies/{study.pk}/exports/"
    names = {row["name"]: row["ready"] for row in alice_client.get(at).json()["results"]}
    assert names["designs.csv"] is True
    assert names["costs.xlsx"] is False  # not worked out yet
    for name in ("designs.csv", "designs.json"):
        answer = alice_client.get(f"{at}{name}", headers={"Accept": "text/csv"})
        page = alice_client.get(f"/studies/{study.pk}/{name}")
        assert (answer.status_code, answer.content, answer["Content-Type"]) == (200, page.content, page["Content-Type"])
        assert alice_client.get(f"{at}{name}", headers={"If-None-Match": answer["ETag"]}).status_code == 304
    waiting = alice_client.get(f"{at}costs.xlsx")
    assert (waiting.status_code, waiting.json()["code"]) == (409, "not_worked_out")
    assert alice_client.get(f"{at}costs.pdf").status_code == 404
    assert alice_client.get(f"{at}designs.csv?rate=fast").json()["errors"][0]["field"] == "rate"
    assert "nearest" in alice_client.get(f"{at}designs.csv?usd.dgx-h101=3").json()["errors"][0]["detail"]


def test_answer_and_frontier_are_those_of_the_designs(study: Study, alice_client: Client) -> None:
    at = f"/api/v1/studies/{study.pk}"
    rows = {row["design_id"]: row for row in alice_client.get(f"{at}/designs").json()["results"]}
    answer = alice_client.get(f"{at}/answer").json()
    assert answer["design"] == rows[answer["design"]["design_id"]]
    assert answer["lines"] == alice_client.get(at).json()["answer"]
    frontier = alice_client.get(f"{at}/frontier").json()
    assert frontier["cost"]
    assert {row["design_id"] for row in frontier["cost"]} == {n for n, row in rows.items() if row["on_cost_frontier"]}
    dearest = alice_client.get(f"{at}/designs?ordering=-usd_per_hour&limit=3").json()
    assert dearest["results"][0]["usd_per_hour"] == max((row["usd_per_hour"] for row in rows.values()), key=float)
    some = alice_client.get(f"{at}/designs?family=sarathi:dgx-h100&met=true").json()["results"]
    assert some == [row for row in rows.values() if row["family"] == "sarathi:dgx-h100" and row["met"]]
    seen, url = [], f"{at}/designs?limit=4&ordering=usd_per_hour"
    while url:
        page = alice_client.get(url).json()
        seen += [row["design_id"] for row in page["results"]]
        url = page["next"]
    assert sorted(seen) == sorted(rows)
