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

EXPECTED = "a time such as 2023-11-16 18:15:46.6805900, with Z or an offset such as +02:00 unless it is UTC"
TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?", re.ASCII)
NS_PER_S = 1_000_000_000
NS_DIGITS = 9
FIRST_YEAR, LAST_YEAR = 1970, 2261
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Start, end and the bytes that may be before each part of YYYY-MM-DD HH:MM:SS.
PARTS = ((0, 4, ""), (5, 7, "-"), (8, 10, "-"), (11, 13, " T"), (14, 16, ":"), (17, 19, ":"))
POINT_AT = 19
OFFSET_WIDTH = 6


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
    """The same for fields of the form YYYY-MM-DD HH:MM:SS, with up to nine decimals and an offset or none."""
    offset_s, time_ends, good = _offsets(data, starts, ends)
    decimals = time_ends - starts - POINT_AT - 1
    good &= (decimals == -1) | ((decimals >= 1) & (decimals <= NS_DIGITS))
    values = np.zeros_like(starts)
    values[good], good[good] = _shaped_timestamps(data, starts[good], time_ends[good])
    return values - np.where(good, offset_s, 0) * NS_PER_S, good


def zones(data: Bytes, starts: IntArray, ends: IntArray) -> IntArray:
    """Which of such fields have no offset (0), that of UTC (1), another one (2)."""
    east_s, time_ends, _ = _offsets(data, starts, ends)
    return np.where(east_s != 0, 2, np.where(time_ends < ends, 1, 0))


def _offsets(data: Bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray, Mask]:
    """Seconds east of UTC, where the time before the offset ends, and which are written as Z or +HH:MM, or not at
    all."""
    good = ends - starts >= POINT_AT
    sign_at = np.maximum(ends - OFFSET_WIDTH, 0)
    signed = good & (ends - starts >= POINT_AT + OFFSET_WIDTH) & np.isin(data[sign_at], (ord("+"), ord("-")))
    utc = good & (data[ends - 1] == ord("Z"))
    hours, is_hours = whole_numbers(data, sign_at + 1, np.where(signed, sign_at + 3, sign_at + 1))
    minutes, is_minutes = whole_numbers(data, sign_at + 4, np.where(signed, ends, sign_at + 4))
    colon = data[np.where(signed, sign_at + 3, 0)] == ord(":")
    good &= ~signed | (is_hours & is_minutes & colon & (hours < 24) & (minutes < 60))
    east = np.where(signed, np.where(data[sign_at] == ord("-"), -60, 60) * (hours * 60 + minutes), 0)
    return east, np.where(signed, sign_at, ends - utc), good


def _shaped_timestamps(data: Bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, Mask]:
    has_fraction = ends - starts > POINT_AT
    fraction_at = np.where(has_fraction, starts + POINT_AT + 1, ends)
    fraction, is_number = whole_numbers(data, fraction_at, ends)
    good = ~has_fraction | (is_number & (data[np.minimum(starts + POINT_AT, ends - 1)] == ord(".")))
    parts = []
    for start, end, before in PARTS:
        value, is_number = whole_numbers(data, starts + start, starts + end)
        good &= is_number
        if before:
            good &= np.isin(data[starts + start - 1], [ord(mark) for mark in before])
        parts.append(np.where(good, value, 1))
    seconds, valid = _epoch_seconds(parts)
    fraction_ns = np.where(has_fraction, fraction, 0) * 10 ** np.clip(NS_DIGITS - (ends - fraction_at), 0, NS_DIGITS)
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
    arrival=ArrivalColumn("TIMESTAMP", 1_000, True, many_timestamps, one_timestamp, zones=zones),
    prompt="ContextTokens",
    output="GeneratedTokens",
)
