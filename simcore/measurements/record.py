"""One record of a file, asked for its figures by name: each is checked for being a number of that kind, or flagged."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from simcore.measurements.lenient_json import Twice
from simcore.measurements.points import Effect, Flag, Flags

MOST_S = 1e6
MOST_TOKENS = 1e7
MOST_REQUESTS = 1e9
MOST_PER_S = 1e8
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
NO_NUMBERS = ("nan", "inf", "infinity", "n/a", "[n/a]", "null", "none", "-")
LONGEST_TEXT = 200


@dataclass(frozen=True)
class Record:
    """Values by name, and where they stand. ``number`` and the like flag what cannot be used, and then give None."""

    file: str
    where: str
    values: Mapping[str, Any]
    flags: Flags
    decimal_comma: bool = False

    def at(self, name: str) -> Record:
        """The object under a name, as a record of its own; an empty one where there is none."""
        inner = self.values.get(name)
        return replace(self, where=f"{self.where} {name}", values=inner if isinstance(inner, Mapping) else {})

    def flag(self, field: str, found: Any, reason: str, effect: Effect) -> None:
        """Flag a field of this record."""
        self.flags.add(Flag(self.file, self.where, field, shown(found), reason, effect))

    def seconds(self, *names: str, unit_s: float = 1.0) -> float | None:
        """A duration above 0, under the first of these names that the record has, in units of ``unit_s``."""
        return self._figure(names, MOST_S, unit_s, "seconds" if unit_s == 1 else "a time", above=0.0)

    def tokens(self, *names: str) -> float | None:
        """A mean number of tokens, above 0."""
        return self._figure(names, MOST_TOKENS, 1.0, "a number of tokens", above=0.0)

    def per_second(self, *names: str) -> float | None:
        """A throughput, above 0."""
        return self._figure(names, MOST_PER_S, 1.0, "a rate", above=0.0)

    def count(self, *names: str, least: int = 0) -> int | None:
        """A whole number of things."""
        value = self._figure(names, MOST_REQUESTS, 1.0, "a whole number", above=least - 1.0)
        if value is not None and value != int(value):
            self.flag(names[0], value, "expected a whole number", "not used")
            return None
        return None if value is None else int(value)

    def text(self, *names: str) -> str | None:
        """Some words; a number or a list of one is taken as its text."""
        value = self._value(names)[1]
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if value is None or isinstance(value, (dict, list, bool, Twice)):
            return None
        text = "".join(c if c.isprintable() else " " for c in str(value)).strip()
        return text[:LONGEST_TEXT] or None

    def has(self, *names: str) -> bool:
        """Whether the record gives any of these, be it unusable."""
        return self._value(names)[1] is not None

    def _value(self, names: tuple[str, ...]) -> tuple[str, Any]:
        return next(((n, self.values[n]) for n in names if self.values.get(n) not in (None, "")), (names[0], None))

    def _figure(self, names: tuple[str, ...], most: float, unit: float, expected: str, above: float) -> float | None:
        name, found = self._value(names)
        if found is None:
            return None
        value = self._number(name, found)
        if value is None:
            return None
        if not math.isfinite(value) or not above < value * unit <= most:
            from_words = f"of at least {above + 1:g}" if expected == "a whole number" else f"above {above:g}"
            self.flag(name, found, f"expected {expected} {from_words}, at most {most / unit:g}", "not used")
            return None
        return value * unit

    def _number(self, name: str, found: Any) -> float | None:
        if isinstance(found, Twice):
            self.flag(name, found, "given twice with different values", "not used")
            return None
        if isinstance(found, bool) or not isinstance(found, (int, float, str)):
            self.flag(name, found, "expected a number", "not used")
            return None
        value = number(found, self.decimal_comma) if isinstance(found, str) else float(found)
        if value is None:
            self.flag(name, found, "expected a number", "not used")
        return value


def number(text: str, decimal_comma: bool = False) -> float | None:
    """What a cell says: with thousands separators, or with a decimal comma in files that separate cells by semicolons.

    There ``1,234`` could mean either and is taken for neither.
    """
    text = text.strip()
    if text.lower() in NO_NUMBERS:
        return math.nan
    if decimal_comma and text.count(",") == 1 and "." not in text:
        return None if THOUSANDS.fullmatch(text) else number(text.replace(",", "."))
    if THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    return float(text) if NUMBER.fullmatch(text) and len(text) < LONGEST_TEXT else None


def shown(value: Any) -> str:
    """A value as messages show it."""
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
