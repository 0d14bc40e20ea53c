"""Teams: made, joined by a link that works once, left; who decides, and that no team is left without an owner."""

import re
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from planner.accounts import invitations, members
from planner.accounts.models import AuditEntry, Invitation, Membership, Role, Team, User
from planner.accounts.teams import working_team


def audited(team: Team) -> list[tuple[str, str, str, list[str | None]]]:
    """Who, what, to whom, and their role before and after."""
    rows = AuditEntry.unscoped.filter(team=team).order_by("pk")
    return [(row.by_name, row.action, row.subject, row.changes["role"]) for row in rows]


def invited(client: Client, team: Team, role: str = "editor") -> str:
    page = client.post(f"/accounts/teams/{team.pk}/invitations", {"role": role, "label": "for Dora"})
    assert page.status_code == 201
    assert "no-store" in page["Cache-Control"]
    link = re.search(r"http://testserver(/accounts/invitations/[\w-]{22}/)", page.content.decode())
    assert link is not None
    return link[1]


def test_a_team_is_made_and_worked_for(alice_client: Client, alice: User, team: Team) -> None:
    response = alice_client.post("/accounts/teams/", {"name": "finance"})
    made = Team.objects.get(name="finance")
    assert response["Location"] == f"/accounts/teams/{made.pk}/"
    alice.refresh_from_db()
    assert working_team(alice) == made
    alice_client.post(f"/accounts/teams/{team.pk}/work-for")
    alice.refresh_from_db()
    assert working_team(alice) == team
    assert "team planners</a>" in alice_client.get("/accounts/teams/").content.decode()
    assert alice_client.post("/accounts/teams/", {"name": "finance"}).status_code == 422


def test_a_viewer_does_not_work_for_a_team(bob_client: Client, bob: User, team: Team) -> None:
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    assert bob_client.post(f"/accounts/teams/{team.pk}/work-for").status_code == 403


def test_an_invitation_makes_an_account_once(alice_client: Client, team: Team) -> None:
    link, dora = invited(alice_client, team), Client()
    assert "Join team planners" in dora.get(link).content.decode()
    typed = {"username": "dora", "email": "dora@example.org", "password1": "correct horse battery"}
    assert dora.post(link, typed).status_code == 422
    assert dora.post(link, {**typed, "password2": "correct horse battery"})["Location"] == "/"
    assert Membership.objects.get(user__username="dora").role == "editor"
    assert dora.get("/accounts/").status_code == 200
    assert Client().get(link).status_code == 404
    assert Client().post(link, {**typed, "username": "eve", "password2": "correct horse battery"}).status_code == 404
    assert audited(team) == [
        ("alice", "invited", "for Dora", [None, "editor"]),
        ("dora", "joined by an invitation:", "dora", [None, "editor"]),
    ]


def test_who_has_an_account_joins_with_it(
    alice_client: Client, team: Team, charlie_client: Client, charlie: User
) -> None:
    link = invited(alice_client, team, "viewer")
    assert "Join as charlie" in charlie_client.get(link).content.decode()
    charlie_client.post(link)
    assert Membership.objects.get(user=charlie, team=team).role == "viewer"


def test_an_account_s_name_cannot_be_taken_by_other_capitals(alice_client: Client, team: Team) -> None:
    link = invited(alice_client, team)
    typed = {"username": "Alice", "password1": "correct horse battery", "password2": "correct horse battery"}
    page = Client().post(link, typed)
    assert page.status_code == 422
    assert "This name cannot be used; expected another." in unescape(page.content.decode())


@pytest.mark.parametrize("end", ["revoked", "expired", "its maker is no owner now"])
def test_an_invitation_ends(alice_client: Client, alice: User, bob: User, team: Team, end: str) -> None:
    link = invited(alice_client, team)
    made = Invitation.unscoped.get()
    if end == "revoked":
        alice_client.post(f"/accounts/teams/{team.pk}/invitations/{made.pk}/revoke")
        assert invitations.state_of(Invitation.unscoped.get()) == "revoked"
    elif end == "expired":
        Invitation.unscoped.update(expires_at=timezone.now())
        assert invitations.state_of(Invitation.unscoped.get()) == "expired"
    else:
        Membership.objects.filter(user=bob).update(role=Role.OWNER)
        Membership.objects.filter(user=alice).update(role=Role.EDITOR)
    assert Client().get(link).status_code == 404


def test_the_last_owner_neither_leaves_nor_steps_down(alice_client: Client, alice: User, bob: User, team: Team) -> None:
    here = f"/accounts/teams/{team.pk}/"
    for action, data in (("role", {"role": "viewer"}), ("remove", {})):
        page = alice_client.post(f"{here}members/{alice.pk}/{action}", data, follow=True).content.decode()
        assert "Team planners would have no owner; expected another owner first." in page
    alice_client.post(f"{here}members/{bob.pk}/role", {"role": "owner"})
    alice_client.post(f"{here}members/{alice.pk}/remove")
    assert alice_client.get(here).status_code == 404
    assert [row[1:] for row in audited(team)] == [
        ("changed the role of", "bob", ["editor", "owner"]),
        ("left", "alice", ["owner", None]),
    ]


def test_an_owner_who_may_not_sign_in_is_no_owner(alice: User, bob: User, team: Team) -> None:
    Membership.objects.filter(user=bob).update(role=Role.OWNER)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    with pytest.raises(members.LastOwnerError):
        members.remove(Membership.objects.get(user=alice), alice)


def test_only_owners_decide(bob_client: Client, alice: User, bob: User, team: Team, charlie_client: Client) -> None:
    here = f"/accounts/teams/{team.pk}/"
    posts = [
        ("invitations", {"role": "owner"}),
        ("members", {"user": alice.pk, "role": "owner"}),
        (f"members/{bob.pk}/role", {"role": "owner"}),
        (f"members/{alice.pk}/remove", {}),
    ]
    assert [bob_client.post(here + at, data).status_code for at, data in posts] == [403] * 4
    assert [charlie_client.post(here + at, data).status_code for at, data in posts] == [404] * 4
    assert charlie_client.get(here).status_code == 404
    assert bob_client.get(here).status_code == 200
    assert Membership.objects.get(user=bob).role == "editor"
    bob_client.post(f"{here}members/{bob.pk}/remove")
    assert not Membership.objects.filter(user=bob).exists()


def test_only_whom_one_works_with_is_added_by_name(
    alice_client: Client, alice: User, team: Team, charlie: User, bob: User
) -> None:
    """Else a form would tell who has an account."""
    here = f"/accounts/teams/{team.pk}/members"
    refused = [alice_client.post(here, {"user": pk, "role": "viewer"}) for pk in (charlie.pk, 9999)]
    assert [page.status_code for page in refused] == [422, 422]
    said = [re.findall(r"<li>.*?Person.*?</li>", page.content.decode()) for page in refused]
    assert said[0] == said[1] != []
    other = members.make_team(alice, "finance")
    alice_client.post(f"/accounts/teams/{other.pk}/members", {"user": bob.pk, "role": "viewer"})
    assert Membership.objects.get(user=bob, team=other).role == "viewer"
