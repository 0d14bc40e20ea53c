"""A FOCUS cost and usage data set (FinOps Open Cost and Usage Specification, 1.0 to 1.3): a row a charge.

Columns have the specification's names; cases and underscores do not matter, as warehouses write them otherwise. The
cost is the column that was chosen: ``EffectiveCost`` (what was paid ahead spread over what it covers, as the book view
has it), ``BilledCost`` (what is invoiced: the cash view), ``ContractedCost`` or ``ListCost``.

Quantities are those of usage: ``ConsumedQuantity`` in ``ConsumedUnit``, or where that is empty ``PricingQuantity`` in
``PricingUnit``. A unit may have a factor before it (``1000 Tokens``).
"""

from __future__ import annotations

import re
from decimal import Decimal

from planner.finance.actuals.charges import Charge, Quantities, Row

COSTS = ("EffectiveCost", "BilledCost", "ContractedCost", "ListCost")
REQUIRED = ("chargeperiodstart", "chargeperiodend")
READ = (
    *("ChargePeriodStart", "ChargePeriodEnd", "BillingCurrency", "ChargeCategory", "ChargeDescription"),
    *("ServiceName", "ServiceCategory", "SkuId", "SkuMeter", "ConsumedQuantity", "ConsumedUnit", "PricingQuantity"),
    *("PricingUnit", "x_Pool", "x_DesignId", "x_Design", "x_IsForecast", *COSTS),
)
MACHINE_CATEGORIES = ("", "compute", "ai and machine learning")
"""Of services whose hours are a machine's; those of others (a gateway's, a volume's) are not counted."""
UNIT = re.compile(r"\s*([0-9][0-9,_]*(?:\.[0-9]+)?)?\s*([A-Za-z][A-Za-z \-]*?)\s*")
HOURS = {
    "gpu-hours": "accelerator_hours", "accelerator-hours": "accelerator_hours",
    "hours": "hours", "instance-hours": "hours", "machine-hours": "hours", "node-hours": "hours", "vm-hours": "hours",
}  # fmt: skip
ENERGY = {"wh": Decimal("0.001"), "kwh": Decimal(1), "mwh": Decimal(1000), "kilowatt-hours": Decimal(1)}
TOKEN_WORDS = (
    ("cached_input", re.compile(r"cache", re.I)),
    ("output", re.compile(r"output|completion|generated", re.I)),
    ("input", re.compile(r"input|prompt", re.I)),
)
"""Which kind of token a row is of, by what it says of itself: the first that fits."""


def charge(row: Row, cost_column: str, hours_of: str) -> Charge | None:
    """``hours_of``: whose ``Hours`` are, ``machines`` or ``accelerators``. None where the row's faults are noted."""
    before = len(row.problems)
    start, end = row.time("chargeperiodstart"), row.time("chargeperiodend")
    cost = row.needed(cost_column.lower())
    category = row.text("chargecategory")
    quantities, uncounted, refused = _quantities(row, category, hours_of)
    if start and end and end <= start:
        row.fault("chargeperiodend", f"found {end.isoformat()}, expected a time after ChargePeriodStart")
    if start is None or end is None or len(row.problems) > before:
        return None
    if row.text("xisforecast").lower() in ("true", "1"):
        refused = "a forecast (x_IsForecast), and no actual"
    elif category.lower() == "tax":
        refused = "a tax: the forecast has none"
    return Charge(
        row.line, start, end, cost, row.text("servicename"), row.text("xpool").lower(),
        row.text("xdesignid") or row.text("xdesign"), row.text("billingcurrency").upper() or "USD", category,
        row.text("chargedescription") or row.text("skumeter") or row.text("skuid"), quantities, uncounted, refused,
    )  # fmt: skip


def _quantities(row: Row, category: str, hours_of: str) -> tuple[Quantities, str, str]:
    """What is counted; the unit of what is not; why the row is refused."""
    if category and category.lower() != "usage":
        return {}, "", ""
    amount, text = row.number("consumedquantity"), row.text("consumedunit")
    if amount is None:
        amount, text = row.number("pricingquantity"), row.text("pricingunit")
    if amount is None:
        return {}, "", ""
    found = UNIT.fullmatch(text)
    if found is None:
        return {}, text or "no unit", ""
    factor = Decimal((found[1] or "1").replace(",", "").replace("_", ""))
    unit = found[2].lower().replace(" ", "-")
    amount *= factor
    unit = unit if unit.endswith("s") or unit in ENERGY else f"{unit}s"
    if unit == "tokens":
        kind = next((kind for kind, words in TOKEN_WORDS if words.search(_says(row))), "")
        return (
            ({kind: amount}, "", "") if kind else ({}, "", "tokens of no known kind, expected input, cached or output")
        )
    if unit in ENERGY:
        return {"kwh": amount * ENERGY[unit]}, "", ""
    if unit in HOURS and row.text("servicecategory").lower() in MACHINE_CATEGORIES:
        name = HOURS[unit]
        name = ("accelerator_hours" if hours_of == "accelerators" else "machine_hours") if name == "hours" else name
        return {name: amount}, "", ""
    return {}, text, ""


def _says(row: Row) -> str:
    return " ".join(row.text(name) for name in ("skumeter", "skuid", "chargedescription"))
