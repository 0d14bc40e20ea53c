"""What a file says was charged, row by row, whichever of the two formats it is in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from simcore.economics.months import Month, month
from simcore.spec import SpecError

MOST_TEXT = 200
T = TypeVar("T")
LARGEST = Decimal("1e18")
Quantities = dict[str, Decimal]
"""``accelerator_hours``, ``machine_hours``, ``used_accelerator_hours``, ``input``, ``cached_input``, ``output``,
``tokens`` (of no said kind), ``kwh``."""


@dataclass(frozen=True)
class Charge:
    """One row of a file."""

    line: int
    start: datetime
    end: datetime
    """Half open, both in UTC."""
    cost: Decimal
    """In ``currency``, exact."""
    service: str = ""
    pool: str = ""
    design: str = ""
    currency: str = "USD"
    category: str = ""
    description: str = ""
    quantities: Quantities = field(default_factory=dict)
    uncounted: str = ""
    """The unit of a quantity that is none of those counted; the cost is."""
    refused: str = ""
    """Why the row can be no part of the actual, whatever it is compared with."""

    @property
    def month(self) -> Month | None:
        """Whose it is; None where it is of more than one."""
        of = Month(self.start.year, self.start.month)
        return of if self.end <= start_of(of.plus(1)) else None


class CellError(ValueError):
    """What was found in a cell, and what is expected."""


@dataclass(frozen=True)
class Row:
    """The cells of a row by column, for whoever reads them."""

    line: int
    cells: Mapping[str, str]
    names: Mapping[str, str]
    """Columns as the file spells them."""
    problems: list[str]

    def text(self, column: str) -> str:
        return " ".join(self.cells.get(column, "").split())[:MOST_TEXT]

    def number(self, column: str) -> Decimal | None:
        """None where the cell is empty."""
        return self._read(column, number_of)

    def needed(self, column: str) -> Decimal:
        return self._read(column, _needed) or Decimal(0)

    def time(self, column: str) -> datetime | None:
        return self._read(column, time_of)

    def fault(self, column: str, words: str) -> None:
        self.problems.append(f"line {self.line}: {self.names.get(column, column)}: {words}")

    def _read(self, column: str, read: Callable[[str], T | None]) -> T | None:
        try:
            return read(self.cells.get(column, "").strip())
        except CellError as error:
            self.fault(column, str(error))
            return None


def start_of(of: Month) -> datetime:
    return datetime(of.year, of.number, 1, tzinfo=UTC)


def folded(name: str) -> str:
    """``Charge Period_Start`` → ``chargeperiodstart``: as columns are told apart."""
    return re.sub(r"[\s_\-]+", "", name).lower()


def number_of(text: str) -> Decimal | None:
    if not text or text.lower() == "null":
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or "_" in text:
        raise CellError(f"found {text[:40]!r}, expected a number such as 1234.56, without thousands separators")
    if abs(number) > LARGEST:
        raise CellError(f"found {text[:40]!r}, expected at most {LARGEST:f}")
    return number


def _needed(text: str) -> Decimal:
    number = number_of(text)
    if number is None:
        raise CellError("found nothing, expected a number")
    return number


def time_of(text: str) -> datetime:
    """ISO 8601; without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise CellError(f"found {text[:40]!r}, expected a time in UTC such as 2027-01-01T00:00:00Z") from None


def month_of(text: str) -> Month:
    """``2027-01``, or its first day."""
    bare = text[:7] if re.fullmatch(r"\d{4}-\d\d-01", text) else text
    try:
        return month(bare)
    except SpecError:
        raise CellError(f"found {text[:40]!r}, expected a month such as 2027-01") from None


def listed_columns(names: Sequence[str]) -> str:
    shown = ", ".join(names[:20])
    return shown + (f" and {len(names) - 20} more" if len(names) > 20 else "")
