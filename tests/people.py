"""Three people: alice owns the team, bob is a member who may edit, charlie is a stranger with a team of his own."""

import pytest
from django.test import Client

from planner.accounts.models import Membership, Role, Team, User


@pytest.fixture
def team(db: None) -> Team:
    return Team.objects.create(name="planners")


@pytest.fixture
def alice(team: Team) -> User:
    return _person("alice", team, Role.OWNER)


@pytest.fixture
def bob(team: Team) -> User:
    return _person("bob", team, Role.EDITOR)


@pytest.fixture
def charlie(db: None) -> User:
    return _person("charlie", Team.objects.create(name="strangers"), Role.OWNER)


@pytest.fixture
def alice_client(alice: User) -> Client:
    return _signed_in(alice)


@pytest.fixture
def bob_client(bob: User) -> Client:
    return _signed_in(bob)


@pytest.fixture
def charlie_client(charlie: User) -> Client:
    return _signed_in(charlie)


def _person(name: str, team: Team, role: Role) -> User:
    user = User.objects.create_user(name, password=name)
    Membership.objects.create(team=team, user=user, role=role)
    return user


def _signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client
