"""A question shared with one person of another team: they see it and its parts, and nothing else of the team."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client

from planner.accounts import tokens
from planner.accounts.models import AuditEntry, Membership, Role, Team, User
from planner.scenarios import granting
from planner.scenarios.models import Grant, Scenario
from planner.scenarios.services import create_scenario
from planner.sharing import links
from planner.sharing.models import ShareLink
from planner.studies.models import Study
from planner.workloads.models import Workload
from tests.unit.planner.studies.conftest import Counted, Inputs


@pytest.fixture
def study(start: Callable[[], Study], inputs: Inputs, alice: User) -> Study:
    create_scenario(alice, {**inputs, "rate_req_per_s": 11}, "Merger")
    return start()


@pytest.fixture
def read(alice: User, study: Study, charlie: User) -> Grant:
    return granting.grant(alice, study.revision.scenario, "charlie")


@pytest.fixture
def write(alice: User, study: Study, charlie: User) -> Grant:
    return granting.grant(alice, study.revision.scenario, "charlie", may_write=True)


def text(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return unescape(response.content.decode())


def test_who_may_read_sees_the_question_and_its_answer(read: Grant, study: Study, charlie_client: Client) -> None:
    scenario = study.revision.scenario_id
    home = text(charlie_client, "/")
    assert f'<a href="/questions/{scenario}/">' in home
    assert "by team planners, to read" in home
    assert "at 10 requests/s" in text(charlie_client, f"/studies/{study.pk}/")
    assert "Find the designs" not in text(charlie_client, f"/studies/{study.pk}/")
    page = text(charlie_client, f"/questions/{scenario}/")
    assert "Revision 1" in page
    assert 'id="people"' not in page
    assert "Make a link" not in page


def test_and_nothing_else_of_the_team(
    read: Grant, study: Study, charlie: User, charlie_client: Client, alice: User
) -> None:
    links.create(alice, study, "for the board")
    assert list(Scenario.objects.visible_to(charlie)) == [study.revision.scenario]
    assert list(Study.objects.visible_to(charlie)) == [study]
    assert not Workload.objects.visible_to(charlie).filter(team=study.team).exists()
    for rows in (ShareLink, Grant, AuditEntry):
        assert not rows.objects.visible_to(charlie).exists()
    assert charlie_client.get(f"/workloads/{study.workload_id}").status_code == 404
    for page in ("/", f"/studies/{study.pk}/", f"/questions/{study.revision.scenario_id}/", "/workloads/"):
        assert [name for name in ("Merger", "for the board") if name in text(charlie_client, page)] == []


def test_who_may_read_changes_nothing(read: Grant, study: Study, charlie_client: Client, inputs: Inputs) -> None:
    scenario = study.revision.scenario_id
    posts = {
        f"/studies/{study.pk}/cancel": 403,
        f"/studies/{study.pk}/retry": 403,
        f"/questions/{scenario}/revisions/1/restore": 403,
        f"/questions/{scenario}/links": 403,
        f"/questions/{scenario}/people": 403,
        f"/questions/{scenario}/people/{read.pk}/end": 404,
    }
    data = {"study": study.pk, "name": "bob", "may": "write"}
    assert {at: charlie_client.post(at, data).status_code for at in posts} == posts
    charlie_client.post(f"/studies/{study.pk}/ask", {**inputs, "rate_req_per_s": "12"})
    assert study.revision.scenario.latest.number == 1
    assert Grant.unscoped.count() == 1


def test_who_may_change_saves_a_revision_with_the_team_s_workload(
    write: Grant, study: Study, charlie: User, charlie_client: Client, inputs: Inputs
) -> None:
    assert "Find the designs" in text(charlie_client, f"/studies/{study.pk}/")
    response = charlie_client.post(f"/studies/{study.pk}/ask", {**inputs, "rate_req_per_s": "12"})
    assert response.status_code == 302
    latest = study.revision.scenario.latest
    assert (latest.number, latest.created_by) == (2, charlie)
    made = latest.studies.get()
    assert (made.team, made.workload) == (study.team, study.workload)
    assert not Workload.objects.visible_to(charlie).filter(team=study.team).exists()
    assert charlie_client.post("/", {**inputs, "rate_req_per_s": "12"}).status_code in (200, 422)
    assert not Scenario.unscoped.filter(team__name="strangers").exists()


def test_who_may_change_does_not_pass_it_on(write: Grant, study: Study, charlie_client: Client) -> None:
    scenario = study.revision.scenario_id
    assert charlie_client.post(f"/questions/{scenario}/links", {"study": study.pk}).status_code == 403
    assert charlie_client.post(f"/questions/{scenario}/people", {"name": "bob", "may": "read"}).status_code == 403


def test_a_clone_is_a_copy_of_their_own(read: Grant, study: Study, charlie: User, charlie_client: Client) -> None:
    response = charlie_client.post(f"/questions/{study.revision.scenario_id}/revisions/1/clone")
    copy = Study.objects.visible_to(charlie).exclude(pk=study.pk).get()
    assert response["Location"] == f"/studies/{copy.pk}/"
    assert copy.team.name == copy.workload.team.name == "strangers"


def test_it_ends(read: Grant, study: Study, alice_client: Client, charlie_client: Client) -> None:
    scenario = study.revision.scenario_id
    assert "Visible to team planners and 1 person beside it; no links." in text(alice_client, f"/questions/{scenario}/")
    alice_client.post(f"/questions/{scenario}/people/{read.pk}/end")
    assert charlie_client.get(f"/studies/{study.pk}/").status_code == 404
    assert "Shared with you" not in text(charlie_client, "/")
    assert [row.action for row in AuditEntry.unscoped.filter(model="scenarios.grant").order_by("pk")] == [
        "shared",
        "shared no more",
    ]


def test_nobody_finds_out_who_has_an_account(study: Study, alice_client: Client, charlie: User) -> None:
    here = f"/questions/{study.revision.scenario_id}/"
    said = []
    for name in ("charlie", "nobody"):
        page = alice_client.post(f"{here}people", {"name": name, "may": "read"}, follow=True).content.decode()
        assert f"Shared with {name}, if anybody has this name." in page
        row = re.search(rf'<tr><th scope="row">{name}</th>.*?</tr>', page, re.DOTALL)
        assert row is not None
        said.append(re.sub(r'/\d+/end|datetime="\S+"|csrfmiddlewaretoken\S+ value=\S+|' + name, "", row[0]))
    assert said[0] == said[1]


def test_a_token_sees_nothing_shared_with_its_maker(write: Grant, study: Study, charlie: User) -> None:
    _, secret = tokens.issue(Team.objects.get(name="strangers"), "ci", charlie, "write")
    response = Client().get(f"/api/v1/studies/{study.pk}", headers={"Authorization": f"Bearer {secret}"})
    assert response.status_code == 404


def test_who_was_given_a_question_and_is_a_member_too_sees_it_once(
    write: Grant, study: Study, charlie: User, team: Team
) -> None:
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    assert list(Study.objects.visible_to(charlie)) == [study]
    assert list(Study.objects.editable_by(charlie)) == [study]
    assert granting.shared_with(charlie) == []


def test_a_shared_study_is_read_whole(
    read: Grant, study: Study, work: Callable[..., int], counted: Counted, charlie_client: Client, alice_client: Client
) -> None:
    work()
    at = f"/studies/{study.pk}/designs.csv"
    assert charlie_client.get(at).content == alice_client.get(at).content
