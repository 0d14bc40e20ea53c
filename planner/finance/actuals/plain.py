"""A table of months: cost, GPU-hours, tokens, kWh, one row a month, or a month and pool or service."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from planner.finance.actuals.charges import CellError, Charge, Row, month_of, start_of

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "month": ("month", "period"),
    "start": ("periodstart", "start"),
    "end": ("periodend", "end"),
    "cost": ("cost", "costusd", "amount", "amountusd", "usd"),
    "currency": ("currency", "billingcurrency"),
    "accelerator_hours": ("gpuhours", "acceleratorhours"),
    "machine_hours": ("machinehours", "nodehours", "instancehours"),
    "used_accelerator_hours": ("usedgpuhours", "usedacceleratorhours"),
    "input": ("inputtokens", "prompttokens"),
    "cached_input": ("cachedinputtokens", "cachedtokens"),
    "output": ("outputtokens", "completiontokens"),
    "tokens": ("tokens", "totaltokens"),
    "kwh": ("kwh", "energykwh"),
    "service": ("service", "servicename"),
    "pool": ("pool",),
    "design": ("design", "designid"),
    "description": ("description",),
}
"""What is read ← how a column may be called (``charges.folded``)."""
QUANTITIES = (
    *("accelerator_hours", "machine_hours", "used_accelerator_hours", "input", "cached_input", "output", "tokens"),
    "kwh",
)


def charge(row: Row) -> Charge | None:
    """None where the row's faults are noted."""
    before = len(row.problems)
    period = _period(row)
    cost = row.needed("cost")
    quantities = {name: found for name in QUANTITIES if (found := row.number(name)) is not None}
    for name, found in quantities.items():
        if found < 0:
            row.fault(name, f"found {found:f}, expected zero or more")
    currency = row.text("currency").upper() or "USD"
    if period is None or len(row.problems) > before:
        return None
    start, end = period
    return Charge(
        row.line, start, end, cost, row.text("service"), row.text("pool").lower(), row.text("design"), currency,
        "", row.text("description"), quantities,
    )  # fmt: skip


def _period(row: Row) -> tuple[datetime, datetime] | None:
    if row.cells.get("month", "").strip() or not ("start" in row.names and "end" in row.names):
        try:
            of = month_of(row.cells.get("month", "").strip())
        except CellError as error:
            row.fault("month", str(error))
            return None
        return start_of(of), start_of(of.plus(1))
    start, end = row.time("start"), row.time("end")
    if start is None or end is None:
        return None
    if end <= start:
        row.fault("end", f"found {end.isoformat()}, expected a time after the start")
        return None
    return start, end
