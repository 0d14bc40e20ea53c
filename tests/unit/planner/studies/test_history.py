"""A scenario's page: revisions and what they changed, two compared, one restored, one cloned."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from planner.accounts.models import Membership, Role, Team, User
from planner.scenarios.history import History, compare
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import save_revision
from planner.studies.models import Study
from planner.workloads.models import Workload
from tests.unit.planner.studies.conftest import Counted, Inputs

Start = Callable[[], Study]
Work = Callable[..., int]


@pytest.fixture
def second(alice: User, bob: User, revision: Revision, inputs: Inputs) -> Revision:
    """Bob's: another rate and memory."""
    return save_revision(bob, revision.scenario, {**inputs, "rate_req_per_s": "12", "memory_usable": "0.8"})


def text_of(client: Client, revision: Revision, query: str = "") -> str:
    return unescape(client.get(f"/questions/{revision.scenario_id}/{query}").content.decode())


def test_it_lists_who_changed_what(second: Revision, alice_client: Client) -> None:
    page = text_of(alice_client, second)
    assert "Revision 2" in page
    assert "bob, " in page
    assert "<li>memory that is used 90 % → 80 %</li><li>rate 10 → 12 requests/s</li>" in page
    assert "As it was first asked." in page
    assert "Visible to team planners; no links." in page


def test_each_revision_has_its_answer(start: Start, work: Work, counted: Counted, alice_client: Client) -> None:
    study = start()
    work()
    assert f'hx-get="/studies/{study.pk}/headline"' in text_of(alice_client, study.revision)


def test_two_revisions_are_compared_by_what_differs(second: Revision, alice_client: Client) -> None:
    page = text_of(alice_client, second, "?a=2&b=1")
    assert "Revision 1 against 2" in page
    compared = page[page.index('class="differences"') :]
    assert '<th scope="row">rate</th><td class="wrap">10 requests/s</td><td class="wrap">12 requests/s</td>' in compared
    assert "model" not in compared
    assert "Choose two revisions" in text_of(alice_client, second, "?a=1&b=1")
    assert "Choose two revisions" in text_of(alice_client, second, "?a=1")
    assert "Choose two revisions" in text_of(alice_client, second, "?a=1&b=77")


def test_figures_that_moved_between_two_revisions_are_among_what_differs(alice: User, second: Revision) -> None:
    rows: Any = second.rows
    rows["prices"]["prices"][1]["usd_per_hour"] = "99.5"
    rows["machines"][0]["nameplate_w"] = 7000.0
    Revision.objects.filter(pk=second.pk).update(rows=rows)
    found = compare(History(alice, second.scenario), "1", "2")
    assert found is not None
    assert [str(change) for change in found.changes][2:] == [
        "DGX A100, nameplate power 6,500 W → 7,000 W",
        "price of DGX H100 $36.00 an hour → $99.5 an hour",
    ]


def test_a_restored_revision_is_the_next_one_and_is_answered(
    second: Revision, sent: list[tuple[str, str]], bob_client: Client
) -> None:
    response = bob_client.post(f"/questions/{second.scenario_id}/revisions/1/restore")
    latest = Scenario.unscoped.get(pk=second.scenario_id).latest
    assert latest.number == 3
    first = second.scenario.revisions.get(number=1)
    assert (latest.inputs, latest.rows) == (first.inputs, first.rows)
    assert response["Location"] == f"/studies/{Study.unscoped.get(revision=latest).pk}/"


def test_a_clone_is_a_question_of_its_own(second: Revision, sent: list[tuple[str, str]], alice_client: Client) -> None:
    alice_client.post(f"/questions/{second.scenario_id}/revisions/1/clone")
    copy = Scenario.unscoped.latest("pk")
    assert copy.pk != second.scenario_id
    assert copy.latest.number == 1
    assert copy.latest.inputs == second.scenario.revisions.get(number=1).inputs
    assert copy.origin == "BLOOM 176B, A little chat, 10 requests/s, revision 1"
    assert f"A copy of {copy.origin}." in text_of(alice_client, copy.latest)


def test_what_is_gone_is_said_and_nothing_is_saved(second: Revision, alice_client: Client) -> None:
    Workload.unscoped.filter(pk=second.inputs["workload"]).delete()
    response = alice_client.post(f"/questions/{second.scenario_id}/revisions/1/restore", follow=True)
    assert "Revision 1 cannot be asked any more. Workload: Found" in unescape(response.content.decode())
    assert second.scenario.revisions.count() == 2


def test_strangers_find_nothing_and_viewers_change_nothing(
    second: Revision, team: Team, charlie: User, charlie_client: Client
) -> None:
    root = f"/questions/{second.scenario_id}"
    assert charlie_client.get(f"{root}/").status_code == 404
    for address in ("revisions/1/restore", "revisions/1/clone"):
        assert charlie_client.post(f"{root}/{address}").status_code == 404
        assert charlie_client.get(f"{root}/{address}").status_code == 405
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    assert charlie_client.get(f"{root}/").status_code == 200
    assert charlie_client.post(f"{root}/revisions/1/restore").status_code == 403
    assert second.scenario.revisions.count() == 2
