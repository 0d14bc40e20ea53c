"""The fields of the assumptions' form: where each stands in ``Assumptions``, in which unit people give it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from planner.finance.quotes import Offered, token
from simcore.economics.assumptions import PRICE_OF, Assumptions
from simcore.spec import SpecError, decode, encode

Json = dict[str, Any]
PERCENT = Decimal(100)


@dataclass(frozen=True)
class FieldSpec:
    """One input."""

    path: str
    """``terms.base_share``."""
    label: str
    unit: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    percent: bool = False
    """Given in per cent, kept as a share."""
    help: str = ""

    @property
    def is_text(self) -> bool:
        """Words, a month or a choice: never taken for a number."""
        return bool(self.choices) or self.path.endswith(("source", "start"))


@dataclass(frozen=True)
class Group:
    title: str
    fields: tuple[FieldSpec, ...]


TERMS = (
    ("on_demand", "by the hour"),
    ("reserved_1y", "reserved for 1 year"),
    ("reserved_3y", "reserved for 3 years"),
    ("owned", "bought"),
)
ALLOCATIONS = (
    ("accelerator_time", "accelerator time of prefill and decode"),
    ("tokens", "tokens, all alike"),
    ("price_ratio", "price ratio: output 4, cached 0.1 of an input"),
)
MACHINE: tuple[FieldSpec, ...] = (
    FieldSpec("on_demand_usd_per_hour", "By the hour", "$/h", help="Empty: the study’s price book."),
    FieldSpec("reserved_1y_usd_per_hour", "Reserved 1 year", "$/h", help="All payments ÷ 8,760 h."),
    FieldSpec("reserved_3y_usd_per_hour", "Reserved 3 years", "$/h", help="All payments ÷ 26,280 h."),
    FieldSpec("capex_usd", "Bought", "$ a machine"),
    FieldSpec("support_usd_per_year", "Support", "$ a year", help="Of a bought one."),
    FieldSpec("ports", "Fabric ports", "", help="Of a bought one."),
)
GROUPS: tuple[Group, ...] = (
    Group(
        "Terms",
        (
            FieldSpec("terms.base", "Machines are", choices=TERMS),
            FieldSpec("terms.base_share", "Of each pool", "%", percent=True,
                      help="Whole machines, rounded down; the rest is by the hour."),
            FieldSpec("terms.upfront_share", "Reserved: paid upfront", "%", percent=True),
            FieldSpec("terms.on_demand_share_of_hours", "By the hour: rented in", "% of the hours", percent=True),
        ),
    ),
    Group(
        "Bought machines",
        (
            FieldSpec("ownership.life_months", "Life", "months"),
            FieldSpec("ownership.residual_share", "Residual", "% of the price", percent=True),
            FieldSpec("ownership.lead_months", "Order to delivery", "months"),
            FieldSpec("ownership.install_months", "Delivery to service", "months"),
            FieldSpec("ownership.fabric_usd_per_port", "Fabric", "$ a port"),
            FieldSpec("annual_discount_rate", "Discount rate", "% a year", percent=True),
        ),
    ),
    Group(
        "Site",
        (
            FieldSpec("facility.pays_for", "Power and colocation are paid for",
                      choices=(("owned", "bought machines"), ("all", "all machines"))),
            FieldSpec("facility.usd_per_kwh", "Tariff", "$/kWh"),
            FieldSpec("facility.pue", "PUE"),
            FieldSpec("facility.colocation_usd_per_kw_month", "Colocation", "$ a kW and month"),
            FieldSpec("facility.kg_co2e_per_kwh", "Carbon", "kg CO₂e/kWh"),
            FieldSpec("facility.carbon_source", "Carbon factor from"),
        ),
    ),
    Group(
        "Beside",
        (
            FieldSpec("overheads.licence_usd_per_accelerator_year", "Licence", "$ an accelerator and year"),
            FieldSpec("overheads.staff_usd_per_month", "Staff", "$ a month"),
        ),
    ),
    Group(
        "Months",
        (
            FieldSpec("demand.start", "First month", help="As 2027-01."),
            FieldSpec("demand.months", "Months"),
            FieldSpec("demand.growth_per_month", "Traffic grows by", "% a month", percent=True),
            FieldSpec("demand.duty_cycle", "Mean rate", "% of the rate sized for", percent=True),
        ),
    ),
    Group(
        "A million tokens",
        (
            FieldSpec("allocation", "Shared by", choices=ALLOCATIONS),
            FieldSpec("api.input_usd", "API: input", "$/1M tokens"),
            FieldSpec("api.cached_input_usd", "API: cached input", "$/1M tokens"),
            FieldSpec("api.output_usd", "API: output", "$/1M tokens"),
            FieldSpec("api.source", "API’s price from"),
        ),
    ),
)  # fmt: skip
FIELDS = tuple(field for group in GROUPS for field in group.fields)
ENTERED_API = ("input_usd", "output_usd", "cached_input_usd")


QUOTE_LABELS = {
    "on_demand": "By the hour: quote",
    "reserved_1y": "1 year: quote",
    "reserved_3y": "3 years: quote",
    "owned": "Bought: quote",
}


def quote_field(place: int, term: str) -> str:
    """The name of the field that chooses a term's quote: ``machines.0.quote.owned``."""
    return f"machines.{place}.quote.{term}"


def machine_field(place: int, field: FieldSpec) -> str:
    """Its name in the form: ``machines.0.capex_usd``."""
    return f"machines.{place}.{field.path}"


def texts_of(assumptions: Assumptions) -> dict[str, str]:
    """Every field's text, as the form shows it."""
    values = encode(assumptions)
    texts = {field.path: _text(_at(values, field.path), percent=field.percent) for field in FIELDS}
    for place, machine in enumerate(values["machines"]):
        texts |= {machine_field(place, field): _text(machine[field.path]) for field in MACHINE}
    for place, cost in enumerate(assumptions.machines):
        texts |= {quote_field(place, chosen.offer.term): token(chosen) for chosen in cost.quotes}
    return texts


def read(texts: Mapping[str, str], machines: Sequence[str], offered: Offered) -> Json:
    """What was entered as ``Assumptions`` reads it; what is empty is left out. FieldError names the field."""
    values: Json = {"machines": [_machine(texts, place, machine, offered) for place, machine in enumerate(machines)]}
    for field in FIELDS:
        text = texts.get(field.path, "").strip()
        if text:
            _put(values, field.path, _value(field, field.path, text))
    if "api" in values and not any(name in values["api"] for name in ENTERED_API):
        del values["api"]
    try:
        decode(Assumptions, values)
    except SpecError as error:
        raise FieldError(*_named(str(error))) from None
    return values


class FieldError(ValueError):
    """One field's: its name in the form, and what is wrong with it."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__(words)
        self.name, self.words = name, words


def _machine(texts: Mapping[str, str], place: int, machine: str, offered: Offered) -> Json:
    found: Json = {"machine": machine}
    for field in MACHINE:
        name = machine_field(place, field)
        text = texts.get(name, "").strip()
        if text:
            found[field.path] = _value(field, name, text)
    if chosen := list(_quotes(texts, place, machine, offered)):
        found["quotes"] = chosen
    return found


def _quotes(texts: Mapping[str, str], place: int, machine: str, offered: Offered) -> Iterator[Json]:
    """As they are now: they are kept so."""
    for term in PRICE_OF:
        name = quote_field(place, term)
        key = texts.get(name, "").strip()
        if not key:
            continue
        found = offered.get(key)
        if found is None or (found.offer.machine, found.offer.term) != (machine, term):
            raise FieldError(name, "found a quote that is in no price book any more, expected one of those offered")
        yield encode(found)


def _value(field: FieldSpec, name: str, text: str) -> Any:
    if field.is_text:
        return text
    try:
        number = Decimal(text.replace(",", "") if _grouped(text) else text)
    except InvalidOperation:
        raise FieldError(name, f"found {text!r}, expected a number such as 1234.5") from None
    if not number.is_finite():
        raise FieldError(name, f"found {text!r}, expected a number such as 1234.5")
    number = number / PERCENT if field.percent else number
    whole = field.path.endswith(("months", "ports"))
    return int(number) if whole and number == int(number) else float(number) if whole else str(number)


def _grouped(text: str) -> bool:
    """Thousands by commas: 1,234,567.8."""
    head, *rest = text.partition(".")[0].split(",")
    return bool(rest) and 1 <= len(head.lstrip("-")) <= 3 and all(len(part) == 3 for part in rest)


def _named(error: str) -> tuple[str, str]:
    """``machines[0].capex_usd: found …`` → the form's name of it, and the rest."""
    path, _, words = error.partition(": ")
    name = path.replace("[", ".").replace("]", "")
    return name, words


def _put(values: Json, path: str, value: Any) -> None:
    part, _, name = path.rpartition(".")
    (values.setdefault(part, {}) if part else values)[name] = value


def _at(values: Json, path: str) -> Any:
    for name in path.split("."):
        values = (values or {}).get(name)  # type: ignore[assignment]
    return values


def _text(value: Any, *, percent: bool = False) -> str:
    if value is None:
        return ""
    if not percent:
        return str(value)
    return f"{(Decimal(value) * PERCENT).normalize() + 0:f}"
