"""``nvidia-smi dmon`` (``-o DT`` for times): columns of text, headers that come again, ``-`` for no reading."""

from __future__ import annotations

from collections.abc import Iterator

from simcore.measurements.content import Content
from simcore.measurements.points import Flag
from simcore.measurements.power_logs.paced import Pace
from simcore.measurements.power_logs.samples import PowerLog, Row
from simcore.spec import SpecError

FORMAT = "nvidia-smi dmon"
READING = "averaged by the driver over 1 s on Ampere and later (A100: of an instant)"


def is_header(line: str) -> bool:
    """Whether a line names the columns of ``dmon``."""
    names = line.lstrip("# ").lower().split()
    return line.startswith("#") and "gpu" in names


def rows(content: Content, log: PowerLog, offset_s: float, interval_s: float | None) -> Iterator[Row]:
    """The file's rows. SpecError where it has no watts."""
    names: list[str] = []
    pace: Pace | None = None
    log.reading = READING
    for line, text in enumerate(content.text.splitlines(), 1):
        if is_header(text):
            names = text.lstrip("# ").lower().split()
            if "pwr" not in names:
                raise SpecError(
                    f"{content.name}: found columns {', '.join(names)}, expected pwr (nvidia-smi dmon -s p)"
                )
            continue
        cells = text.split()
        if not cells or text.startswith("#"):
            continue
        if len(cells) != len(names):
            reason = f"{len(cells)} cells where the header has {len(names)}"
            log.flags.add(Flag(content.name, f"line {line}", "", text.strip()[:60], reason, "row left out"))
            continue
        of = dict(zip(names, cells, strict=True))
        device = f"gpu {of['gpu']}"
        if "time" in of:
            time_s = _time_s(content.name, log, line, of, offset_s)
        else:
            pace = pace or Pace(log, content.name, interval_s)
            time_s = pace.time_s(device)
        if time_s is not None:
            yield Row(line, time_s, device, of["pwr"], None, of.get("sm"))


def dated(content: Content) -> bool:
    """Whether its rows have a date, so that midnight is no step back."""
    header = next(line for line in content.text.splitlines() if is_header(line))
    names = header.lstrip("# ").lower().split()
    return "time" not in names or "date" in names


def _time_s(file: str, log: PowerLog, line: int, of: dict[str, str], offset_s: float) -> float | None:
    text = f"{of['date']} {of['time']}" if "date" in of else of["time"]
    try:
        return log.time_s(text, offset_s)
    except ValueError:
        log.flags.add(Flag(file, f"line {line}", "time", text[:40], "no time that can be read", "row left out"))
        return None
