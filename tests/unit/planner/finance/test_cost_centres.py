"""Cost centres of a study's classes: on the page, in the file, to the cent."""

import csv
import io
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client

from planner.finance.models import AssumptionSet
from planner.studies.models import Study
from tests.unit.planner.finance.test_finance import address, save, table


def at(study: Study) -> str:
    return f"{address(study)}cost-centres/"


def post(client: Client, study: Study, **typed: str) -> Any:
    return client.post(at(study), {"idle": "by_use", "headroom": "by_use", **typed})


def shown(client: Client, study: Study, **query: str) -> str:
    response = client.get(at(study), query)
    assert response.status_code == 200
    return unescape(response.content.decode())


def test_before_costs_are_known_the_page_leads_there(alice_client: Client, answered: Any) -> None:
    assert "have not been worked out yet" in shown(alice_client, answered())


def test_each_months_parts_add_up_to_its_lines(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed)
    for view in ("book", "cash"):
        rows, lines = (
            table(alice_client, costed, "cost-centres", view=view),
            table(alice_client, costed, "lines", view=view),
        )
        for period in {line["period_start"] for line in lines}:
            parts = [Decimal(row["amount_usd"]) for row in rows if row["period_start"] == period]
            assert sum(parts) == sum(Decimal(row["amount_usd"]) for row in lines if row["period_start"] == period)
    assert {row["part"] for row in rows} == {"input", "cached_input", "output", "idle", "headroom"}


def test_a_class_gets_a_centre_and_idle_a_rule(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed)
    saved = post(alice_client, costed, **{"centre-0": "search team", "headroom": "apart"})
    assert saved.status_code == 302, saved.content.decode()
    page = unescape(alice_client.get(saved["Location"]).content.decode())
    assert "search team" in page
    rows = table(alice_client, costed, "cost-centres")
    by_centre: dict[str, Decimal] = {}
    for row in rows:
        by_centre[row["cost_centre"]] = by_centre.get(row["cost_centre"], Decimal(0)) + Decimal(row["amount_usd"])
        assert (row["idle_rule"], row["headroom_rule"]) == ("by_use", "apart")
    assert set(by_centre) == {"search team", "not shared"}
    headroom = [Decimal(row["amount_usd"]) for row in rows if row["part"] == "headroom"]
    assert sum(headroom) == by_centre["not shared"]
    save(alice_client, costed)  # other assumptions keep the centres
    assert AssumptionSet.unscoped.first().values["sharing"]["headroom"] == "apart"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"idle": "magic"}, "idle: found 'magic'"),
        ({"centre-0": "x" * 41}, "expected at most 40 printable characters"),
    ],
)
def test_what_cannot_be_saved_is_said(alice_client: Client, costed: Study, typed: dict[str, str], words: str) -> None:
    refused = post(alice_client, costed, **typed)
    assert refused.status_code == 422
    assert words in unescape(refused.content.decode())
    assert not AssumptionSet.unscoped.exists()


def test_a_stranger_and_a_viewer(alice_client: Client, charlie_client: Client, costed: Study) -> None:
    assert charlie_client.get(at(costed)).status_code == 404
    assert charlie_client.post(at(costed), {}).status_code == 404


def test_a_centres_name_is_no_formula(alice_client: Client, costed: Study) -> None:
    post(alice_client, costed, **{"centre-0": "=1+1"})
    text = alice_client.get(f"{address(costed)}cost-centres.csv").content.decode()
    assert {row["cost_centre"] for row in csv.DictReader(io.StringIO(text))} == {"'=1+1"}
