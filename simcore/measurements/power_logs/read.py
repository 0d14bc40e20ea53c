"""Reading power logs of any known format, found by content; what is no reading is counted, never taken as 0 W."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from simcore.measurements.content import Content, load
from simcore.measurements.power_logs import dcgm_exporter, dcgmi_dmon, nvidia_dmon, nvidia_smi
from simcore.measurements.power_logs.samples import Device, PowerLog, Row, add
from simcore.measurements.power_logs.times import WITHOUT_TIMES, Clock, zone_words
from simcore.spec import SpecError

EXPECTED = (
    "expected a log of nvidia-smi --query-gpu=timestamp,index,power.draw,utilization.gpu --format=csv (with its"
    " header), nvidia-smi dmon, dcgmi dmon or DCGM exporter"
)
MAX_GAP_S = 3.0
"""Between two samples that belong together."""
HEADER_LINES = 40
"""Looked at for a header: shells and launchers write above it."""
LOCAL = (nvidia_smi.FORMAT, nvidia_dmon.FORMAT)
"""Formats whose times are those of the machine's clock, without a zone."""


def read_power_logs(
    paths: Sequence[str], offset_s: float | None = None, interval_s: float | None = None, max_gap_s: float = MAX_GAP_S
) -> PowerLog:
    """All devices of all files. ``offset_s``: of local times from UTC; ``interval_s``: between rows without times.
    SpecError, one line, where a file is no power log or holds no sample.
    """
    return read_power_contents(map(load, paths), offset_s, interval_s, max_gap_s)


def read_power_contents(
    contents: Iterable[Content],
    offset_s: float | None = None,
    interval_s: float | None = None,
    max_gap_s: float = MAX_GAP_S,
) -> PowerLog:
    """The same of texts that were read already."""
    log = PowerLog()
    for content in contents:
        one = PowerLog(flags=log.flags)
        _read_file(content, one, offset_s or 0.0, interval_s, max_gap_s)
        if not one.devices:
            first = next(iter(log.flags.listed), None)
            why = f" ({first})" if first else ""
            raise SpecError(f"{content.name}: found no row that can be used{why}, {EXPECTED}")
        _merge(log, one, PurePath(content.name).name)
    return replace(log, zone=WITHOUT_TIMES if log.paced else zone_words(offset_s, log.zoned))


def _read_file(content: Content, log: PowerLog, offset_s: float, interval_s: float | None, max_gap_s: float) -> None:
    format_name, rows, dated = _rows(content, log, offset_s, interval_s)
    log.formats.append(format_name)
    clock = Clock(log.flags, content.name, max_gap_s, local=format_name in LOCAL, dated=dated)
    for row in rows:
        time_s = clock.forward(f"{row.host}/{row.device}", row.time_s, row.line)
        if time_s is not None:
            add(log, content.name, replace(row, time_s=time_s))


def _merge(log: PowerLog, one: PowerLog, file: str) -> None:
    """Add a file's devices: to known ones that it goes on after (a log in parts), else as another machine's."""
    log.paced = one.paced and (log.paced or not log.formats)
    log.formats += one.formats
    log.reading = log.reading or one.reading
    log.rows += one.rows
    log.zoned |= one.zoned
    for what, count in one.missing.items():
        log.missing[what] = log.missing.get(what, 0) + count
    for key, device in one.devices.items():
        known = log.devices.get(key)
        if known is None:
            log.devices[key] = device
        elif known.times_s[-1] < device.times_s[0]:
            _go_on(known, device)
        else:
            log.devices[f"{file}{key}"] = replace(device, host=f"{device.host} {file}".strip())


def _go_on(known: Device, more: Device) -> None:
    known.times_s += more.times_s
    known.watts += more.watts
    known.energy_j += more.energy_j
    known.utilization += more.utilization


def _rows(
    content: Content, log: PowerLog, offset_s: float, interval_s: float | None
) -> tuple[str, Iterator[Row], bool]:
    """The format's name, its rows, and whether their times have a date."""
    lines = content.text.splitlines()[:HEADER_LINES]
    if dcgm_exporter.is_text(content.text):
        return dcgm_exporter.FORMAT_TEXT, dcgm_exporter.text_rows(content, log, interval_s), True
    if any(map(dcgm_exporter.is_csv, lines[:1])):
        return dcgm_exporter.FORMAT_CSV, dcgm_exporter.csv_rows(content, log, offset_s), True
    if any(map(dcgmi_dmon.is_header, lines)):
        return dcgmi_dmon.FORMAT, dcgmi_dmon.rows(content, log, interval_s), True
    if any(map(nvidia_dmon.is_header, lines)):
        return nvidia_dmon.FORMAT, nvidia_dmon.rows(content, log, offset_s, interval_s), nvidia_dmon.dated(content)
    if any(map(nvidia_smi.is_header, lines)):
        return nvidia_smi.FORMAT, nvidia_smi.rows(content, log, offset_s), True
    found = next((line.strip() for line in lines if line.strip()), "")
    raise SpecError(f"{content.name}: found '{found[:60]}', {EXPECTED}")
