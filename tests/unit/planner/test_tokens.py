"""API tokens: shown once, kept as a keyed hash."""

from datetime import timedelta

import pytest
from django.utils import timezone

from planner.accounts import tokens
from planner.accounts.models import ApiToken, Team, User


@pytest.fixture
def issued(alice: User, team: Team) -> tuple[ApiToken, str]:
    return tokens.issue(team, "ci", alice)


def test_the_shown_text_finds_its_token(issued: tuple[ApiToken, str]) -> None:
    row, text = issued
    assert tokens.find(text) == row


def test_the_secret_is_not_in_the_database(issued: tuple[ApiToken, str]) -> None:
    row, text = issued
    stored = [str(value) for value in ApiToken.unscoped.filter(pk=row.pk).values().get().values()]
    assert not any(text.partition(".")[2] in value for value in stored)


@pytest.mark.parametrize("change", ["x", ""])
def test_another_secret_finds_nothing(issued: tuple[ApiToken, str], change: str) -> None:
    text = issued[1]
    assert tokens.find(text[:-1] + change) is None
    assert tokens.find("pp_unknown.secret") is None
    assert tokens.find(change) is None


def test_an_expired_or_revoked_token_finds_nothing(issued: tuple[ApiToken, str]) -> None:
    row, text = issued
    ApiToken.unscoped.filter(pk=row.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert tokens.find(text) is None
    ApiToken.unscoped.filter(pk=row.pk).update(expires_at=None, revoked_at=timezone.now())
    assert tokens.find(text) is None
