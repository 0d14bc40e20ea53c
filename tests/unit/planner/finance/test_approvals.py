"""Approving a study's costs: who may, what is kept, what becomes of it when it is withdrawn or the inputs change."""

from collections.abc import Callable
from decimal import Decimal
from html import unescape
from typing import Any

from django.test import Client

from planner.accounts import tokens
from planner.accounts.entries import AuditEntry
from planner.accounts.models import ApiToken, Membership, Role, Team, User
from planner.finance.models import Approval
from planner.scenarios import granting
from planner.sharing import links
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.results import study_result
from tests.unit.planner.finance.test_finance import address, save, shown


def approve(client: Client, study: Study, note: str = "", **query: str) -> Any:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return client.post(f"{address(study)}approvals?{asked}", {"note": note})


def test_what_is_approved_is_kept_with_by_whom_and_when(alice_client: Client, alice: User, costed: Study) -> None:
    page = shown(alice_client, costed)
    assert "Nobody has approved these figures" in page
    assert approve(alice_client, costed, "  For the board\n of May ", set="own").status_code == 302
    one = Approval.objects.visible_to(alice).get()
    winner = study_result(costed).winner
    assert winner is not None
    hours = {"2027-01": 744}  # created in December 2026
    january = [line for line in one.lines["book"] if line[0] == "2027-01"]
    assert [(line[3], Decimal(line[4])) for line in january] == [
        ("on_demand", (winner.usd_per_hour * hours["2027-01"]).quantize(Decimal("0.01")))
    ]
    assert Decimal(one.kept["totals"]["book"]) == sum(Decimal(line[4]) for line in one.lines["book"])
    assert (len(one.kept["months"]), one.kept["months"][0]) == (36, "2027-01")
    assert (one.note, one.approved_by_name, one.created_by) == ("For the board of May", "alice", alice)
    assert (one.engine_version, one.definition_version, one.currency) == (costed.engine_version, "1", "USD")
    page = shown(alice_client, costed)
    assert "Approved</strong> by alice" in page
    assert "For the board of May" in page
    assert one.assumptions_hash in page
    entry = AuditEntry.objects.visible_to(alice).get(action="approved")
    assert entry.subject.endswith(f"revision 1, answer {costed.pk}")
    assert entry.changes["book"] == [None, one.kept["totals"]["book"]]
    history = unescape(alice_client.get(f"/questions/{costed.revision.scenario_id}/").content.decode())
    assert "Approved</strong> by alice" in history


def test_the_same_is_approved_once_and_other_assumptions_are_not_approved(alice_client: Client, costed: Study) -> None:
    approve(alice_client, costed)
    again = alice_client.post(f"{address(costed)}approvals", {}, follow=True)
    assert "alice has approved these figures already" in unescape(again.content.decode())
    save(alice_client, costed)
    assert "Nobody has approved these figures" in shown(alice_client, costed)
    assert "Approved</strong> by alice" in shown(alice_client, costed, set="own")
    approve(alice_client, costed)
    first, second = Approval.unscoped.order_by("pk")
    assert first.assumptions_hash != second.assumptions_hash
    assert second.kept["assumptions"]["machines"][0]["capex_usd"] == "300000"
    assert "2 approvals of this question" in shown(alice_client, costed)


def test_one_that_is_withdrawn_stays_in_history(
    alice_client: Client, bob: User, bob_client: Client, costed: Study
) -> None:
    approve(alice_client, costed)
    one = Approval.unscoped.get()
    at = f"{address(costed)}approvals/{one.pk}/withdraw"
    assert bob_client.post(at).status_code == 302
    one.refresh_from_db()
    assert (one.withdrawn_by, one.withdrawn_by_name, one.approved_by_name) == (bob, "bob", "alice")
    page = shown(alice_client, costed)
    assert "Nobody has approved these figures" in page
    assert "withdrawn by bob" in page
    assert "It had been withdrawn already" in unescape(alice_client.post(at, follow=True).content.decode())
    approve(alice_client, costed)
    assert Approval.unscoped.count() == 2


def test_who_may(
    alice: User, bob: User, bob_client: Client, charlie: User, charlie_client: Client, client: Client, costed: Study
) -> None:
    """Not viewers, nor whom the question was shared with, even to be changed; a stranger finds nothing."""
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    assert approve(bob_client, costed).status_code == 403
    assert "Approve revision" not in shown(bob_client, costed)
    assert approve(charlie_client, costed).status_code == 404
    granting.grant(alice, costed.revision.scenario, "charlie", may_write=True)
    assert approve(charlie_client, costed).status_code == 403
    assert "Approve revision" not in shown(charlie_client, costed)
    _, token = links.create(alice, costed)
    assert client.post(f"/shared/{token}{address(costed)}approvals", {}).status_code == 405
    assert not Approval.unscoped.exists()
    Membership.objects.filter(user=bob).update(role=Role.EDITOR)
    approve(bob_client, costed, "Yes")
    seen = unescape(client.get(f"/shared/{token}{address(costed)}").content.decode())
    assert "Approved</strong> by bob" in seen
    assert "Withdraw this approval" not in seen


def test_what_is_not_known_is_not_approved(alice_client: Client, answered: Callable[..., Study], costed: Study) -> None:
    save(alice_client, costed, **{"machines.0.capex_usd": ""})  # bought, at no price
    page = unescape(alice_client.post(f"{address(costed)}approvals", {}, follow=True).content.decode())
    assert "Not approved. machines: 'dgx-h100' has no capex_usd" in page
    Study.unscoped.filter(pk=costed.pk).update(state=State.CANCELLED)
    page = unescape(alice_client.post(f"{address(costed)}approvals?set=own", {}, follow=True).content.decode())
    assert "The study is not complete" in page
    other = answered(rate_req_per_s=5)
    page = unescape(alice_client.post(f"{address(other)}approvals", {}, follow=True).content.decode())
    assert "The costs have not been worked out yet" in page
    assert not Approval.unscoped.exists()


def test_by_rest(alice: User, team: Team, costed: Study, client: Client) -> None:
    text = tokens.issue(team, "finance", alice, ApiToken.Scope.WRITE)[1]
    bearer = {"Authorization": f"Bearer {text}"}
    at = f"/api/v1/studies/{costed.pk}/approvals/"
    json = "application/json"
    made = client.post(f"{at}?set=own", {"note": "May"}, content_type=json, headers=bearer)
    assert made.status_code == 201, made.content
    said = made.json()
    assert made["Location"] == said["url"] == f"http://testserver{at}{said['id']}"
    assert (said["approved_by"], said["note"], said["stands"], said["months"]) == ("alice", "May", True, 36)
    again = client.post(f"{at}?set=own", {}, content_type=json, headers=bearer)
    assert (again.status_code, "already" in again.json()["detail"]) == (409, True)
    lines = client.get(said["url"], headers=bearer).json()["lines"]
    for view, whole in said["totals"].items():
        assert sum(Decimal(line["amount_usd"]) for line in lines if line["view"] == view) == Decimal(whole)
    assert client.delete(said["url"], headers=bearer).status_code == 204
    for where in (at, f"/api/v1/scenarios/{costed.revision.scenario_id}/approvals/"):
        (row,) = client.get(where, headers=bearer).json()["results"]
        assert (row["stands"], row["withdrawn_by"], row["revision"]) == (False, "alice", 1)
    long = client.post(at, {"note": "x" * 501}, content_type=json, headers=bearer)
    assert long.status_code == 400
