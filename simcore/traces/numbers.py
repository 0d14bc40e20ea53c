"""One number from one field of text, exactly; says what was repaired and what is refused."""

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal

from simcore.traces.report import shown
from simcore.traces.trace import MAX_ARRIVAL_S, PS_PER_S

# ASCII only: int() and Decimal() would take other scripts' digits and underscores.
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
LONGEST_NUMBER = 80
# Longer than any number that is accepted, so that no step below rounds but the last one.
EXACT = Context(prec=LONGEST_NUMBER + 20)


class RefusalError(Exception):
    """A value that a row is refused for."""

    def __init__(self, kind: str, found: str, expected: str) -> None:
        super().__init__(kind, found, expected)
        self.kind, self.found, self.expected = kind, found, expected


def decimal_number(text: str, expected: str) -> Decimal:
    """The exact value of a decimal numeral, or RefusalError."""
    if not text:
        raise RefusalError("empty field", "nothing", expected)
    if NOT_FINITE.fullmatch(text):
        raise RefusalError("not finite", shown(text), expected)
    if len(text) > LONGEST_NUMBER or not NUMBER.fullmatch(text):
        raise RefusalError("not a number", shown(text), expected)
    return Decimal(text)


def whole_number(text: str, least: int, most: int, expected: str) -> int:
    """An integer from least to most, or RefusalError; 12.0 and 1.2e1 are 12."""
    value = decimal_number(text, expected)
    if value < least or value > most:
        raise RefusalError("out of range", shown(text), expected)
    if value != value.to_integral_value():
        raise RefusalError("not a whole number", shown(text), expected)
    return int(value)


def seconds_as_ps(text: str) -> int:
    """Seconds rounded half to even to whole picoseconds, or RefusalError."""
    expected = f"seconds from 0 to {MAX_ARRIVAL_S}"
    value = decimal_number(text, expected)
    if value < 0 or value > MAX_ARRIVAL_S:
        raise RefusalError("out of range", shown(text), expected)
    picoseconds = EXACT.multiply(value, Decimal(PS_PER_S))
    return int(picoseconds.to_integral_value(ROUND_HALF_EVEN))
