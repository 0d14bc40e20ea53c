"""One number from one field of text, exactly; says what was repaired and what is refused."""

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal

from simcore.traces.digits import EARLIEST_NS, MOST_NS_SECONDS, NS_DIGITS, PS_DIGITS
from simcore.traces.report import shown
from simcore.traces.trace import MAX_ARRIVAL_S

# ASCII only: int() and Decimal() would take other scripts' digits and underscores.
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
LONGEST_NUMBER = 80
# Longer than any number that is accepted, so that no step below rounds but the last one.
EXACT = Context(prec=LONGEST_NUMBER + 20)


class RefusalError(Exception):
    """A value that a row is refused for; field where it is not the one that is being read."""

    def __init__(self, kind: str, found: str, expected: str, field: str = "") -> None:
        super().__init__(kind, found, expected)
        self.kind, self.found, self.expected, self.field = kind, found, expected, field


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
    return scaled(text, PS_DIGITS, MAX_ARRIVAL_S, f"seconds from 0 to {MAX_ARRIVAL_S}, from the trace's start")


def seconds_as_ns(text: str) -> int:
    """Seconds on any clock, rounded half to even to whole nanoseconds, or RefusalError."""
    return scaled(text, NS_DIGITS, MOST_NS_SECONDS, f"seconds from 0 to {MOST_NS_SECONDS}")


def milliseconds_as_ns(text: str) -> int:
    """Milliseconds on any clock, rounded half to even to whole nanoseconds, or RefusalError."""
    most = MOST_NS_SECONDS * 1000
    return scaled(text, NS_DIGITS - 3, most, f"milliseconds from 0 to {most}")


def nanoseconds(text: str) -> int:
    """Whole nanoseconds on any clock, or RefusalError."""
    most = MOST_NS_SECONDS * 10**NS_DIGITS
    return whole_number(text, 0, most, f"nanoseconds from 0 to {most}")


def nanoseconds_since_1970(text: str) -> int:
    """The same of a clock of this century, or RefusalError."""
    return whole_number(text, EARLIEST_NS, MOST_NS_SECONDS * 10**NS_DIGITS, "nanoseconds since 1970, in 19 digits")


def scaled(text: str, decimals: int, most: int, expected: str) -> int:
    """A number from 0 to most, x 10^decimals, rounded half to even, or RefusalError."""
    value = decimal_number(text, expected)
    if value < 0 or value > most:
        raise RefusalError("out of range", shown(text), expected)
    return int(EXACT.scaleb(value, decimals).to_integral_value(ROUND_HALF_EVEN))
