"""What load a benchmark put on the server: so many requests kept in flight, so many a second, or all at once."""

from __future__ import annotations

import math

from simcore.measurements.points import Load
from simcore.measurements.record import Record, number

INFINITE = ("inf", "infinity", "none", "-1")


def offered(
    record: Record, rate: tuple[str, ...], concurrency: tuple[str, ...]
) -> tuple[Load | None, float | None, float | None]:
    """The kind of load, the rate and the concurrency that a record states under these names.

    A rate of ``inf`` means as fast as the limit on those in flight allows; without one it is a burst. A finite rate
    beside a limit is an open loop.
    """
    in_flight = record.count(*concurrency, least=1)
    per_s = record.per_second(*rate) if record.has(*rate) and not _infinite(record, rate) else None
    kept = None if in_flight is None else float(in_flight)
    if per_s is not None:
        return "rate", per_s, kept
    if kept is not None:
        return "concurrency", None, kept
    return ("burst" if _infinite(record, rate) else None), None, None


def _infinite(record: Record, names: tuple[str, ...]) -> bool:
    found = next((record.values[name] for name in names if record.values.get(name) is not None), None)
    if isinstance(found, str):
        return found.strip().lower() in INFINITE or number(found) == math.inf
    return isinstance(found, float) and math.isinf(found)
