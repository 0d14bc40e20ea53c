"""Every route that writes leaves an entry of the history, of the right team and person, in the same transaction.

A new route fails here until it is listed in page_writes.py or rest_writes.py, with a call that succeeds.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import transaction

from planner.accounts.models import AuditEntry
from planner.api.document import document
from planner.history.words import KINDS
from tests.unit.planner.history import rest_writes
from tests.unit.planner.history.conftest import NAME, World, fingerprints
from tests.unit.planner.history.page_writes import ALSO, LEAVES_NOTHING, WRITES, Write
from tests.unit.planner.studies.test_every_route import listed


def writing_pages() -> set[str]:
    posts = {route: codes[0] for (method, route), codes in listed().items() if method == "POST"}
    return {route for route, owner in posts.items() if owner != "405"}


def test_every_page_that_takes_a_form_is_tried_or_leaves_nothing() -> None:
    tried = set(WRITES) | set(LEAVES_NOTHING)
    assert writing_pages() - tried == set()
    assert tried - writing_pages() == set()


def test_every_write(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the pages, and by a token of REST."""
    tried_all(world, {**WRITES, **ALSO, **rest_writes.WRITES}, monkeypatch)


def test_every_operation_of_rest_that_writes_is_tried_or_leaves_nothing() -> None:
    tried = set(rest_writes.WRITES) | set(rest_writes.LEAVES_NOTHING)
    assert writing_operations() - tried == set()
    assert tried - writing_operations() == set()


def tried_all(world: World, writes: dict[Any, Write], monkeypatch: pytest.MonkeyPatch) -> None:
    for client in world.clients.values():
        client.raise_request_exception = False
    wrong = {route: said for route, write in writes.items() if (said := traced(world, write))}
    assert wrong == {}
    with no_room(monkeypatch):
        left = {route: said for route, write in writes.items() if (said := left_behind(world, write))}
    assert left == {}


def traced(world: World, write: Write) -> str:
    """What is wrong with the entries of one call; empty where nothing is."""
    with undone():
        last = AuditEntry.unscoped.order_by("-pk").values_list("pk", flat=True).first() or 0
        answer = write.call(world)
        made = [row for row in AuditEntry.unscoped.filter(pk__gt=last) if row.request_id == NAME]
        if answer.status_code >= 400:
            return f"{answer.status_code}: {answer.content.decode()[-300:]}"
        teams = [row.team.name if row.team else "" for row in made]
        if write.team not in teams or {row.by_name for row in made} != {write.by}:
            return f"entries of {teams} by {[row.by_name for row in made]}"
        if unnamed := {row.model for row in made} - set(KINDS):
            return f"{unnamed} in no words (planner/history/words.py)"
        of_token = (world.token.key, world.token.name) if write in rest_writes.WRITES.values() else ("", "")
        if any((row.token_key, row.token_name) != of_token for row in made):
            return f"tokens {[row.token_key for row in made]}"
    return ""


def left_behind(world: World, write: Write) -> str:
    """Which tables are another after a call whose entry could not be written."""
    with undone():
        world.before = fingerprints()
        write.call(world)
        after = fingerprints()
        return ", ".join(name for name in after if after[name] != world.before.get(name))
    return ""


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def no_room(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No entry can be written of what is asked for by ``World.post``; what prepares it is."""
    from planner.accounts import entries

    create: Callable[..., Any] = entries.Entries.bulk_create

    def refused(rows: Any, objs: Any, *arguments: Any, **options: Any) -> Any:
        made = list(objs)
        if any(row.request_id == NAME for row in made):
            raise OSError("no room")
        return create(rows, made, *arguments, **options)

    monkeypatch.setattr(entries.Entries, "bulk_create", refused)
    yield


def writing_operations() -> set[tuple[str, str]]:
    return {(method, path) for path, methods in document()["paths"].items() for method in methods if method != "get"}
