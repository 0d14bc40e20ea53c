"""Signing in: argon2, limits on tries, a password that was forgotten, the first person of a server."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.hashers import identify_hasher, make_password
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django.fixtures import Settings

from planner.accounts import sign_in_views
from planner.accounts.models import Attempts, AuditEntry, Membership, User
from planner.settings import PASSWORD_HASHERS

SIGN_IN = "/accounts/sign-in/"


def tried(client: Client, name: str, password: str, address: str = "192.0.2.7") -> int:
    return client.post(SIGN_IN, {"username": name, "password": password}, REMOTE_ADDR=address).status_code


def test_passwords_are_hashed_with_argon2(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = PASSWORD_HASHERS
    assert identify_hasher(make_password("a long enough one")).algorithm == "argon2"


@pytest.mark.parametrize("name", ["alice", "nobody"])
def test_after_five_failures_even_the_right_password_waits(client: Client, alice: User, name: str) -> None:
    """And whether anybody has the name cannot be told."""
    assert [tried(client, name, "wrong") for _ in range(5)] == [200] * 5
    response = client.post(SIGN_IN, {"username": name, "password": "alice"}, REMOTE_ADDR="192.0.2.7")
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 900
    assert "Too many failed sign-ins under this name, or from this address. Try again in 15 minutes." in (
        response.content.decode()
    )


def test_the_lock_is_of_a_name_at_an_address(client: Client, alice: User, bob: User) -> None:
    for _ in range(6):
        tried(client, "ALICE ", "wrong")
    assert tried(client, "alice", "alice") == 429
    assert tried(client, "bob", "bob") == 302
    assert tried(Client(), "alice", "alice", "192.0.2.8") == 302


def test_it_ends(client: Client, alice: User, settings: Settings) -> None:
    for _ in range(6):
        tried(client, "alice", "wrong")
    for row in Attempts.objects.all():
        Attempts.objects.filter(pk=row.pk).update(since=row.since - timedelta(seconds=settings.LOCK_OUT_S))
    assert tried(client, "alice", "alice") == 302


def test_signing_in_forgets_what_failed_before(client: Client, alice: User) -> None:
    for _ in range(3):
        assert [tried(client, "alice", "wrong") for _ in range(4)] == [200] * 4
        assert tried(client, "alice", "alice") == 302
        client.logout()


def test_one_address_does_not_try_many_names(client: Client, alice: User) -> None:
    assert {tried(client, f"somebody-{number}", "wrong") for number in range(50)} == {200}
    assert tried(client, "alice", "alice") == 429


def test_behind_a_proxy_the_address_is_what_the_proxy_saw(client: Client, alice: User, settings: Settings) -> None:
    settings.BEHIND_PROXY = True
    for _ in range(6):
        client.post(SIGN_IN, {"username": "alice", "password": "wrong"}, HTTP_X_FORWARDED_FOR="10.1.1.1, 192.0.2.1")
    right = {"username": "alice", "password": "alice"}
    assert client.post(SIGN_IN, right, HTTP_X_FORWARDED_FOR="10.9.9.9, 192.0.2.1").status_code == 429
    assert client.post(SIGN_IN, right, HTTP_X_FORWARDED_FOR="192.0.2.1, 192.0.2.2").status_code == 302


def test_what_is_kept_of_tries_names_nobody(client: Client, alice: User) -> None:
    tried(client, "alice", "wrong")
    assert Attempts.objects.count() == 2
    assert "alice" not in str(list(Attempts.objects.values()))


@pytest.fixture
def _mail_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_views, "in_background", lambda work: work())


@pytest.mark.usefixtures("_mail_at_once")
def test_a_forgotten_password_is_reset_once_by_mail(client: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(email="alice@example.org")
    answers = [client.post("/accounts/reset/", {"email": email}) for email in ("alice@example.org", "x@example.org")]
    assert [(answer.status_code, answer["Location"]) for answer in answers] == [(302, "/accounts/reset/sent/")] * 2
    assert client.get("/accounts/reset/sent/").status_code == 200
    assert [sent.to for sent in mail.outbox] == [["alice@example.org"]]
    link = re.search(r"http://testserver(/\S+)", mail.outbox[0].body)
    assert link is not None
    typed = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}
    form = client.get(link[1], follow=True)
    assert client.post(form.request["PATH_INFO"], typed)["Location"] == SIGN_IN
    assert tried(client, "alice", "correct horse battery") == 302
    assert "This link opens nothing" in Client().get(link[1]).content.decode()


@pytest.mark.usefixtures("_mail_at_once")
def test_a_mailbox_is_not_flooded_and_nobody_is_told(client: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(email="alice@example.org")
    codes = [
        client.post("/accounts/reset/", {"email": "alice@example.org"}, REMOTE_ADDR=f"192.0.2.{number}").status_code
        for number in range(6)
    ]
    assert codes == [302] * 6
    assert len(mail.outbox) == 3
    codes = [client.post("/accounts/reset/", {"email": f"{n}@example.org"}).status_code for n in range(11)]
    assert codes == [302] * 10 + [429]


def test_a_password_is_changed_by_who_knows_it(alice_client: Client, alice: User) -> None:
    new = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}
    assert alice_client.post("/accounts/password/", {"old_password": "wrong", **new}).status_code == 200
    assert alice_client.post("/accounts/password/", {"old_password": "alice", **new}).status_code == 302
    alice.refresh_from_db()
    assert alice.check_password("correct horse battery")
    assert alice_client.get("/accounts/").status_code == 200


@pytest.mark.django_db
def test_the_first_person_of_a_server_chooses_a_password_by_a_link(client: Client) -> None:
    said = StringIO()
    call_command("first_admin", "ada", email="ada@example.org", address="https://plan.example.org", stdout=said)
    link = re.search(r"https://plan\.example\.org(/accounts/reset/\S+)", said.getvalue())
    assert link is not None
    form = client.get(link[1], follow=True)
    typed = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}
    client.post(form.request["PATH_INFO"], typed)
    assert tried(client, "ada", "correct horse battery") == 302
    assert Membership.objects.get(user__username="ada").role == "owner"
    assert AuditEntry.unscoped.get(team__name="planners").action == "first owner"
    with pytest.raises(CommandError, match="somebody can sign in already"):
        call_command("first_admin", "eve")


@pytest.mark.django_db
def test_the_first_person_may_be_asked_for_again_before_they_came(client: Client) -> None:
    for _ in range(2):
        call_command("first_admin", "ada", stdout=StringIO())
    assert User.objects.count() == 1
    with pytest.raises(CommandError, match="valid username"):
        call_command("first_admin", "not a name")


def test_who_runs_the_server_makes_a_link_for_somebody(alice: User, client: Client) -> None:
    said = StringIO()
    call_command("reset_link", "alice", stdout=said)
    path = said.getvalue().strip()
    assert "Choose a password" in client.get(path, follow=True).content.decode()
    with pytest.raises(CommandError, match="nobody of that name"):
        call_command("reset_link", "zoe")


@pytest.mark.django_db
def test_a_single_user_s_pages_say_so_and_others_do_not(
    client: Client, settings: Settings, alice_client: Client
) -> None:
    settings.LOCAL = True
    for page in ("/accounts/", "/accounts/teams/", "/accounts/tokens/", "/workloads/"):
        assert ">single user</span>" in client.get(page, REMOTE_ADDR="127.0.0.1").content.decode()
    assert client.get("/accounts/password/", REMOTE_ADDR="127.0.0.1").status_code == 404
    assert ">single user</span>" not in alice_client.get("/accounts/", REMOTE_ADDR="127.0.0.1").content.decode()
