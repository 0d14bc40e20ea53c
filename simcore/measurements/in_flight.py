"""How many requests were in flight where a file does not say, or where what it offered was not served."""

from __future__ import annotations

from dataclasses import replace

from simcore.measurements.checks import OFFERED
from simcore.measurements.points import ServingPoint


def with_load(point: ServingPoint) -> ServingPoint:
    """The point at a concurrency or a rate that holds.

    No load stated: requests/s x stay (Little's law). A burst, or a rate beyond what was served: as many as were being
    decoded, requests/s x TPOT x (output tokens - 1), since the rest waited.
    """
    if point.load is None:
        return _at(point, _staying(point), "in flight by Little's law")
    served_all = point.load != "rate" or not _beyond(point)
    if point.load == "burst" or not served_all:
        return _at(point, _decoding(point), "as many in flight as were being decoded")
    return point


def _at(point: ServingPoint, concurrency: float | None, note: str) -> ServingPoint:
    if concurrency is None:
        return point
    kept = max(concurrency, 1.0)
    return replace(point, load="concurrency", concurrency=kept, notes=(*point.notes, f"{kept:.4g} {note}"))


def _beyond(point: ServingPoint) -> bool:
    served, offered = point.requests_per_s, point.rate_req_per_s
    return served is not None and offered is not None and served < OFFERED * offered


def _staying(point: ServingPoint) -> float | None:
    return point.requests_per_s * point.stays_s if point.requests_per_s and point.stays_s else None


def _decoding(point: ServingPoint) -> float | None:
    if not (point.requests_per_s and point.tpot_s and point.output_tokens and point.output_tokens > 1):
        return None
    return point.requests_per_s * point.tpot_s * (point.output_tokens - 1)
