"""Lines of what a month costs by use: machines on demand, support, electricity, colocation, licences, staff."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from simcore.economics.annuity import MONTHS_A_YEAR
from simcore.economics.assumptions import Assumptions
from simcore.economics.lines import FACILITY, SHARED, Category, CostLine, View, product
from simcore.economics.physics import Physics, PoolPhysics
from simcore.economics.rounding import millionths, nine_digits


@dataclass(frozen=True)
class PricedMonth:
    """What a month's lines need to know of it."""

    period: str
    hours: int
    physics: Physics
    mean_req_per_s: Decimal
    on_demand: dict[tuple[str, str], int]
    """Machines by role and machine id."""
    owned: dict[tuple[str, str], int]
    held: dict[tuple[str, str], int]
    """Owned and reserved."""


def running_lines(month: PricedMonth, view: View, assumptions: Assumptions) -> Iterator[CostLine]:
    """In the order of the categories."""
    sheet = _Sheet(month, view, assumptions)
    yield from sheet.on_demand()
    yield from sheet.support()
    yield from sheet.electricity()
    yield from sheet.colocation()
    yield from sheet.licences()
    yield from sheet.staff()


def site_share(month: PricedMonth, assumptions: Assumptions) -> Decimal:
    """Of the machines' provisioned watts, those that the site is paid for: the owned ones, or all."""
    all_kw = _kw(month, {**month.on_demand}) + _kw(month, month.held)
    if not all_kw:
        return Decimal(0)
    return Decimal(1) if assumptions.facility.pays_for == "all" else _kw(month, month.owned) / all_kw


def site_kwh(month: PricedMonth, assumptions: Assumptions) -> Decimal:
    """kWh of the machines that the site is paid for: watts at the mean rate × hours × their share, nine digits."""
    return nine_digits(month.physics.drawn_kw(month.mean_req_per_s) * month.hours * site_share(month, assumptions))


def _kw(month: PricedMonth, machines: dict[tuple[str, str], int]) -> Decimal:
    """Provisioned."""
    each = {(pool.role, pool.machine): pool.provisioned_w / pool.machines for pool in month.physics.pools}
    return sum((each.get(pool, Decimal(0)) * count for pool, count in machines.items()), Decimal(0)) / 1000


@dataclass(frozen=True)
class _Sheet:
    month: PricedMonth
    view: View
    assumptions: Assumptions

    def on_demand(self) -> Iterator[CostLine]:
        """machines × hours × share of hours × price an hour."""
        share = self.assumptions.terms.on_demand_share_of_hours
        for (role, machine), count in self.month.on_demand.items():
            if not count:
                continue
            cost = self.assumptions.machine(machine)
            price, hours = cost.usd_per_hour("on_demand"), nine_digits(self.month.hours * share * count)
            part = "" if share == 1 else f" × {share:f} of the hours"
            formula = f"{count} machines × {self.month.hours} h{part} × ${price:,f}/h{cost.how('on_demand')}"
            rows: tuple[str, ...] = (cost.row_of("on_demand"),)
            if part:
                rows = (*rows, "assumptions.terms.on_demand_share_of_hours")
            yield self._line(role, machine, "on_demand", hours, "machine-hours", price, formula, rows)

    def support(self) -> Iterator[CostLine]:
        """owned machines × price a year ÷ 12."""
        for (role, machine), count in self.month.owned.items():
            cost = self.assumptions.machine(machine)
            price = millionths(cost.support_usd_per_year / MONTHS_A_YEAR)
            if count and price:
                formula = f"{count} machines × ${cost.support_usd_per_year:,f} a year ÷ 12"
                rows = (cost.row_of("owned", "support_usd_per_year"),)
                yield self._line(role, machine, "support", Decimal(count), "machine-months", price, formula, rows)

    def electricity(self) -> Iterator[CostLine]:
        """kWh × tariff, and what cooling and losses add: kWh × (PUE - 1) × tariff."""
        site, kwh = self.assumptions.facility, site_kwh(self.month, self.assumptions)
        if not kwh or not site.usd_per_kwh:
            return
        rows = ("assumptions.facility.usd_per_kwh", "assumptions.demand.duty_cycle")
        drawn = nine_digits(self.month.physics.drawn_kw(self.month.mean_req_per_s))
        share = site_share(self.month, self.assumptions)
        owned = "" if share == 1 else f" × {nine_digits(share):f} of the machines"
        what = f"{drawn:,f} kW at {self.month.mean_req_per_s:f} req/s × {self.month.hours} h{owned}"
        price = site.usd_per_kwh
        yield self._line(FACILITY, "", "power", kwh, "kWh", price, f"{what} × ${price:,f}/kWh", rows)
        beyond = nine_digits(kwh * (site.pue - 1))
        if beyond:
            formula = f"{kwh:,f} kWh × (PUE {site.pue:f} - 1) × ${price:,f}/kWh"
            of_pue = (*rows, "assumptions.facility.pue")
            yield self._line(FACILITY, "", "cooling", beyond, "kWh", price, formula, of_pue)

    def colocation(self) -> Iterator[CostLine]:
        """provisioned kW of the machines there × price of a kW committed."""
        price = self.assumptions.facility.colocation_usd_per_kw_month
        machines = dict(self.month.owned)
        if self.assumptions.facility.pays_for == "all":
            machines = {pool: self.month.held.get(pool, 0) + n for pool, n in self.month.on_demand.items()}
        committed = nine_digits(_kw(self.month, machines))
        if committed and price:
            formula = f"{committed:,f} kW provisioned × ${price:,f} a kW and month"
            rows = ("assumptions.facility.colocation_usd_per_kw_month",)
            yield self._line(FACILITY, "", "colocation", committed, "kW-months", price, formula, rows)

    def licences(self) -> Iterator[CostLine]:
        """accelerators × price a year ÷ 12, of all machines in service."""
        yearly = self.assumptions.overheads.licence_usd_per_accelerator_year
        if not yearly:
            return
        for pool in self.month.physics.pools:
            count = self._in_service(pool) * pool.accelerators // pool.machines
            formula = f"{count} accelerators × ${yearly:,f} a year ÷ 12"
            rows = ("assumptions.overheads.licence_usd_per_accelerator_year",)
            price = millionths(yearly / MONTHS_A_YEAR)
            machine = pool.machine
            yield self._line(pool.role, machine, "licence", Decimal(count), "accelerator-months", price, formula, rows)

    def staff(self) -> Iterator[CostLine]:
        price = self.assumptions.overheads.staff_usd_per_month
        if price:
            rows = ("assumptions.overheads.staff_usd_per_month",)
            yield self._line(SHARED, "", "staff", Decimal(1), "months", price, f"${price:,f} a month", rows)

    def _in_service(self, pool: PoolPhysics) -> int:
        key = (pool.role, pool.machine)
        return self.month.held.get(key, 0) + self.month.on_demand.get(key, 0)

    def _line(
        self, pool: str, machine: str, category: Category, quantity: Decimal, unit: str, price: Decimal,
        formula: str, rows: tuple[str, ...],
    ) -> CostLine:  # fmt: skip
        return CostLine(
            self.view, self.month.period, pool, machine, category, quantity, unit, price, product(quantity, price),
            formula, rows,
        )  # fmt: skip
