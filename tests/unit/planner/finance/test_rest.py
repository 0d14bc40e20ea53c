"""REST has the rows of the finance files, and says what they wait for."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from planner.accounts import tokens
from planner.accounts.models import Team, User
from planner.spreadsheet import guarded
from planner.studies.models import Study
from tests.unit.planner.finance.test_finance import address, save, table

FILES = ("lines", "cash-flow", "unit-costs")


def asked(client: Client, study: Study, name: str, **query: str) -> Any:
    return client.get(f"/api/v1/studies/{study.pk}/finance/{name}", query)


def as_cells(row: dict[str, Any]) -> dict[str, str]:
    """A row of JSON as the file writes it."""
    return {key: "" if value is None else _cell(value) for key, value in row.items()}


def _cell(value: Any) -> str:
    text = str(value)
    return text if text.lstrip("-").replace(".", "").isdigit() else guarded(text)


@pytest.mark.parametrize("view", ["cash", "book", "economic"])
def test_rows_are_those_of_the_files(alice_client: Client, costed: Study, view: str) -> None:
    save(alice_client, costed)
    for name in FILES:
        told = asked(alice_client, costed, name, view=view).json()
        rows = table(alice_client, costed, name, view=view)
        assert rows
        assert [as_cells(row) for row in told["results"]] == rows, name
        assert told["count"] == len(rows)
    whole = asked(alice_client, costed, "costs", view=view)
    assert whole.json() == alice_client.get(f"{address(costed)}costs.json", {"view": view}).json()
    lines = asked(alice_client, costed, "lines", view=view).json()["results"]
    assert sum(Decimal(row["amount_usd"]) for row in lines) == Decimal(whole.json()["total_usd"])


def test_pages_hold_every_row_once(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed)
    every = asked(alice_client, costed, "lines").json()["results"]
    found, at = [], f"/api/v1/studies/{costed.pk}/finance/lines?limit=4"
    while at:
        page = alice_client.get(at).json()
        found, at = found + page["results"], page["next"]
    assert found == every
    assert len(every) > 4


def test_rows_and_files_are_not_sent_twice(alice_client: Client, costed: Study) -> None:
    rest = f"/api/v1/studies/{costed.pk}/finance/"
    for at in (f"{rest}lines", f"{rest}costs", *(f"{address(costed)}{name}" for name in ("lines.csv", "costs.xlsx"))):
        tag = alice_client.get(at)["ETag"]
        assert alice_client.get(at, headers={"If-None-Match": tag}).status_code == 304
    tag = alice_client.get(f"{rest}lines")["ETag"]
    save(alice_client, costed)  # other assumptions
    assert alice_client.get(f"{rest}lines", headers={"If-None-Match": tag}).status_code == 200


def test_until_they_are_worked_out_it_says_how(
    alice_client: Client,
    answered: Callable[..., Study],
    work: Callable[[], None],
    django_capture_on_commit_callbacks: Any,
) -> None:
    study = answered()
    for name in (*FILES, "costs"):
        refused = asked(alice_client, study, name)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_worked_out")
    at = f"/api/v1/studies/{study.pk}/analyses/costing"
    assert f'POST {{"parameters": {{}}}} to {at}' in refused.json()["error"]["message"]
    with django_capture_on_commit_callbacks(execute=True):
        assert alice_client.post(at, {"parameters": {}}, content_type="application/json").status_code == 202
    for name in (*FILES, "costs"):
        waits = asked(alice_client, study, name)
        assert (waits.status_code, waits["Retry-After"]) == (202, "2")
    work()
    assert asked(alice_client, study, "lines").status_code == 200


def test_what_cannot_be_is_named(alice_client: Client, costed: Study) -> None:
    refused = asked(alice_client, costed, "lines", view="taxes")
    assert refused.status_code == 400
    assert refused.json()["error"]["fields"] == {
        "view": ["Found 'taxes', expected one of cash, book, economic (nearest: 'cash')."]
    }
    assert asked(alice_client, costed, "profits").status_code == 404
    assert asked(alice_client, costed, "lines", set="77").status_code == 404
    save(alice_client, costed, **{"machines.0.capex_usd": ""})
    for name in ("lines", "costs"):
        refused = asked(alice_client, costed, name)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_priced")
        assert "capex_usd" in refused.json()["error"]["message"]


def test_by_token_and_not_by_a_strangers(alice: User, charlie: User, team: Team, client: Client, costed: Study) -> None:
    for who, of, status in ((alice, team, 200), (charlie, charlie.teams.get(), 404)):
        headers = {"Authorization": f"Bearer {tokens.issue(of, 'bi', who)[1]}"}
        for name in (*FILES, "costs"):
            at = f"/api/v1/studies/{costed.pk}/finance/{name}"
            assert client.get(at, headers=headers).status_code == status
