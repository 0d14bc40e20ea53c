"""Azure's LLM inference traces: TIMESTAMP, ContextTokens, GeneratedTokens.

Timestamps have seven fractional digits, which datetime.fromisoformat cuts to six without a word:
they are read here as whole nanoseconds. Without an offset they are taken as UTC. Lines may end in
CRLF; the last one may have no end.
"""

import re
from datetime import UTC, datetime, timedelta

import numpy as np

from simcore.traces.digits import whole_numbers
from simcore.traces.fields import Bytes, Mask
from simcore.traces.format import ArrivalColumn, TableFormat
from simcore.traces.numbers import RefusalError
from simcore.traces.report import shown
from simcore.traces.trace import IntArray

EXPECTED = "a time such as 2023-11-16 18:15:46.6805900"
TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?", re.ASCII)
NS_PER_S = 1_000_000_000
NS_DIGITS = 9
FIRST_YEAR, LAST_YEAR = 1970, 2261
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Start, end and the byte before each part of YYYY-MM-DD HH:MM:SS.
PARTS = ((0, 4, ""), (5, 7, "-"), (8, 10, "-"), (11, 13, " "), (14, 16, ":"), (17, 19, ":"))
POINT_AT = 19


def one_timestamp(text: str) -> int:
    """Nanoseconds since 1970 UTC; up to nine decimals, an offset if given. RefusalError otherwise."""
    match = TIMESTAMP.fullmatch(text)
    if not text or match is None:
        raise RefusalError("not a time", shown(text) if text else "nothing", EXPECTED)
    date, time, fraction, offset = match.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{time}{offset or 'Z'}")
        seconds = (moment - EPOCH) // timedelta(seconds=1)
    except (ValueError, OverflowError):
        raise RefusalError("not a time", shown(text), EXPECTED) from None
    if not FIRST_YEAR <= int(date[:4]) <= LAST_YEAR:
        raise RefusalError("out of range", shown(text), f"a year from {FIRST_YEAR} to {LAST_YEAR}")
    return seconds * NS_PER_S + int((fraction or "").ljust(NS_DIGITS, "0"))


def many_timestamps(data: Bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, Mask]:
    """The same for fields of the form YYYY-MM-DD HH:MM:SS.f, with one to nine decimals."""
    decimals = ends - starts - POINT_AT - 1
    good = (decimals >= 1) & (decimals <= NS_DIGITS)
    values = np.zeros_like(starts)
    values[good], good[good] = _shaped_timestamps(data, starts[good], ends[good])
    return values, good


def _shaped_timestamps(data: Bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, Mask]:
    fraction, good = whole_numbers(data, starts + POINT_AT + 1, ends)
    good &= data[starts + POINT_AT] == ord(".")
    parts = []
    for start, end, before in PARTS:
        value, is_number = whole_numbers(data, starts + start, starts + end)
        good &= is_number
        if before:
            good &= data[starts + start - 1] == ord(before)
        parts.append(np.where(good, value, 1))
    seconds, valid = _epoch_seconds(parts)
    fraction_ns = fraction * 10 ** (NS_DIGITS - (ends - starts - POINT_AT - 1))
    return np.where(good, seconds * NS_PER_S + fraction_ns, 0), good & valid


def _epoch_seconds(parts: list[IntArray]) -> tuple[IntArray, Mask]:
    year, month, day, hour, minute, second = parts
    valid = (year >= FIRST_YEAR) & (year <= LAST_YEAR) & (month >= 1) & (month <= 12)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0)
    first_day = _days(months)
    valid &= (day >= 1) & (day <= _days(months + 1) - first_day)
    valid &= (hour < 24) & (minute < 60) & (second < 60)
    return ((first_day + day - 1) * 24 + hour) * 3600 + minute * 60 + second, valid


def _days(months: IntArray) -> IntArray:
    """Days from 1970-01-01 to the first day of a month, months counted from January 1970."""
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


AZURE = TableFormat(
    id="azure",
    label="Azure LLM inference trace",
    arrival=ArrivalColumn("TIMESTAMP", 1_000, True, many_timestamps, one_timestamp),
    prompt="ContextTokens",
    output="GeneratedTokens",
)
