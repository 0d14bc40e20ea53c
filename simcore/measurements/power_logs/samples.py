"""What a power log says, in one form whatever wrote it: watts, use and the energy counter of each device over time."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import Literal

from simcore.measurements.points import Flag, Flags
from simcore.measurements.power_logs.times import has_zone, seconds

MISSING = ("n/a", "na", "nan", "null", "none", "-", "", "not supported", "unknown error", "not found", "not active",
           "insufficient permissions", "gpu requires reset", "unknown", "blank")  # fmt: skip
"""What tools write where they have no reading, in or out of brackets."""
UNITS = {"w": 1.0, "mw": 1e-3, "kw": 1e3, "j": 1.0, "mj": 1e-3, "kj": 1e3, "%": 0.01}
"""To watts, joules and shares. ``mJ`` and ``mW`` are thousandths: no tool writes megajoules."""
DECIMAL_COMMA = re.compile(r"^(\d+),(\d\d?)(?!\d|,|\.)")
"""As a spreadsheet of another language saves it; before three digits a comma may part thousands, and is no number."""
MOST_W = 5000.0
"""That an accelerator can draw."""
Field = Literal["power", "energy", "utilization"]
BASE = {"power": "w", "energy": "mj", "utilization": "%"}
"""Units of a bare number."""


@dataclass
class Device:
    """One accelerator's samples in the order of the log; nan: missing."""

    id: str
    name: str = ""
    host: str = ""
    times_s: list[float] = field(default_factory=list)
    watts: list[float] = field(default_factory=list)
    energy_j: list[float] = field(default_factory=list)
    """Of the counter since boot."""
    utilization: list[float] = field(default_factory=list)
    limit_w: float | None = None
    """The highest power limit that the log states."""

    @property
    def label(self) -> str:
        """As reports name it."""
        return f"{self.host} {self.id}".strip()


@dataclass
class PowerLog:
    """All devices of all files that were read together."""

    devices: dict[str, Device] = field(default_factory=dict)
    formats: list[str] = field(default_factory=list)
    reading: str = ""
    """What the driver means by watts: averaged over a time, or of an instant; empty where the log does not say."""
    zone: str = ""
    """Of its times: ``UTC+02:00``, or ``local time``."""
    paced: bool = False
    """It has no times: its samples' are seconds from its start."""
    missing: dict[str, int] = field(default_factory=dict)
    """Power readings that are none, by what stood there."""
    zoned: set[bool] = field(default_factory=set)
    """Whether its times have a zone: of those read."""
    rows: int = 0
    flags: Flags = field(default_factory=Flags)

    def time_s(self, text: str, offset_s: float) -> float:
        """Epoch seconds of a time as the log writes it; ValueError as ``seconds``."""
        found = seconds(text, offset_s)
        self.zoned.add(has_zone(text))
        return found

    def device(self, device_id: str, name: str = "", host: str = "") -> Device:
        """The device of that id, new or known."""
        key = f"{host}/{device_id}"
        if key not in self.devices:
            self.devices[key] = Device(device_id, name, host)
        return self.devices[key]

    def miss(self, file: str, line: int, found: str) -> None:
        """Count a power reading that is none."""
        what = found.strip() or "(empty)"
        self.missing[what] = self.missing.get(what, 0) + 1
        self.flags.add(Flag(file, f"line {line}", "power", what, "no reading: missing, not 0 W", "not used"))


@dataclass(frozen=True)
class Row:
    """One device's readings at one time, as a format's reader finds them; None: the row has no such field."""

    line: int
    time_s: float
    device: str
    power: str | None
    energy: str | None = None
    utilization: str | None = None
    name: str = ""
    host: str = ""
    limit: str | None = None


def add(log: PowerLog, file: str, row: Row) -> None:
    """Add a row's readings to its device. A time that does not go forward is the caller's to mend: ``clock.py``."""
    log.rows += 1
    device = log.device(row.device, row.name, row.host)
    device.times_s.append(row.time_s)
    device.watts.append(_power(log, file, row))
    device.energy_j.append(_quiet(row.energy, "energy"))
    device.utilization.append(_quiet(row.utilization, "utilization"))
    limit_w = _quiet(row.limit, "power")
    if limit_w > 0:
        device.limit_w = max(limit_w, device.limit_w or 0.0)


def number(text: str, of: Field) -> float | None:
    """A reading with or without its unit, in watts, joules or a share; None where it is none at all."""
    text = DECIMAL_COMMA.sub(r"\1.\2", text.strip().strip("[]").strip())
    if text.lower() in MISSING:
        return None
    words = text.replace("%", " %").split()
    unit = words[1].lower() if len(words) > 1 else BASE[of]
    if len(words) > 2 or unit not in UNITS:
        raise ValueError(text)
    value = float(words[0]) * UNITS[unit]
    if not isfinite(value):
        return None
    return value


def _power(log: PowerLog, file: str, row: Row) -> float:
    if row.power is None:
        return nan
    try:
        watts = number(row.power, "power")
    except ValueError:
        reason = "no number of watts: missing"
        log.flags.add(Flag(file, f"line {row.line}", "power", row.power.strip()[:40], reason, "not used"))
        log.missing["not a number"] = log.missing.get("not a number", 0) + 1
        return nan
    if watts is None or watts <= 0:
        log.miss(file, row.line, row.power)
        return nan
    if watts > MOST_W:
        reason = f"more than any accelerator draws ({MOST_W:,.0f} W): is it in mW? missing"
        log.flags.add(Flag(file, f"line {row.line}", "power", row.power.strip()[:40], reason, "not used"))
        log.missing["too many watts"] = log.missing.get("too many watts", 0) + 1
        return nan
    return watts


def _quiet(text: str | None, of: Field) -> float:
    """A reading beside power: where it is none, nothing hangs on it."""
    try:
        value = None if text is None else number(text, of)
    except ValueError:
        return nan
    return nan if value is None else value
