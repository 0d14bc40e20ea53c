"""What a visitor supposes otherwise, as the address of a page says it: ``?rate=85&usd.dgx-h100=30&power_limit=none``.

An address is all there is to a what-if: whoever may open the study sees the same, Back undoes, and nothing is saved.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from planner.scenarios import quantities as units
from planner.scenarios.quantities import parse_quantity, shown_quantity
from simcore.answer.result import StudyResult
from simcore.spec import SpecError
from simcore.what_if.changes import Changes, changed, effective, repriced, studied_machines

NONE = "none"
"""Of a limit: there is none."""
PRICE = "usd."
"""Before a machine's id: its price an hour."""
NAMES = {
    "rate": "rate_req_per_s",
    "slo": "slo_multiplier",
    "tariff": "usd_per_kwh",
    "pue": "pue",
    "power_limit": "power_limit_kw",
    "budget": "usd_per_month",
}
"""In an address → of Changes."""
LIMITS = ("power_limit", "budget")
UNITS: dict[str, units.Units] = {
    "rate": units.REQ_PER_S,
    "slo": units.TIMES,
    "power_limit": units.KW,
    "budget": units.USD_PER_MONTH,
}
USD: units.Units = dict.fromkeys(("$", "usd", "$/h", "$/kwh", "/h", "/kwh"), Decimal(1))


@dataclass(frozen=True)
class Moves:
    """What is supposed of one study, and what of the address could not be read."""

    changes: Changes
    """Those that differ from what was asked."""
    errors: Mapping[str, str]
    """Name in the address → what is wrong with its value, which is left out."""

    @cached_property
    def query(self) -> dict[str, str]:
        """As an address says it, in one order."""
        found = {name: _shown(getattr(self.changes, field)) for name, field in NAMES.items()}
        prices = {f"{PRICE}{machine}": f"{usd.normalize():f}" for machine, usd in self.changes.usd_per_hour.items()}
        return {name: value for name, value in (found | prices).items() if value}

    def without(self, name: str) -> dict[str, str]:
        """The query with one as it was asked."""
        return {other: value for other, value in self.query.items() if other != name}


def read_moves(query: Mapping[str, Any], base: StudyResult) -> Moves:
    """The moves that a query names, of those that its study has; what cannot be is left out, and said."""
    changes, errors = Changes(), {}
    for name in names_of(base):
        text = str(query.get(name, "")).strip()
        if not text:
            continue
        try:
            moved = _moved(changes, name, text)
            changed(base.spec, moved)
            repriced(base.book, moved)
            changes = moved
        except SpecError as error:
            said = str(error).partition(": ")[2]
            errors[name] = f"{said[:1].upper()}{said[1:]}."
        except ValueError:
            errors[name] = f"Found ‘{text[:40]}’, expected a number."
    return Moves(effective(base, changes), errors)


def names_of(base: StudyResult) -> Iterator[str]:
    """All that may be moved, as an address names it."""
    yield from NAMES
    yield from (f"{PRICE}{machine}" for machine in studied_machines(base.spec))


def address(query: Mapping[str, str]) -> str:
    """``?rate=85``, or ``?`` where nothing is asked: a link to it drops what the page's own address asks."""
    return f"?{urlencode(query)}"


def _moved(changes: Changes, name: str, text: str) -> Changes:
    if name.startswith(PRICE):
        usd = Decimal(shown_quantity(parse_quantity(text, USD)))
        return replace(changes, usd_per_hour={**changes.usd_per_hour, name.removeprefix(PRICE): usd})
    if name in LIMITS and text.lower() == NONE:
        return replace(changes, **{NAMES[name]: math.inf})  # type: ignore[arg-type]
    value = parse_quantity(text, UNITS.get(name, USD))
    return replace(changes, **{NAMES[name]: Decimal(shown_quantity(value)) if name == "tariff" else value})  # type: ignore[arg-type]


def _shown(value: float | Decimal | None) -> str:
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return NONE if math.isinf(value) else shown_quantity(value)
