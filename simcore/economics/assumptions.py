"""What money rests on beside physics and prices: how machines are paid, the site, what grows, what is compared with.

Every figure is the planner's or the analyst's; what nobody gave is zero or None, counts nothing and is said so
(``Assumptions.not_given``). JSON in and out by ``spec.decode``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from simcore.economics.months import Month, month
from simcore.economics.taken import Chosen, Taken
from simcore.spec import SpecError
from simcore.spec.decode import bounded

Term = Literal["on_demand", "reserved_1y", "reserved_3y", "owned"]
Allocation = Literal["accelerator_time", "tokens", "price_ratio"]
SharingRule = Literal["by_use", "evenly", "apart"]
"""Of idle and headroom: as each cost centre's served cost, in equal parts, or as a line of their own."""
YEARS: dict[Term, int] = {"reserved_1y": 1, "reserved_3y": 3}
PRICE_OF: dict[Term, str] = {
    "on_demand": "on_demand_usd_per_hour",
    "reserved_1y": "reserved_1y_usd_per_hour",
    "reserved_3y": "reserved_3y_usd_per_hour",
    "owned": "capex_usd",
}
"""Where ``MachineCost`` has a term's price."""


@dataclass(frozen=True)
class MachineCost:
    """What one machine costs under each term; None: no price known."""

    machine: str
    on_demand_usd_per_hour: Decimal | None = bounded(None, least=0)
    reserved_1y_usd_per_hour: Decimal | None = bounded(None, least=0)
    """All that is paid over the term by its hours (8,760 a year), upfront part included; as the next."""
    reserved_3y_usd_per_hour: Decimal | None = bounded(None, least=0)
    capex_usd: Decimal | None = bounded(None, least=0)
    support_usd_per_year: Decimal = bounded(Decimal(0), least=0)
    """Of an owned one."""
    ports: int = bounded(0, least=0)
    """On the fabric, of an owned one."""
    row: str = ""
    """Which price by the hour it is from (``list/dgx-h100``): what a figure links to; empty: it was entered."""
    quotes: tuple[Chosen, ...] = ()
    """Chosen instead of the prices above, at most one a term."""
    taken: tuple[Taken, ...] = ()
    """What the quotes come to for the machines of a plan: ``offers.quoted`` fills it in, with the prices above."""

    def quote(self, term: Term) -> Chosen | None:
        """The one chosen for a term."""
        return next((one for one in self.quotes if one.offer.term == term), None)

    def took(self, term: Term) -> Taken | None:
        """What it comes to, once the plan is known."""
        return next((one for one in self.taken if one.offer.term == term), None)

    def row_of(self, term: Term, figure: str = "") -> str:
        """Where a term's price stands, or another ``figure`` of what is bought: in a quote, a book, or as entered."""
        took = self.took(term)
        if took and (not figure or (figure == "support_usd_per_year" and took.support_usd)):
            return took.chosen.row
        if term == "on_demand" and self.row and not figure:
            return self.row
        return f"assumptions.machines.{self.machine}.{figure or PRICE_OF[term]}"

    def how(self, term: Term) -> str:
        """Of a quoted price, what it is from, for formulas: `` (290,000 EUR less 10 % × 1.08)``; empty: as it is."""
        took = self.took(term)
        return took.words if took else ""

    def usd_per_hour(self, term: Term) -> Decimal:
        """Of a rented one; SpecError where the term has no price."""
        return self._price(PRICE_OF[term])

    def capex(self) -> Decimal:
        return self._price(PRICE_OF["owned"])

    def _price(self, name: str) -> Decimal:
        price: Decimal | None = getattr(self, name)
        if price is None:
            raise SpecError(f"machines: '{self.machine}' has no {name}, expected a price above or equal to zero")
        return price


@dataclass(frozen=True)
class Terms:
    """How machines are paid: a base under one term, what is needed beyond it on demand."""

    base: Term = "on_demand"
    base_share: Decimal = bounded(Decimal(1), least=0, most=1)
    """Of each pool's machines, rounded down to whole ones; they stay once bought or reserved."""
    upfront_share: Decimal = bounded(Decimal(0), least=0, most=1)
    """Of a reservation's price, paid at its start; the rest in equal parts a month."""
    on_demand_share_of_hours: Decimal = bounded(Decimal(1), least=0, most=1)
    """In which machines on demand are rented; 1: always."""


@dataclass(frozen=True)
class Ownership:
    """Of machines and fabric that are bought."""

    life_months: int = bounded(48, least=1, most=240)
    """From service on; then replaced where still needed."""
    residual_share: Decimal = bounded(Decimal(0), least=0, most=1)
    """Of a machine's capex, got for it at the end of its life; fabric has none."""
    lead_months: int = bounded(0, least=0, most=36)
    """From order to delivery, when it is paid."""
    install_months: int = bounded(0, least=0, most=24)
    """From delivery to service."""
    fabric_usd_per_port: Decimal = bounded(Decimal(0), least=0)


@dataclass(frozen=True)
class Facility:
    """The site, for the machines that it is paid for."""

    pays_for: Literal["owned", "all"] = "owned"
    """``all``: rented ones too, where the price list says that electricity comes beside it."""
    pue: Decimal = bounded(Decimal(1), least=1, most=5)
    usd_per_kwh: Decimal = bounded(Decimal(0), least=0)
    colocation_usd_per_kw_month: Decimal = bounded(Decimal(0), least=0)
    """Per kW committed: the provisioned watts of the machines there."""
    kg_co2e_per_kwh: Decimal | None = bounded(None, least=0)
    carbon_source: str = ""


@dataclass(frozen=True)
class Overheads:
    """Beside machines and site."""

    licence_usd_per_accelerator_year: Decimal = bounded(Decimal(0), least=0)
    staff_usd_per_month: Decimal = bounded(Decimal(0), least=0)


@dataclass(frozen=True)
class Demand:
    """The months looked at and the traffic in them."""

    start: str = "2027-01"
    months: int = bounded(36, least=1, most=120)
    growth_per_month: Decimal = bounded(Decimal(0), above=-1, most=10)
    """Of the rate that is sized for, compounding."""
    duty_cycle: Decimal = bounded(Decimal(1), above=0, most=1)
    """A month's mean rate over the rate that is sized for."""

    def __post_init__(self) -> None:
        month(self.start, "start")

    @property
    def first(self) -> Month:
        return month(self.start)


@dataclass(frozen=True)
class TokenPrice:
    """An API's price of a million tokens, USD."""

    input_usd: Decimal = bounded(least=0)
    output_usd: Decimal = bounded(least=0)
    cached_input_usd: Decimal = bounded(Decimal(0), least=0)
    source: str = ""


@dataclass(frozen=True)
class ClassCentre:
    """The cost centre of a class of requests, where the workload's class says none or another."""

    name: str
    """The class's."""
    cost_centre: str


@dataclass(frozen=True)
class Sharing:
    """How a month's cost goes to cost centres (``cost_centres.by_centre``)."""

    idle: SharingRule = "by_use"
    headroom: SharingRule = "by_use"
    classes: tuple[ClassCentre, ...] = ()


@dataclass(frozen=True)
class Assumptions:
    """All of it, by which the same physics gives the same money."""

    machines: tuple[MachineCost, ...]
    terms: Terms = field(default_factory=Terms)
    ownership: Ownership = field(default_factory=Ownership)
    facility: Facility = field(default_factory=Facility)
    overheads: Overheads = field(default_factory=Overheads)
    demand: Demand = field(default_factory=Demand)
    annual_discount_rate: Decimal = bounded(Decimal(0), least=0, most=1)
    allocation: Allocation = "accelerator_time"
    api: TokenPrice | None = None
    sharing: Sharing = field(default_factory=Sharing)

    def machine(self, machine_id: str) -> MachineCost:
        """SpecError where none is known of it."""
        for one in self.machines:
            if one.machine == machine_id:
                return one
        known = ", ".join(one.machine for one in self.machines)
        raise SpecError(f"machines: found no cost of '{machine_id}', expected one of {known}")

    def not_given(self) -> tuple[str, ...]:
        """What counts nothing as nobody said what it costs: ``facility.usd_per_kwh``, in the order of the fields."""
        names = (
            "facility.usd_per_kwh",
            "facility.colocation_usd_per_kw_month",
            "facility.kg_co2e_per_kwh",
            "ownership.fabric_usd_per_port",
            "overheads.licence_usd_per_accelerator_year",
            "overheads.staff_usd_per_month",
        )
        return tuple(name for name in names if not self._of(name))

    def _of(self, name: str) -> Decimal | None:
        part, _, key = name.partition(".")
        figure: Decimal | None = getattr(getattr(self, part), key)
        return figure
