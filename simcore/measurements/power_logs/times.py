"""Times of a power log: local ones without a zone, clocks that are set an hour on or back, epochs of s or ms."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from simcore.measurements.points import Flag, Flags
from simcore.spec import SpecError

HOUR_S = 3600.0
EPOCH_MS_FROM = 1e11
"""A bare number from here on is milliseconds: as seconds it would be the year 5138."""
EPOCH_S_FROM, EPOCH_MS_BELOW = 1e8, 1e14
OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d{2})?$")


ZONED = re.compile(r":\d\d(\.\d+)?\s*(Z|[+-]\d{2}:?(\d{2})?)$", re.IGNORECASE)
BARE = re.compile(r"[\d.]+([eE]\+?\d+)?")


def utc_offset_s(text: str) -> float:
    """``+02:00``, ``-5``, ``Z`` as seconds. SpecError."""
    if text.upper() in ("Z", "UTC"):
        return 0.0
    found = OFFSET.fullmatch(text)
    if not found or int(found[2]) > 14 or int(found[3] or 0) > 59:
        raise SpecError(f"--utc-offset: found '{text}', expected something like +02:00 or -05:30")
    return (1 if found[1] == "+" else -1) * (int(found[2]) * HOUR_S + int(found[3] or 0) * 60)


def seconds(text: str, offset_s: float) -> float:
    """Epoch seconds of a time as logs write it, at ``offset_s`` from UTC where it has no zone of its own. ValueError.

    A time of day alone is of 1970-01-01.
    """
    text = text.strip().strip('"')
    try:
        bare = float(text)
    except ValueError:
        return _written_s(text, offset_s)
    if EPOCH_MS_FROM <= bare < EPOCH_MS_BELOW:
        return bare / 1000
    if EPOCH_S_FROM <= bare < EPOCH_MS_FROM:
        return bare
    raise ValueError(f"not a time: {text}")


def has_zone(text: str) -> bool:
    """Whether a time that can be read says where it is: an epoch, or a written one with a zone."""
    text = text.strip().strip('"')
    return ZONED.search(text) is not None or BARE.fullmatch(text) is not None


def _written_s(text: str, offset_s: float) -> float:
    if text[4:5] == text[7:8] == "/":  # nvidia-smi's
        text = text.replace("/", "-", 2)
    if text[2:3] == ":":
        text = f"1970-01-01 {text}"
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        when = _american(text)
    return (when if when.tzinfo else when.replace(tzinfo=timezone(timedelta(seconds=offset_s)))).timestamp()


def _american(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%m/%d/%Y %H:%M:%S")  # noqa: DTZ007
    except ValueError:
        raise ValueError(f"not a time: {text}") from None


def zone_words(offset_s: float | None, zoned: set[bool]) -> str:
    """What times are taken to be: those with a zone (``True`` in ``zoned``) as they say, local ones at an offset."""
    if zoned == {True}:
        return f"with their zone, shown in {_utc(offset_s or 0.0)}"
    local = "local times without a zone, taken as UTC (else --utc-offset)" if offset_s is None else _utc(offset_s)
    return f"{local}; some have a zone of their own" if True in zoned else local


def _utc(offset_s: float) -> str:
    minutes = round(abs(offset_s) / 60)
    return f"UTC{'-' if offset_s < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"


WITHOUT_TIMES = "none in the log: seconds from its start"
"""In place of a zone."""


def shown(time_s: float, offset_s: float) -> str:
    """As reports write it."""
    moment = datetime.fromtimestamp(time_s, UTC) + timedelta(seconds=offset_s)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


class Clock:
    """One file's times, device by device, made to go forward.

    A clock set back or on by an hour (summer time ends or begins: local times) moves what comes after; a day's end in
    times without a date adds a day; any other step back leaves rows out until time has caught up.
    """

    def __init__(self, flags: Flags, file: str, usual_gap_s: float, *, local: bool, dated: bool) -> None:
        self.flags, self.file, self.near_s = flags, file, max(2 * usual_gap_s, 5.0)
        self.local, self.dated = local, dated
        self.moved_s = 0.0
        self.latest: dict[str, float] = {}
        self.now = float("-inf")

    def forward(self, device: str, time_s: float, line: int) -> float | None:
        """The row's time moved as the clock was, or None where it must be left out."""
        time_s += self.moved_s
        if self.now > float("-inf"):
            time_s += self._step(time_s - self.now, line)
        before = self.latest.get(device)
        if before is not None and time_s <= before:
            same = time_s == before
            reason = "the same time twice for one device" if same else f"time goes back by {before - time_s:.3g} s"
            self.flags.add(Flag(self.file, f"line {line}", "time", "", reason, "row left out"))
            return None
        self.latest[device] = time_s
        self.now = max(self.now, time_s)
        return time_s

    def _step(self, step_s: float, line: int) -> float:
        """What to move this row and those after it by."""
        days = 0.0 if self.dated else 24 * HOUR_S
        for jump_s, what in ((-HOUR_S, "back"), (HOUR_S, "on"), (-days, "over a day's end")):
            hour = abs(jump_s) == HOUR_S
            if jump_s and abs(step_s - jump_s) <= self.near_s and (self.local or not hour):
                reason = f"the clock goes {what} by an hour: later rows are moved" if hour else f"time goes {what}"
                self.flags.add(Flag(self.file, f"line {line}", "time", f"{step_s:+.0f} s", reason, "noted"))
                self.moved_s -= jump_s
                return -jump_s
        return 0.0
