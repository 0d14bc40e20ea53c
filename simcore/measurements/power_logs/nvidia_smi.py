"""``nvidia-smi --query-gpu=timestamp,index,power.draw,... --format=csv``: units in header and values, local times."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass

from simcore.measurements.content import Content
from simcore.measurements.points import Flag
from simcore.measurements.power_logs.samples import UNITS, PowerLog, Row
from simcore.spec import SpecError

FORMAT = "nvidia-smi --query-gpu CSV"
POWERS = ("power.draw.instant", "power.draw", "power.draw.average", "power_draw")
"""The first that is there is read: instants tell peaks that averages hide."""
READINGS = {
    "power.draw.instant": "of an instant (power.draw.instant)",
    "power.draw.average": "averaged by the driver over 1 s (power.draw.average)",
}
AVERAGED = "power.draw: averaged by the driver over 1 s on Ampere and later (A100: of an instant)"
IDS = ("uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "index", "serial")
USES = ("utilization.gpu",)
LIMITS = ("enforced.power.limit", "power.limit", "power.max_limit", "power.default_limit")


def is_header(line: str) -> bool:
    """Whether a line names fields as nvidia-smi does."""
    names = [_name(cell)[0] for cell in line.split(_delimiter(line))]
    return any(name in POWERS or name.startswith(("utilization.gpu", "power.limit")) for name in names)


def _delimiter(header: str) -> str:
    """A comma, but where a spreadsheet saved the log anew."""
    return max(",;\t", key=header.count)


@dataclass(frozen=True)
class _Columns:
    names: tuple[str, ...]
    units: tuple[str, ...]
    power: int
    time: int
    device: int | None
    use: int | None
    label: int | None
    limit: int | None


def rows(content: Content, log: PowerLog, offset_s: float) -> Iterator[Row]:
    """The file's rows, from its header on. SpecError where it lacks times or watts."""
    columns: _Columns | None = None
    lines = content.text.splitlines()
    delimiter = _delimiter(next(filter(is_header, lines), ""))
    for line, cells in enumerate(csv.reader(lines, delimiter=delimiter, skipinitialspace=True), 1):
        if not any(cell.strip() for cell in cells):
            continue
        if is_header(delimiter.join(cells)):  # of a log that was appended to: once more
            columns = _columns(content.name, cells)
            continue
        if columns is None:  # what a shell or launcher wrote above it
            continue
        row = _row(content.name, log, line, cells, columns, offset_s)
        if row is not None:
            yield row
    if columns is not None:
        name = columns.names[columns.power]
        log.reading = READINGS.get(name, AVERAGED)


def _columns(file: str, cells: list[str]) -> _Columns:
    names, units = zip(*map(_name, cells), strict=True)
    power = next((names.index(name) for name in POWERS if name in names), None)
    if power is None:
        raise SpecError(f"{file}: found columns {', '.join(names)}, expected power.draw among them")
    if "timestamp" not in names:
        raise SpecError(
            f"{file}: found columns {', '.join(names)}, expected timestamp among them (--query-gpu=timestamp,...)"
        )
    device = next((names.index(name) for name in IDS if name in names), None)
    use = next((names.index(name) for name in USES if name in names), None)
    label = names.index("name") if "name" in names else None
    limit = next((names.index(name) for name in LIMITS if name in names), None)
    return _Columns(names, units, power, names.index("timestamp"), device, use, label, limit)


def _name(cell: str) -> tuple[str, str]:
    """A header's field and its unit: ``power.draw [W]``."""
    name, _, unit = cell.strip().lower().partition("[")
    return name.strip(), unit.rstrip("] ").strip()


def _row(file: str, log: PowerLog, line: int, cells: list[str], columns: _Columns, offset_s: float) -> Row | None:
    if len(cells) != len(columns.names):
        reason = f"{len(cells)} cells where the header has {len(columns.names)}"
        log.flags.add(Flag(file, f"line {line}", "", ", ".join(cells)[:60], reason, "row left out"))
        return None
    try:
        time_s = log.time_s(cells[columns.time], offset_s)
    except ValueError:
        found = cells[columns.time][:40]
        log.flags.add(Flag(file, f"line {line}", "timestamp", found, "no time that can be read", "row left out"))
        return None
    device = "gpu 0" if columns.device is None else cells[columns.device].strip()
    power = cells[columns.power].strip()
    unit = columns.units[columns.power]
    if unit in UNITS and power.replace(",", ".").replace(".", "", 1).isdigit():
        power = f"{power} {unit}"
    use = None if columns.use is None else cells[columns.use]
    name = "" if columns.label is None else cells[columns.label].strip()
    limit = None if columns.limit is None else cells[columns.limit]
    return Row(line, time_s, f"gpu {device}" if device.isdigit() else device, power, None, use, name, limit=limit)
