"""Entries of the history: what is kept of a change, and that nobody changes or removes one."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError
from django.test import Client

from planner.accounts import append_only, audit
from planner.accounts.audit import Named
from planner.accounts.entries import AppendOnlyError
from planner.accounts.models import AuditEntry, Team, User
from planner.operations.logs import about

BOOK = Named("catalogue.pricebook", "ours", "Ours")


@pytest.fixture
def entry(team: Team, alice: User) -> AuditEntry:
    return audit.record(team, alice, "saved", BOOK, {"date": ("2026-11-01", "2026-12-01")})


def test_who_when_what_and_in_which_request(team: Team, alice: User) -> None:
    with about(request_id="0123456789abcdef"):
        entry = audit.record(team, alice, "saved", BOOK, {"price": (Decimal("12.50"), None), "n": (1, 2)})
    entry.refresh_from_db()
    assert (entry.by_name, entry.created_by, entry.team) == ("alice", alice, team)
    assert (entry.request_id, entry.token_key) == ("0123456789abcdef", "")
    assert (entry.model, entry.row, entry.subject) == ("catalogue.pricebook", "ours", "Ours")
    assert entry.changes == {"price": ["12.50", None], "n": [1, 2]}
    assert abs((datetime.now(UTC) - entry.created_at).total_seconds()) < 60


def test_without_a_request_a_command_did_it(team: Team) -> None:
    assert audit.record(team, None, "saved", BOOK).by_name == "manage.py"
    with about(request_id="0123456789abcdef"):
        assert audit.record(team, None, "saved", BOOK).by_name == "nobody signed in"


def test_long_values_and_secrets_are_not_kept() -> None:
    kept = audit.bounded({"note": ("x" * 50_000, "short"), "token": ("pp_1.2", None), "rows": ([1] * 9000, [])})
    assert kept["note"][0].startswith("x" * 80 + "… (50,000 characters, SHA-256 ")
    assert len(kept["note"][0]) < 200
    assert kept["note"][1] == "short"
    assert kept["token"] == ["(not kept)", None]
    assert len(kept["rows"][0]) < 200
    many = audit.bounded({f"field {place}": (None, "y" * 200) for place in range(1000)})
    assert sum(len(name) + len(str(pair)) for name, pair in many.items()) < audit.MOST_CHARACTERS + 1000
    last = f"field {len(many) - 2}"
    assert many[last] == [None, "y" * 200]
    assert many[audit.REST][1].startswith(f"{1000 - len(many) + 1}: field {len(many) - 1}, ")


@pytest.mark.parametrize(
    "name", ["password", "token", "api_token", "token_hash", "secret_hash", "links.0.secret", "secret"]
)
def test_a_secret_is_told_as_changed_alone(name: str) -> None:
    assert audit.bounded({name: ("a", "b")}) == {name: ["(not kept)", "(not kept)"]}


@pytest.mark.parametrize(
    "name", ["token_budgets", "block_tokens", "mean_prompt_tokens", "content_hash", "key", "tokens"]
)
def test_tokens_of_requests_are_no_secret(name: str) -> None:
    assert audit.bounded({name: ([128, 256], 512)}) == {name: [[128, 256], 512]}


def test_what_did_not_change_is_not_told() -> None:
    before = {"a": 1, "b": Decimal("2.0"), "c": [1], "d": "old"}
    assert audit.changed(before, {"a": 1, "b": Decimal("2.0"), "c": (1,), "e": None}) == {"d": ("old", None)}
    assert audit.made({"a": 1, "b": "", "c": None}) == {"a": (None, 1)}
    assert audit.gone({"a": 1, "b": ""}) == {"a": (1, None)}


CHANGES: list[Callable[[AuditEntry], object]] = [
    lambda entry: entry.save(),
    lambda entry: entry.delete(),
    lambda entry: AuditEntry.unscoped.filter(pk=entry.pk).update(action="nothing"),
    lambda entry: AuditEntry.unscoped.all().delete(),
    lambda entry: AuditEntry.unscoped.bulk_update([entry], ["action"]),
    lambda entry: AuditEntry.objects.visible_to(entry.created_by).delete(),
    lambda entry: AuditEntry.unscoped.update_or_create(pk=entry.pk, defaults={"action": "nothing"}),
]


@pytest.mark.parametrize("change", CHANGES, ids=range(len(CHANGES)))
def test_an_entry_stays_as_it_is(change: Callable[[AuditEntry], object], entry: AuditEntry) -> None:
    with pytest.raises(AppendOnlyError), transaction.atomic():
        change(entry)
    assert AuditEntry.unscoped.get(pk=entry.pk).action == "saved"


STATEMENTS = ("UPDATE accounts_auditentry SET action = 'nothing'", "DELETE FROM accounts_auditentry")


def refused_by_the_database() -> None:
    for statement in STATEMENTS:
        refused = pytest.raises(IntegrityError, match="neither changed nor removed")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_the_database_refuses_too(entry: AuditEntry) -> None:
    refused_by_the_database()
    append_only.install(connection)  # as each migrate does
    refused_by_the_database()
    assert AuditEntry.unscoped.get(pk=entry.pk).action == "saved"


def test_entries_outlive_who_did_it_and_keep_their_team(entry: AuditEntry, team: Team, alice: User) -> None:
    with pytest.raises(ProtectedError):
        team.delete()
    alice.delete()
    entry = AuditEntry.unscoped.get(pk=entry.pk)
    assert (entry.by_name, entry.created_by_id, entry.team) == ("alice", entry.created_by_id, team)
    assert entry.created_by_id is not None


def test_a_strangers_history_is_not_seen(entry: AuditEntry, alice: User, bob: User, charlie: User) -> None:
    for user, seen in ((alice, 1), (bob, 1), (charlie, 0)):
        assert AuditEntry.objects.visible_to(user).count() == seen


@pytest.mark.django_db(transaction=True)
def test_nothing_is_recorded_outside_the_transaction_that_does_it() -> None:
    with pytest.raises(audit.OutsideError, match="outside the transaction that does it"):
        audit.record(None, None, "saved", BOOK)


def test_a_page_that_fails_leaves_neither(alice_client: Client, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr(audit, "record", fails)
    alice_client.raise_request_exception = False
    assert alice_client.post("/accounts/teams/", {"name": "finance"}).status_code == 500
    assert not Team.objects.filter(name="finance").exists()
