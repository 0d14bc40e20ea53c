"""Numbers from fields of bytes, many at once, exactly: no float is involved.

Each function returns the values and which of them are good. It accepts plain digits only (and one
decimal point); whatever else a number may look like is left to the reader of single rows.
"""

import numpy as np

from simcore.traces.fields import Bytes, Mask
from simcore.traces.trace import IntArray

ZERO, NINE, POINT = 48, 57, 46
MOST_DIGITS = 18
PS_DIGITS = 12
NS_DIGITS = 9
MOST_SECONDS_DIGITS = 7
MOST_NS_SECONDS = 9_000_000_000
"""Seconds whose nanoseconds 64 bits hold."""
EARLIEST_NS = 10**18
"""Of a clock that counts nanoseconds from 1970: September 2001. What is less counts something else."""


def whole_numbers(data: Bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, Mask]:
    """Unsigned integers of 1 to 18 digits."""
    width = ends - starts
    good = (width >= 1) & (width <= MOST_DIGITS)
    values = np.zeros(len(starts), dtype=np.int64)
    for place in range(int(width[good].max(initial=0))):
        inside = good & (place < width)
        byte = data[np.where(inside, starts + place, 0)]
        good &= ~inside | ((byte >= ZERO) & (byte <= NINE))
        values = np.where(inside, values * 10 + (byte.astype(np.int64) - ZERO), values)
    return values, good


def nanoseconds(data: Bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, Mask]:
    """Whole nanoseconds of 1 to 19 digits, as far as 64 bits go: a clock's, counted from 1970."""
    split_at = np.maximum(ends - NS_DIGITS, starts)
    high, high_good = whole_numbers(data, starts, split_at)
    low, low_good = whole_numbers(data, split_at, ends)
    good = (high_good | (split_at == starts)) & low_good & (high < MOST_NS_SECONDS)
    return np.where(good, high, 0) * 10**NS_DIGITS + low, good


def nanoseconds_since_1970(data: Bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, Mask]:
    """The same of a clock of this century."""
    values, good = nanoseconds(data, starts, ends)
    return values, good & (values >= EARLIEST_NS)


def seconds_as_ps(data: Bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, Mask]:
    """Seconds with up to 18 decimals, rounded half to even to whole picoseconds."""
    return scaled_decimals(data, starts, ends, PS_DIGITS, 10**MOST_SECONDS_DIGITS - 1)


def scaled_decimals(
    data: Bytes, starts: IntArray, ends: IntArray, decimals: int, most_whole: int
) -> tuple[IntArray, Mask]:
    """Decimal numbers x 10^decimals, rounded half to even; up to most_whole before the point, 18 digits after it."""
    point = _points(data, starts, ends)
    whole, good = whole_numbers(data, starts, point)
    good &= whole <= most_whole
    kept_end = np.minimum(point + 1 + decimals, ends)
    fraction, fraction_good = _scaled(data, np.minimum(point + 1, ends), kept_end, decimals)
    rest, rest_good = whole_numbers(data, kept_end, ends)
    rest_good |= kept_end == ends
    has_point = point < ends
    good &= ~has_point | (fraction_good & rest_good & (ends - point <= MOST_DIGITS + 1))
    up = _rounds_up(fraction, rest, ends - kept_end)
    return np.where(good, whole, 0) * 10**decimals + fraction + up, good


def _points(data: Bytes, starts: IntArray, ends: IntArray) -> IntArray:
    """The first decimal point of each field, or the field's end."""
    points = np.append(np.flatnonzero(data == POINT), len(data))
    first: IntArray = np.minimum(points[np.searchsorted(points, starts)], ends)
    return first


def _scaled(data: Bytes, starts: IntArray, ends: IntArray, decimals: int) -> tuple[IntArray, Mask]:
    digits, good = whole_numbers(data, starts, ends)
    missing = np.clip(decimals - (ends - starts), 0, decimals)
    return np.where(good, digits * 10**missing, 0), good


def _rounds_up(kept: IntArray, rest: IntArray, rest_digits: IntArray) -> IntArray:
    unit = 10 ** np.clip(rest_digits, 0, MOST_DIGITS)
    twice = 2 * rest
    up: IntArray = ((twice > unit) | ((twice == unit) & (kept % 2 == 1))).astype(np.int64)
    return up
