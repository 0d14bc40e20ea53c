"""Fields of the assumptions that changed, in the words and units of their form."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from planner.finance.fields import FIELDS, MACHINE, PERCENT, QUOTE_LABELS, FieldSpec
from simcore.catalogue import resolve_machine
from simcore.economics.changes import Moved
from simcore.spec import SpecError

NONE = "none"
KNOWN = {field.path: field for field in FIELDS}
OF_MACHINE = {field.path: field for field in MACHINE}
LABELS = {"sharing.idle": "Idle is shared", "sharing.headroom": "Headroom is shared", "sharing.classes": "Cost centres"}


def words_of(moved: Moved) -> str:
    """``PUE 1.2 → 1.3``, ``DGX H100, bought 250,000 → 270,000 $ a machine``."""
    if not moved.path.startswith("machines."):
        field = KNOWN.get(moved.path) or FieldSpec(moved.path, LABELS.get(moved.path, moved.path))
        return _said(field.label, field, moved)
    _, machine, name = moved.path.split(".", 2)
    of = f"{_name(machine)}, "
    if name.startswith("quotes."):
        label = QUOTE_LABELS[name.removeprefix("quotes.")]
        return f"{of}{_lower(label)} {_quote(moved.before)} → {_quote(moved.after)}"
    if name == "row":
        return f"{of}price by the hour from {moved.before or 'what was entered'} → {moved.after or 'what was entered'}"
    field = OF_MACHINE[name]
    return _said(f"{of}{_lower(field.label)}", field, moved)


def _said(label: str, field: FieldSpec, moved: Moved) -> str:
    unit = f" {field.unit}" if field.unit else ""
    return f"{label} {_value(field, moved.before)} → {_value(field, moved.after)}{unit}"


def _value(field: FieldSpec, value: Any) -> str:
    if value is None or value == "":
        return NONE
    if field.choices:
        return dict(field.choices).get(str(value), str(value))
    if field.is_text or isinstance(value, list | Mapping):
        return str(value)
    number = Decimal(str(value)) * (PERCENT if field.percent else 1)
    return f"{number.normalize() + 0:,f}"


def _quote(quote: Mapping[str, Any] | None) -> str:
    if quote is None:
        return NONE
    offer, rate = quote["offer"], quote["exchange"]
    named = f"{offer['quote'] or offer['vendor'] or 'without a number'} ({offer['price']} {offer['currency']}"
    less = f" less {(Decimal(offer['discount']) * PERCENT).normalize() + 0:f} %" if Decimal(offer["discount"]) else ""
    return f"{named}{less}{' × ' + rate['usd'] if rate else ''})"


def _name(machine: str) -> str:
    try:
        return resolve_machine(machine).name
    except SpecError:  # a team's own
        return machine


def _lower(label: str) -> str:
    return label[:1].lower() + label[1:]
