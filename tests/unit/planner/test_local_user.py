"""On the person's own machine nobody signs in; from anywhere else everybody does."""

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from planner.accounts import teams
from planner.accounts.models import Membership, Role, User

ADDRESS = "/api/v1/"


@pytest.fixture
def _local(settings: Settings, db: None) -> None:
    settings.LOCAL = True


@pytest.mark.usefixtures("_local")
@pytest.mark.parametrize("address", ["127.0.0.1", "127.3.2.1", "::1"])
def test_loopback_is_the_local_user(client: Client, address: str) -> None:
    assert client.get(ADDRESS, REMOTE_ADDR=address).status_code == 200
    member = Membership.objects.get(user__username="local")
    assert (member.team.name, member.role) == ("local", Role.OWNER)


@pytest.mark.usefixtures("_local")
@pytest.mark.parametrize("address", ["10.0.0.7", "192.0.2.1", "2001:db8::1", ""])
def test_another_machine_is_not(client: Client, address: str) -> None:
    assert client.get(ADDRESS, REMOTE_ADDR=address).status_code == 401
    assert not User.objects.exists()


@pytest.mark.usefixtures("_local")
@pytest.mark.parametrize("header", ["HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA"])
def test_what_came_through_a_proxy_is_not(client: Client, header: str) -> None:
    assert client.get(ADDRESS, REMOTE_ADDR="127.0.0.1", **{header: "127.0.0.1"}).status_code == 401


@pytest.mark.django_db
def test_without_the_local_mode_nobody_is(client: Client) -> None:
    assert client.get(ADDRESS, REMOTE_ADDR="127.0.0.1").status_code == 401


@pytest.mark.usefixtures("_local")
def test_who_has_signed_in_stays_who_they_are(alice_client: Client, alice: User) -> None:
    alice_client.get(ADDRESS, REMOTE_ADDR="127.0.0.1")
    assert not User.objects.filter(username="local").exists()


@pytest.mark.django_db
def test_the_local_user_cannot_sign_in_with_a_password() -> None:
    assert not teams.local_user().has_usable_password()
    assert teams.local_user() == teams.local_user()


def test_the_working_team_is_where_the_user_may_write(bob: User, charlie: User) -> None:
    team = teams.working_team(bob)
    assert team is not None
    assert team.name == "planners"
    Membership.objects.filter(user=charlie).update(role=Role.VIEWER)
    assert teams.working_team(charlie) is None
