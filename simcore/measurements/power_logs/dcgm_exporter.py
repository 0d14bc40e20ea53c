"""DCGM exporter's metrics: Prometheus text (scrapes one after another), or CSV with one row a time and device."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from simcore.measurements.content import Content
from simcore.measurements.points import Flag
from simcore.measurements.power_logs.paced import Pace
from simcore.measurements.power_logs.samples import PowerLog, Row
from simcore.spec import SpecError

FORMAT_TEXT, FORMAT_CSV = "DCGM exporter, Prometheus text", "DCGM exporter, CSV"
INSTANT, AVERAGE = "DCGM_FI_DEV_POWER_USAGE_INSTANT", "DCGM_FI_DEV_POWER_USAGE"
ENERGY, USE = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_GPU_UTIL"
LIMIT = "DCGM_FI_DEV_POWER_MGMT_LIMIT"
WANTED = (INSTANT, AVERAGE, ENERGY, USE, LIMIT)
READINGS = {True: "of an instant (DCGM field 157)", False: "a running average (DCGM field 155)"}
LINE = re.compile(r"(DCGM_FI_\w+)\{(.*)\}\s+(\S+)(?:\s+(\d+))?\s*$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
TIMES = ("timestamp", "time", "ts", "datetime", "date")


def is_text(text: str) -> bool:
    """Whether it is Prometheus text with DCGM's metrics."""
    return any(LINE.match(line) for line in text.splitlines()[:400])


def is_csv(line: str) -> bool:
    """Whether a line names DCGM's fields as columns."""
    return any(cell.strip().strip('"') in WANTED for cell in re.split("[,;\t]", line))


def text_rows(content: Content, log: PowerLog, interval_s: float | None) -> Iterator[Row]:
    """One row a device and scrape. A metric that comes again for a device begins its next scrape."""
    pace: Pace | None = None
    open_rows: dict[str, dict[str, str]] = {}
    for line, text in enumerate(content.text.splitlines(), 1):
        found = LINE.match(text)
        if not found:
            if text.startswith("DCGM_FI_DEV_POWER"):
                log.flags.add(
                    Flag(content.name, f"line {line}", "", text[:60], "no metric that can be read", "row left out")
                )
            continue
        if found[1] not in WANTED:
            continue
        labels = dict(LABEL.findall(found[2]))
        device = _device(labels)
        held = open_rows.get(device)
        if held is not None and found[1] in held:
            pace = pace or _pace(log, content.name, interval_s, held)
            yield _row(held, device, pace)
            held = None
        if held is None:
            held = open_rows[device] = {"line": str(line), **_words(labels)}
        held[found[1]] = found[3]
        if found[4]:
            held["at_ms"] = found[4]
            log.zoned.add(True)
    for device, held in open_rows.items():
        pace = pace or _pace(log, content.name, interval_s, held)
        yield _row(held, device, pace)
    log.reading = READINGS[INSTANT in content.text]


def csv_rows(content: Content, log: PowerLog, offset_s: float) -> Iterator[Row]:
    """One row a line. SpecError where it lacks times or watts."""
    lines = content.text.splitlines()
    delimiter = max(",;\t", key=lines[0].count)
    reader = csv.DictReader(lines, delimiter=delimiter, skipinitialspace=True)
    names = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = names
    time = next((name for name in names if name.lower() in TIMES), None)
    if time is None:
        raise SpecError(f"{content.name}: found columns {', '.join(names)[:200]}, expected one of {', '.join(TIMES)}")
    log.reading = READINGS[INSTANT in names]
    for of in reader:
        line = reader.line_num
        if None in of or None in of.values():
            log.flags.add(
                Flag(
                    content.name,
                    f"line {line}",
                    "",
                    lines[line - 1][:60],
                    "more or fewer cells than the header",
                    "row left out",
                )
            )
            continue
        try:
            time_s = log.time_s(of[time], offset_s)
        except ValueError:
            log.flags.add(
                Flag(content.name, f"line {line}", time, of[time][:40], "no time that can be read", "row left out")
            )
            continue
        words = _words(of)
        power = of.get(INSTANT, of.get(AVERAGE))
        use, limit = of.get(USE), of.get(LIMIT)
        yield Row(line, time_s, _device(of), power, of.get(ENERGY), use, words["name"], words["host"], limit)


def _pace(log: PowerLog, file: str, interval_s: float | None, held: dict[str, str]) -> Pace:
    """Used where scrapes bear no times."""
    return Pace(log, file, 0.0 if "at_ms" in held else interval_s)


def _row(held: dict[str, str], device: str, pace: Pace) -> Row:
    time_s = int(held["at_ms"]) / 1000 if "at_ms" in held else pace.time_s(device)
    power = held.get(INSTANT, held.get(AVERAGE))
    energy, use, limit = (held.get(name) for name in (ENERGY, USE, LIMIT))
    return Row(int(held["line"]), time_s, device, power, energy, use, held["name"], held["host"], limit)


def _device(labels: dict[str, str]) -> str:
    found = labels.get("UUID") or labels.get("uuid") or labels.get("gpu") or labels.get("device") or "0"
    part = labels.get("GPU_I_ID")
    name = f"gpu {found}" if found.isdigit() else found
    return f"{name} instance {part}" if part else name


def _words(labels: dict[str, str]) -> dict[str, str]:
    return {
        "name": labels.get("modelName") or labels.get("name") or "",
        "host": labels.get("Hostname") or labels.get("hostname") or labels.get("instance") or "",
    }
