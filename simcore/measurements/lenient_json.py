"""JSON as benchmark tools write it: NaN and Infinity, keys given twice, one value a line under a ``.json`` name.

Nothing is repaired silently: a number that is none stays one for the field's reader to flag, a key with two different
values becomes ``Twice``, a piece that cannot be read (a file cut off while it was written) is flagged with its line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simcore.measurements.points import Flag, Flags
from simcore.spec import SpecError

LONGEST_NUMBER = 40
SPACE = " \t\r\n"


@dataclass(frozen=True)
class Twice:
    """A key that one object gives two different values."""

    first: Any
    last: Any

    def __str__(self) -> str:
        return f"{_short(self.first)} and {_short(self.last)}"


def values(name: str, text: str, flags: Flags) -> Iterator[tuple[str, Any]]:
    """The file's values one after the other, each with where it begins: one, or one after the other (JSON lines).

    SpecError where not even the first can be read; later ones are flagged and left out.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole)
    position, found, line = _skip(text, 0), 0, 1 + text.count("\n", 0, _skip(text, 0))
    while position < len(text):
        try:
            value, end = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError) as error:
            why = "nested too deeply" if isinstance(error, RecursionError) else error.msg
            at = line if isinstance(error, RecursionError) else error.lineno
            end = _next_line(text, position)
            if not found and not text[end:].strip():
                raise SpecError(f"{name}: line {at}: found no JSON ({why}), expected a whole value: cut off?") from None
            flags.add(
                Flag(
                    name, f"line {line}", "", _short(text[position : position + 60]), f"no JSON: {why}", "row left out"
                )
            )
        else:
            yield f"line {line}", value
            found += 1
        following = _skip(text, end)
        line += text.count("\n", position, following)
        position = following


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in SPACE:
        position += 1
    return position


def _next_line(text: str, position: int) -> int:
    """Past the line's end; for what was printed over many lines past all of those that are indented or close it."""
    end = text.find("\n{", position)
    return len(text) if end < 0 else end + 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        result[key] = Twice(result[key], value) if key in result and not _same(result[key], value) else value
    return result


def _same(one: Any, other: Any) -> bool:
    return bool(one == other)


def _whole(text: str) -> int | float:
    return int(text) if len(text) <= LONGEST_NUMBER else float(text)


def _short(value: Any) -> str:
    text = repr(value) if not isinstance(value, str) else value
    return text if len(text) <= 60 else f"{text[:57]}..."
