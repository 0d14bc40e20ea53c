"""What an address may say after ``?``: one declaration reads and checks it, and is in the document."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.utils.dateparse import parse_datetime
from rest_framework.exceptions import ValidationError

from planner.api.shapes import Shape, is_storable, one_of, shown, text, unknown, whole
from planner.api.shapes import time as time_shape

MOST = 2**63 - 1
"""What a database's whole number holds."""
Given = dict[str, Any]


@dataclass(frozen=True)
class Query:
    """One parameter. ``read`` turns its text into a value, or raises ValueError with what is expected."""

    name: str
    shape: Shape
    read: Callable[[str], Any] = str
    several: bool = False
    """May be given more than once: then its value is a list."""
    begins: bool = False
    """Any name that begins with this one (``usd.`` and a machine)."""

    def is_it(self, name: str) -> bool:
        return name.startswith(self.name) and len(name) > len(self.name) if self.begins else name == self.name


def words_of(name: str, words: str = "", *, several: bool = False, begins: bool = False) -> Query:
    return Query(name, text(words), several=several, begins=begins)


def choice_of(name: str, choices: Iterable[str], words: str = "", *, several: bool = False) -> Query:
    known = list(choices)

    def read(found: str) -> str:
        if found not in known:
            from simcore.spec import nearest

            raise ValueError(f"one of {', '.join(known)}{nearest(found, known)}")
        return found

    return Query(name, one_of(*known, words=words), read, several)


def whole_of(name: str, words: str = "", *, least: int = 0, several: bool = False) -> Query:
    def read(found: str) -> int:
        plain = found.isascii() and found.isdigit() and len(found) < 20
        if not plain or not least <= int(found) <= MOST:
            raise ValueError(f"a whole number of at least {least}")
        return int(found)

    return Query(name, whole(words, minimum=least, maximum=MOST), read, several)


def flag_of(name: str, words: str = "") -> Query:
    def read(found: str) -> bool:
        if found not in ("true", "false"):
            raise ValueError("true or false")
        return found == "true"

    return Query(name, {"type": "boolean", **({"description": words} if words else {})}, read)


def time_of(name: str, words: str = "") -> Query:
    return Query(name, time_shape(words), _time)


def given(query: QueryDict, known: Iterable[Query]) -> Given:
    """The parameters that are given, read; 400 names each that is unknown or cannot be."""
    known = list(known)
    found: Given = {}
    wrong: dict[str, str] = {}
    for name, texts in query.lists():
        one = next((one for one in known if one.is_it(name)), None)
        if one is None:
            wrong[name] = unknown(name, [f"{one.name}…" if one.begins else one.name for one in known])
        elif len(texts) > 1 and not one.several:
            wrong[name] = f"Found {len(texts)} of them, expected one."
        elif not all(map(is_storable, texts)):
            wrong[name] = "Found a character that no text holds, expected text."
        else:
            _read(one, name, texts, found, wrong)
    if wrong:
        raise ValidationError({name: [words] for name, words in wrong.items()})
    return found


def _read(one: Query, name: str, texts: list[str], found: Given, wrong: dict[str, str]) -> None:
    values = []
    for given_text in texts:
        try:
            values.append(one.read(given_text))
        except ValueError as error:
            wrong[name] = f"Found {shown(given_text)}, expected {error}."
            return
    found[name] = values if one.several else values[-1]


def _time(found: str) -> datetime:
    """A moment with its offset: ``+`` may have come as a space, as addresses have it."""
    expected = "a moment with its offset from UTC, such as 2027-01-31T08:00:00Z"
    try:
        moment = parse_datetime(found.strip().replace(" ", "+") if "T" in found else found)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or not 1970 <= moment.year <= 9998:
        raise ValueError(expected)
    return moment
