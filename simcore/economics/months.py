"""Calendar months in UTC, half open: the periods of every dated line."""

from __future__ import annotations

import calendar
from dataclasses import dataclass

from simcore.spec import SpecError

HOURS_A_DAY = 24


@dataclass(frozen=True, order=True)
class Month:
    """A calendar month; ``str`` is ``2027-01``."""

    year: int
    number: int
    """1 to 12."""

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.number:02d}"

    @property
    def days(self) -> int:
        return calendar.monthrange(self.year, self.number)[1]

    @property
    def hours(self) -> int:
        """672 to 744; a month of the screen has 730 (``hourly.HOURS_PER_MONTH``)."""
        return self.days * HOURS_A_DAY

    @property
    def start(self) -> str:
        return f"{self}-01T00:00:00Z"

    @property
    def end(self) -> str:
        """The next month's start: the period does not hold it."""
        return self.plus(1).start

    def plus(self, months: int) -> Month:
        """So many months later, or earlier."""
        years, before = divmod(self.number - 1 + months, 12)
        return Month(self.year + years, before + 1)

    def until(self, other: Month) -> int:
        """How many months later the other is."""
        return (other.year - self.year) * 12 + other.number - self.number


def month(text: str, where: str = "month") -> Month:
    """``2027-01``; SpecError for anything else."""
    year, _, number = text.partition("-")
    digits = len(year) == 4 and len(number) == 2 and (year + number).isdecimal() and text.isascii()
    if digits and 1 <= int(number) <= 12 and int(year) >= 1:
        return Month(int(year), int(number))
    raise SpecError(f"{where}: found {text!r}, expected a month such as 2027-01")


def months_from(start: Month, count: int) -> list[Month]:
    """The start and those that follow, ``count`` in all."""
    return [start.plus(later) for later in range(count)]
