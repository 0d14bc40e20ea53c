"""A design that was typed in: its sentence, its limits and its pools."""

from __future__ import annotations

from typing import Any

from planner.analyses.shown.parts import Cell, Row, Shown, Table
from planner.numerals import exact, share, short

Json = dict[str, Any]
POOL = ("Pool", "Busy", "MFU", "MBU", "KV at its fullest")


def shown(told: Json) -> Shown:
    return Shown.of(told, tables=[table for table in (_limits(told), _pools(told)) if table.rows])


def _limits(told: Json) -> Table:
    rate = short(told["rate_req_per_s"])
    title = f"Limits at {rate} requests/s" + ("" if told["stable"] else ", where the queue grows")
    rows = [
        Row((Cell(one["name"]), Cell(one["value"]), Cell(one["limit"]), Cell("holds" if one["met"] else "missed")))
        for one in told["limits"]
    ]
    return Table(title, ("Limit", "Value", "Allowed", ""), tuple(rows))


def _pools(told: Json) -> Table:
    rows = [
        Row(
            (
                Cell(pool["role"]),
                *(Cell(share(pool[name]), exact(pool[name])) for name in ("busy", "mfu", "mbu", "kv_peak_share")),
            )
        )
        for pool in told["pools"]
    ]
    return Table("Pools at that rate", POOL, tuple(rows))
