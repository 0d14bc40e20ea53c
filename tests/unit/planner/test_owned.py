"""A team's rows are read through visible_to alone."""

import pytest
from django.contrib.auth.models import AnonymousUser

from planner.accounts import tokens
from planner.accounts.models import ApiToken, Membership, Role, Team, User
from planner.accounts.owned import UnscopedReadError


@pytest.fixture
def token(alice: User, team: Team) -> ApiToken:
    return tokens.issue(team, "ci", alice)[0]


def test_the_team_sees_its_rows_and_a_stranger_does_not(token: ApiToken, alice: User, bob: User, charlie: User) -> None:
    seen = [list(ApiToken.objects.visible_to(user)) for user in (alice, bob, charlie, AnonymousUser())]
    assert seen == [[token], [token], [], []]


def test_a_viewer_reads_and_does_not_write(token: ApiToken, team: Team, charlie: User) -> None:
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    assert list(ApiToken.objects.visible_to(charlie)) == [token]
    assert not ApiToken.objects.editable_by(charlie).exists()


@pytest.mark.parametrize("query", ["all", "first", "count", "exists"])
def test_a_query_for_nobody_in_particular_is_refused(token: ApiToken, query: str) -> None:
    with pytest.raises(UnscopedReadError, match="visible_to"):
        getattr(ApiToken.objects, query)()


def test_filter_and_get_are_refused_too(token: ApiToken) -> None:
    with pytest.raises(UnscopedReadError):
        ApiToken.objects.filter(pk=token.pk)
    with pytest.raises(UnscopedReadError):
        ApiToken.objects.get(pk=token.pk)


def test_relations_of_a_row_still_work(token: ApiToken, team: Team) -> None:
    assert list(team.apitoken_set.all()) == [token]
