"""The history: what was done, by whom, in which request, to what, before and after; ``record`` alone writes it.

It is called by whatever changes a row, within the same transaction: there is neither without the other. Entries are
appended, never changed (entries.py).
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import models, transaction

from planner.accounts.entries import AuditEntry, Changes
from planner.accounts.models import Team, User
from planner.accounts.owned import Visitor, token_of
from planner.operations.logs import facts

NAME_LENGTH = 300
ROW_LENGTH = 150
ACTION_LENGTH = 50
FIELD_LENGTH = 200
AT_ONCE = 500
VALUE_LENGTH = 500
"""Characters of a value that are kept; of a longer one its length and SHA-256, of a text its beginning, too."""
KEPT_OF_LONG = 80
MOST_CHARACTERS = 16_000
"""Of all fields of an entry; those beyond are one more field, with their number and the SHA-256 of them all."""
REST = "further fields"
SECRET = re.compile(r"(?:^|[._ ])(?:password|secret|token)(?:_hash|_text)?$|^secret", re.IGNORECASE)
"""Fields of which the history says that they changed, and never what they are."""
HIDDEN = "(not kept)"
OPERATOR, NOBODY = "manage.py", "nobody signed in"


Told = Mapping[str, tuple[Any, Any]]
"""Field → what it was and what it is."""


class OutsideError(RuntimeError):
    """Something was recorded outside the transaction that writes it."""


@dataclass(frozen=True)
class Named:
    """A row that is known by something else than its primary key. ``model``: as ``catalogue.pricebook``."""

    model: str
    row: str
    name: str


def record(
    team: Team | None,
    by: Visitor | str | None,
    action: str,
    row: models.Model | Named,
    changes: Told | None = None,
    *,
    name: str = "",
    scenario_id: int | None = None,
) -> AuditEntry:
    """Appends an entry to the team's history; without a team to that of an account alone.

    ``row``: what it was done to, as it is now, or was. ``name``: what that is called, where its ``str`` does not say
    it. ``changes``: as ``changed``, ``made`` or ``gone`` tell them. ``scenario_id``: the question it is a part of,
    where the row does not say. ``by``: a name where it is no account's; None: a command of the operator, or nobody who
    was signed in. OutsideError outside a transaction.
    """
    (entry,) = record_each(team, by, action, [(row, changes or {})], name=name, scenario_id=scenario_id)
    return entry


def record_each(
    team: Team | None,
    by: Visitor | str | None,
    action: str,
    rows: Iterable[tuple[models.Model | Named, Told]],
    *,
    name: str = "",
    scenario_id: int | None = None,
) -> list[AuditEntry]:
    """The same of many rows at once, an entry each."""
    if not transaction.get_connection().in_atomic_block:
        raise OutsideError(f"{action}: is recorded outside the transaction that does it")
    user = by if isinstance(by, User) else None
    token, request_id = token_of(user) if user else None, str(facts().get("request_id", ""))
    by_name = user.get_username() if user else by if isinstance(by, str) else NOBODY if request_id else OPERATOR
    made = []
    for row, changes in rows:
        named = row if isinstance(row, Named) else Named(row._meta.label_lower, str(row.pk), name or str(row))
        entry = AuditEntry(
            team=team,
            created_by=user,
            by_name=by_name[:150],
            token_key=token.key if token else "",
            token_name=token.name if token else "",
            request_id=request_id[:64],
            action=action[:ACTION_LENGTH],
            model=named.model,
            row=named.row[:ROW_LENGTH],
            subject=(name or named.name)[:NAME_LENGTH],
            scenario_id=scenario_id or (None if isinstance(row, Named) else _question_of(row)),
            changes=bounded(changes),
        )
        made.append(entry)
    return AuditEntry.objects.bulk_create(made, batch_size=AT_ONCE)


def values(row: models.Model, names: Iterable[str]) -> dict[str, Any]:
    """The fields of a row as they are, for ``changed`` to compare later."""
    return {name: getattr(row, name) for name in names}


def flat(value: Mapping[Any, Any]) -> dict[str, Any]:
    """A nested value field by field: ``machines.0.usd_per_hour``."""
    found: dict[str, Any] = {}
    for name, one in value.items():
        rows = isinstance(one, list | tuple) and any(isinstance(each, Mapping) for each in one)
        inner: Any = dict(enumerate(one)) if rows else one
        if isinstance(inner, Mapping) and inner:
            found |= {f"{name}.{key}": each for key, each in flat(inner).items()}
        else:
            found[str(name)] = one
    return found


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Fields that are another, or are in one of the two alone."""
    names = [*before, *(name for name in after if name not in before)]
    pairs = {name: (before.get(name), after.get(name)) for name in names}
    return {name: (was, now) for name, (was, now) in pairs.items() if _plain(was) != _plain(now)}


def made(after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Of a new row; fields that are empty say nothing."""
    return changed({}, {name: value for name, value in after.items() if value not in (None, "", [], {})})


def gone(before: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Of a row that is no more."""
    return {name: (was, None) for name, (_, was) in made(before).items()}


def bounded(changes: Told) -> Changes:
    """As they are kept: plain, short, and without what is secret."""
    kept: Changes = {}
    room = MOST_CHARACTERS
    for place, (name, (before, after)) in enumerate(changes.items()):
        kept_as = _hidden if SECRET.search(name) else _short
        pair = [kept_as(before), kept_as(after)]
        room -= len(name) + len(_text(pair))
        if room < 0:
            rest = dict(list(changes.items())[place:])
            kept[REST] = [None, f"{len(rest)}: {', '.join(rest)}"[:VALUE_LENGTH] + f" ({_sum(_text(rest))})"]
            break
        kept[name[:FIELD_LENGTH]] = pair
    return kept


def _hidden(value: Any) -> str | None:
    return None if value is None else HIDDEN


def _short(value: Any) -> Any:
    plain = _plain(value)
    text = plain if isinstance(plain, str) else _text(plain)
    if len(text) <= VALUE_LENGTH:
        return plain
    begins = f"{text[:KEPT_OF_LONG]}… " if isinstance(plain, str) else ""
    return f"{begins}({len(text):,} characters, {_sum(text)})"


def _plain(value: Any) -> Any:
    """JSON; numbers of money as text, dates as ISO 8601, rows by name."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    return str(value)


def _text(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True)


def _sum(text: str) -> str:
    return f"SHA-256 {hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()}"


def _question_of(row: models.Model) -> int | None:
    """The question that a row is, or is a part of."""
    if row._meta.label_lower == "scenarios.scenario":
        return int(row.pk)
    for through in ("scenario", "revision", "study"):
        if hasattr(type(row), f"{through}_id"):
            found = getattr(row, through, None)
            return None if found is None else _question_of(found)
    return None
