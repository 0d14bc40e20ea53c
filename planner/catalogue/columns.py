"""What a row of each table is made of: its columns with type, unit and range, as forms and imports ask for them.

All but the units is read off simcore's dataclasses, which check every row in the end.
"""

import dataclasses
import math
import re
import typing
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

from planner.catalogue.display import words_of
from simcore import catalogue
from simcore.catalogue import CLASSES

UNITS_NOT_SHIPPED = dict.fromkeys(("power_base", "power_by_mbu", "power_by_mfu", "measured_as", "kv_precision"), "")
"""Units of the columns that no shipped row has."""
SHARES = ("power_base", "power_by_mbu", "power_by_mfu", "efficiency")
"""Numbers without a unit that are shares."""
CHOICES = {("accelerators", "measured_as"): catalogue.accelerator_ids}
"""Columns that hold the id of a shipped row, whatever the team's own are."""
REFERENCES = {("machines", "accelerator"): "accelerators"}
"""Columns that hold the id of a row of another table."""
LONGEST_TEXT = 200
PLAUSIBLE = {
    **dict.fromkeys(("bf16_flops_per_s", "fp8_flops_per_s", "fp4_flops_per_s"), (1e9, 1e18)),
    "memory_bytes": (1e8, 1e14),
    "memory_bandwidth_bytes_per_s": (1e8, 1e15),
    **dict.fromkeys(("link_bandwidth_bytes_per_s", "nic_bytes_per_s", "bytes_per_s"), (1e6, 1e15)),
    **dict.fromkeys(("tdp_w", "power_cap_w"), (1, 1e5)),
    "idle_w": (0, 1e5),
    **dict.fromkeys(("host_w", "fans_w"), (0, 1e7)),
    **dict.fromkeys(("nameplate_w", "provisioned_w"), (1, 1e7)),
    "accelerators": (1, 10_000),
    "machines_per_rack": (1, 1000),
    "prefill_slowdown": (1, 100),
    **dict.fromkeys(("power_by_mbu", "power_by_mfu"), (0, 10)),
    "parameters": (1e5, 1e15),
    "usd_per_port": (0, 1e6),
}
"""Ranges beyond which a figure is a slip of its unit, such as 80 for 80 GB: narrower than what simcore takes."""
EXAMPLES = {
    "FLOP/s": "989e12 or 989 TFLOP/s",
    "bytes": "85899345920 or 80 GiB",
    "bytes/s": "50e9, 50 GB/s or 400 Gb/s",
    "W": "10200 or 10.2 kW",
    "s": "5e-6 or 5 µs",
    "parameters": "70e9 or 70 billion",
}


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    field: str
    kind: str
    """``number``, ``count`` (a whole number), ``flag`` (true or false), ``choice`` or ``text``."""
    unit: str
    required: bool
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: float | None = None
    default: str = ""
    """What stands where nothing is given; empty where that is nothing."""
    of: str = ""
    """The table that its value is an id of."""

    @property
    def words(self) -> str:
        return words_of(self.field)

    @property
    def expected(self) -> str:
        """``a number of W above 0``: what a message and the form's note say."""
        if self.kind == "flag":
            return "true or false"
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}"
        if self.of:
            return f"an id of the catalogue's {self.of}"
        if self.kind == "text":
            return f"text of at most {LONGEST_TEXT} characters"
        if self.field in SHARES:
            return f"a share{self._range}"
        number = "a whole number" if self.kind == "count" else "a number"
        return f"{number}{f' of {self.unit}' if self.unit else ''}{self._range}"

    @property
    def example(self) -> str:
        """How its value may be typed."""
        return EXAMPLES.get(self.unit, "")

    @property
    def _range(self) -> str:
        low = f" from {_short(self.least)}" if self.least is not None else ""
        low = f" above {_short(self.above)}" if self.above is not None else low
        between = ", at most" if self.above is not None else " to"
        return f"{low}{between} {_short(self.most)}" if self.most is not None else low

    def problem(self, text: str) -> str:
        """What is wrong with a value as text; empty where nothing is."""
        if self.kind in ("number", "count"):
            return "" if self._holds(text) else self._found(text)
        if self.kind == "flag":
            return "" if text in ("true", "false") else self._found(text)
        if self.kind == "choice":
            return "" if text in self.choices else self._found(text)
        return "" if 0 < len(text) <= LONGEST_TEXT and text.isprintable() else self._found(text)

    def _holds(self, text: str) -> bool:
        number = plain_number(text)
        if number is None or (self.kind == "count" and not number.is_integer()):
            return False
        limits = ((self.least, number.__ge__), (self.most, number.__le__), (self.above, number.__gt__))
        return all(limit is None or holds(limit) for limit, holds in limits)

    def _found(self, text: str) -> str:
        shown = f"‘{text[:60]}…’" if len(text) > 60 else f"‘{text}’" if text else "nothing"
        return f"found {shown}, expected {self.expected}{self._hint(text)}"

    def _hint(self, text: str) -> str:
        """Of a number as some languages and spreadsheets write it."""
        bare = re.sub("[,'’\\s]", "", text)
        is_number = self.kind in ("number", "count") and bare != text and plain_number(bare) is not None
        return ", with a decimal point and nothing between thousands" if is_number else ""


def _short(limit: float) -> str:
    """``1e9`` and ``100,000``."""
    return f"{limit:,.10g}" if abs(limit) <= 1e5 else f"{limit:g}".replace("e+0", "e").replace("e+", "e")


def plain_number(text: str) -> float | None:
    """``312e12`` or ``81559``, as a finite number; None for anything else, ``1_000``, ``inf`` and ``1,5`` too."""
    if not text.isascii() or set(text) - set("0123456789.eE+-"):
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def date_problem(text: str) -> str:
    """What is wrong with a figure's date; empty where nothing is."""
    try:
        date.fromisoformat(text if len(text) == 10 else f"{text}-01" if len(text) == 7 else "")
    except ValueError:
        return f"found ‘{text[:20]}’, expected a date such as 2026-11 or 2026-11-30"
    return ""


@cache
def columns(table: str) -> dict[str, Column]:
    """A table's columns by field, in order; all but the id."""
    cls = CLASSES[table]
    units = UNITS_NOT_SHIPPED | {figure.field: figure.unit for figure in catalogue.figures(table)}
    hints = typing.get_type_hints(cls)
    fields = [field for field in dataclasses.fields(cls) if field.name != "id"]
    return {field.name: _column(table, field, hints[field.name], units[field.name]) for field in fields}


def _column(table: str, field: "dataclasses.Field[Any]", hint: Any, unit: str) -> Column:
    options = [option for option in typing.get_args(hint) or (hint,) if option is not type(None)]
    literal = hint if typing.get_origin(hint) is typing.Literal else options[0]
    listed = CHOICES.get((table, field.name), tuple)()
    choices = typing.get_args(literal) if typing.get_origin(literal) is typing.Literal else listed
    kinds = {bool: "flag", int: "count", float: "number", Decimal: "number"}
    kind = "choice" if choices else next((kinds[option] for option in options if option in kinds), "text")
    default = "" if field.default in (dataclasses.MISSING, None) else str(field.default)
    return Column(
        field.name,
        kind,
        unit,
        required=field.default is dataclasses.MISSING,
        choices=tuple(choices),
        default=default.lower() if kind == "flag" else default,
        of=REFERENCES.get((table, field.name), ""),
        **_limits(field),
    )


def _limits(field: "dataclasses.Field[Any]") -> dict[str, float | None]:
    if field.name in PLAUSIBLE:
        least, most = PLAUSIBLE[field.name]
        return {"least": least, "most": most}
    return {name: field.metadata.get(name) for name in ("least", "most", "above")}
