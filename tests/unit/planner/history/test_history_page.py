"""The history as a page, a file and by REST: who sees which entries, filtered and page by page."""

import csv
import io
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import strip_tags

from planner.accounts import audit, tokens
from planner.accounts.audit import Named
from planner.accounts.models import ApiToken, AuditEntry, Membership, Role, Team, User
from planner.history.asked import A_PAGE

PAGE = "/history/"
FILE = "/history/export.csv"
REST = "/api/v1/audit"
BOOK = Named("catalogue.pricebook", "ours", "Ours")


def shown(client: Client, at: str = PAGE, **query: Any) -> str:
    answer = client.get(at, query)
    assert answer.status_code == 200, answer.content
    return " ".join(unescape(strip_tags(answer.content.decode())).split())


def rows(client: Client, **query: Any) -> list[dict[str, str]]:
    answer = client.get(FILE, query)
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))  # type: ignore[attr-defined]


def rest(client: Client, **query: Any) -> dict[str, Any]:
    answer = client.get(REST, query)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture
def entries(team: Team, alice: User, bob: User) -> None:
    audit.record(team, alice, "changed", BOOK, {"dgx-h100.usd_per_hour": ("36.00", "30.125"), "note": ("=1+1", None)})
    audit.record(team, bob, "deleted", Named("workloads.workload", "7", "Week 40"), {"requests": (1000, None)})


def test_who_did_what_when_and_in_which_request(alice_client: Client, alice: User, team: Team) -> None:
    made = alice_client.post(
        "/catalogue/prices/add?like=list", _book(alice_client), headers={"X-Request-ID": "walk-12345"}
    )
    assert made.status_code == 302, made.content
    page = shown(alice_client)
    assert "alice added price book Mine" in page
    assert "dgx-h100.usd_per_hour 36.00 → 31.25" not in page  # it is a new book: nothing was before
    assert "request walk-12345" in page
    assert f"{datetime.now(UTC):%Y-%m-%d %H:}" in page
    (row,) = [one for one in rows(alice_client) if one["field"] == "dgx-h100.usd_per_hour"]
    assert (row["before"], row["after"], row["row"], row["request_id"]) == ("", "31.25", "mine", "walk-12345")
    (told,) = rest(alice_client)["results"]
    assert told["changes"]["dgx-h100.usd_per_hour"] == [None, "31.25"]
    assert (told["who"], told["team"], told["model"]) == ("alice", team.pk, "catalogue.pricebook")


def _book(client: Client) -> dict[str, str]:
    form = client.get("/catalogue/prices/add?like=list").context["form"]
    values = {field.html_name: str(field.value() or "") for field in form}
    return values | {"id": "mine", "name": "Mine", "usd:dgx-h100": "31.25", "source": "an offer", "date": "2026-11-30"}


def test_before_and_after_and_no_formula_in_a_file(alice_client: Client, entries: None) -> None:
    page = shown(alice_client)
    assert page.index("bob deleted workload Week 40") < page.index("alice changed price book Ours")
    assert "dgx-h100.usd_per_hour 36.00 → 30.125" in page
    assert [(one["field"], one["before"], one["after"]) for one in rows(alice_client, who="alice")] == [
        ("dgx-h100.usd_per_hour", "36.00", "30.125"),
        ("note", "'=1+1", ""),
    ]


FILTERS = [
    ({"who": "BOB"}, ["deleted"]),
    ({"who": "sheet"}, ["saved"]),
    ({"kind": "catalogue.pricebook"}, ["saved", "changed"]),
    ({"kind": "catalogue.pricebook", "row": "ours"}, ["saved", "changed"]),
    ({"row": "7"}, ["deleted"]),
    ({"question": "12"}, ["revised"]),
    ({"from": "2999-01-01"}, []),
    ({"to": "2000-01-01"}, []),
    ({"from": "2000-01-01", "to": "2999-01-01", "who": "alice"}, ["revised", "saved", "changed"]),
]


@pytest.mark.parametrize(("query", "actions"), FILTERS, ids=[str(query) for query, _ in FILTERS])
def test_a_filter_leaves_entries_out(
    query: dict[str, str], actions: list[str], alice_client: Client, alice: User, team: Team, entries: None
) -> None:
    alice.api_token = tokens.issue(team, "sheet", alice)[0]
    made = AuditEntry.unscoped.latest("pk").pk
    audit.record(team, alice, "saved", BOOK)
    alice.api_token = None
    audit.record(team, alice, "revised", Named("scenarios.scenario", "12", "Asked"), scenario_id=12)
    found = [one["action"] for one in rows(alice_client, **query) if one["action"] != "made the token"]
    assert list(dict.fromkeys(found)) == actions
    assert AuditEntry.unscoped.filter(pk=made).exists()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"from": "yesterday"}, "from: found ‘yesterday’, expected a day such as 2027-01-31."),
        ({"kind": "x"}, "kind: found ‘x’, expected one of the kinds listed."),
        ({"question": "x"}, "question: found ‘x’, expected the number of a question."),
        ({"before": "x"}, "before: expected what the link to older entries says."),
    ],
)
def test_what_cannot_be_read_is_said(query: dict[str, str], words: str, alice_client: Client, entries: None) -> None:
    answer = alice_client.get(PAGE, query)
    assert answer.status_code == 422
    page = " ".join(unescape(strip_tags(answer.content.decode())).split())
    assert words in page
    assert "Week 40" not in page


def test_page_by_page_and_by_the_same_number_of_queries(alice_client: Client, alice: User, team: Team) -> None:
    def queries(at: str) -> int:
        alice_client.get(at)
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert alice_client.get(at).status_code == 200
        return len(seen)

    for place in range(3):
        audit.record(team, alice, "saved", Named("catalogue.pricebook", "ours", f"Book {place}"), {"n": (place, None)})
    few = queries(PAGE), queries(REST)
    audit.record_each(
        team,
        alice,
        "saved",
        [(Named("catalogue.pricebook", "ours", f"Book {n}"), {}) for n in range(3, 2 * A_PAGE + 10)],
    )
    assert (queries(PAGE), queries(REST)) == few == (QUERIES_OF_PAGE, QUERIES_OF_REST)
    seen: list[str] = []
    at: str | None = PAGE
    while at:
        answer = alice_client.get(at)
        seen += [line.entry.subject for line in answer.context["lines"]]
        at = (
            f"{PAGE}?{answer.context['asked'].query}&before={answer.context['older']}".replace("+", "%2B")
            if answer.context["older"]
            else None
        )
    assert seen == [f"Book {n}" for n in reversed(range(2 * A_PAGE + 10))]
    told, names = rest(alice_client, limit=40), []
    while True:
        names += [one["name"] for one in told["results"]]
        if told["next"] is None:
            break
        told = alice_client.get(told["next"]).json()
    assert names == seen


QUERIES_OF_PAGE, QUERIES_OF_REST = 8, 5


def test_every_member_reads_and_no_stranger(
    team: Team, entries: None, bob_client: Client, charlie_client: Client, charlie: User, client: Client
) -> None:
    viewer = User.objects.create_user("vera")
    Membership.objects.create(team=team, user=viewer, role=Role.VIEWER)
    vera = Client()
    vera.force_login(viewer)
    for reader in (bob_client, vera):
        assert "Week 40" in shown(reader)
        assert rest(reader)["count"] == 2
    assert "Week 40" not in shown(charlie_client)
    assert charlie_client.get(PAGE, {"team": team.pk}).status_code == 404
    assert charlie_client.get(FILE, {"team": team.pk}).status_code == 404
    assert rest(charlie_client)["count"] == rest(charlie_client, team=team.pk)["count"] == 0
    assert client.get(PAGE).status_code == 302
    assert client.get(REST).status_code == 401


def test_a_token_reads_its_team_alone(team: Team, alice: User, entries: None) -> None:
    other = Team.objects.create(name="board")
    Membership.objects.create(team=other, user=alice, role=Role.OWNER)
    audit.record(other, alice, "saved", BOOK)
    text = tokens.issue(other, "board", alice, ApiToken.Scope.READ)[1]
    client = Client(headers={"Authorization": f"Bearer {text}"})
    assert {one["team"] for one in rest(client)["results"]} == {other.pk}
    since = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    assert [one["action"] for one in rest(client, updated_since=since)["results"]] == ["saved", "made the token"]
    assert rest(client, until=since)["count"] == 0
    for method in ("post", "put", "patch", "delete"):
        assert getattr(client, method)(REST).status_code in (403, 405)


def test_one_s_own_account_is_one_s_own(alice: User, bob_client: Client) -> None:
    client = Client()
    client.post("/accounts/sign-in/", {"username": "alice", "password": "alice"})
    assert "alice signed in account alice" in shown(client, f"{PAGE}account/")
    assert "signed in" not in shown(client)  # the team's
    assert "signed in" not in shown(bob_client, f"{PAGE}account/")


def test_a_row_s_page_leads_to_its_history(alice_client: Client, entries: None, alice: User) -> None:
    alice_client.post(
        "/workloads/mix",
        {
            "name": "ours",
            "mix": "coding",
            "rate_req_per_s": "2.5",
            "requests": "50",
            "arrivals": "poisson",
            "seed": "3",
        },
    )
    page = alice_client.get("/workloads/").content.decode()
    assert "ours" in page
    row = AuditEntry.unscoped.get(model="workloads.workload", action="made")
    detail = unescape(alice_client.get(f"/workloads/{row.row}").content.decode())
    at = f"/history/?team={row.team_id}&kind=workloads.workload&row={row.row}"
    assert f'href="{at}"' in detail
    assert "History of workload ours" in shown(alice_client, at)
    assert "Week 40" not in shown(alice_client, at)
