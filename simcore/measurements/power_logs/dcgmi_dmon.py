"""``dcgmi dmon -e 155,156,203``: rows of ``GPU 0`` and values under short names, without times."""

from __future__ import annotations

from collections.abc import Iterator

from simcore.measurements.content import Content
from simcore.measurements.points import Flag
from simcore.measurements.power_logs.paced import Pace
from simcore.measurements.power_logs.samples import PowerLog, Row
from simcore.spec import SpecError

FORMAT = "dcgmi dmon"
INSTANT, AVERAGE, ENERGY, USE = "POWINST", "POWER", "TOTEC", "GPUTL"
"""Short names of DCGM's fields 157, 155, 156 and 203."""
READINGS = {
    True: "of an instant (DCGM field 157)",
    False: "a running average (DCGM field 155)",
}


def is_header(line: str) -> bool:
    """Whether a line names the columns of ``dcgmi dmon``."""
    return line.lstrip("# ").lower().startswith("entity")


def rows(content: Content, log: PowerLog, interval_s: float | None) -> Iterator[Row]:
    """The file's rows, ``interval_s`` apart. SpecError where it has neither watts nor energy."""
    names: list[str] = []
    pace = Pace(log, content.name, interval_s)
    for line, text in enumerate(content.text.splitlines(), 1):
        if is_header(text):
            names = text.lstrip("# ").upper().split()[1:]
            if not {INSTANT, AVERAGE, ENERGY} & {*names}:
                raise SpecError(
                    f"{content.name}: found columns {', '.join(names)}, expected POWER (dcgmi dmon -e 155,156,203)"
                )
            log.reading = READINGS[INSTANT in names]
            continue
        cells = text.split()
        if len(cells) < 2 or cells[0].upper() != "GPU" or not cells[1].isdigit():
            continue  # units, blank lines, other entities
        values = _joined(cells[2:])
        if len(values) != len(names):
            pace.time_s(cells[1])
            reason = f"{len(values)} values where the header has {len(names)}"
            log.flags.add(Flag(content.name, f"line {line}", "", text.strip()[:60], reason, "row left out"))
            continue
        of = dict(zip(names, values, strict=True))
        power = of.get(INSTANT, of.get(AVERAGE))
        yield Row(line, pace.time_s(cells[1]), f"gpu {cells[1]}", power, of.get(ENERGY), of.get(USE))


def _joined(cells: list[str]) -> list[str]:
    """``Not Supported`` is one value."""
    text = " ".join(cells)
    for words in ("Not Supported", "Not Found", "Insufficient Permissions"):
        text = text.replace(words, "N/A").replace(words.lower(), "N/A")
    return text.split()
