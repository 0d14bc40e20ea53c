"""The finance page of a study: its lines by month, the bridge from the result's "$/month", unit costs, break-even."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from planner.finance import formulas
from planner.finance.costs import Costs
from planner.finance.even import Told, break_evens
from planner.finance.fields import ALLOCATIONS, GROUPS
from planner.finance.form import AssumptionsForm
from planner.finance.formulas import Formula
from planner.finance.months import BY, Crossed, Stack
from planner.finance.quotes import QuoteSaid, said
from planner.finance.words import CATEGORY_NAMES, KIND_NAMES, LOAD_NAMES, VIEW_NAMES
from planner.studies.results import study_result
from simcore.economics.break_even import AgainstApi, against_api
from simcore.economics.carbon import Energy, energy
from simcore.economics.cash_flow import CashFlow, Reconciled, cash_flow, reconciled
from simcore.economics.cost_sheet import BridgeStep, bridge
from simcore.economics.lines import CostLine, View, total
from simcore.economics.unit_cost import TokenCost, UnitCost, unit_costs
from simcore.spec import SpecError

Json = dict[str, Any]


@dataclass(frozen=True)
class Load:
    """A million tokens at one load, each figure with how it is come by."""

    name: str
    cost: UnitCost
    tokens: list[tuple[TokenCost, Formula]]
    idle: Formula
    accelerator: Formula


@dataclass(frozen=True)
class FinancePage:
    """Of one design under one set of assumptions, in one view."""

    costs: Costs
    view: View
    period: str
    """The month whose lines are shown; empty: the first."""
    form: AssumptionsForm
    is_guest_view: bool = False
    """Seen by a link: nothing leads to the team's catalogue."""
    since: str = ""
    """The approval that the figures are compared with; empty: the last."""

    @property
    def address(self) -> dict[str, str]:
        """What the address says of it, by name."""
        said = {"design": self.costs.design_id, "set": self.costs.set_name, "view": self.view, "month": self.period}
        said |= {"since": self.since}
        return {name: text for name, text in said.items() if text}

    @property
    def query(self) -> str:
        return urlencode(self.address)

    @property
    def allocation(self) -> str:
        return dict(ALLOCATIONS)[self.costs.assumptions.allocation]

    @property
    def problem(self) -> str:
        """Why there are no lines; empty where there are."""
        try:
            _ = self.lines
        except SpecError as error:
            return str(error)
        return ""

    @cached_property
    def lines(self) -> list[CostLine]:
        return self.costs.lines(self.view)

    @property
    def views(self) -> list[tuple[str, str, bool]]:
        return [(name, words, name == self.view) for name, words in VIEW_NAMES.items()]

    @property
    def periods(self) -> list[str]:
        return [str(need.month) for need in self.costs.sheet.timeline.needs]

    @property
    def month(self) -> str:
        return self.period if self.period in self.periods else self.periods[0]

    @property
    def place(self) -> int:
        return self.periods.index(self.month)

    @cached_property
    def month_lines(self) -> list[CostLine]:
        return [line for line in self.lines if line.period == self.month]

    @property
    def month_total(self) -> Decimal:
        return total(self.month_lines)

    @property
    def whole(self) -> Decimal:
        return total(self.lines)

    @property
    def uncovered(self) -> str:
        """The first month that no design tried holds."""
        month = self.costs.sheet.timeline.uncovered
        return str(month) if month else ""

    @cached_property
    def bridge(self) -> list[BridgeStep]:
        of = (self.costs.physics, self.costs.of_the_study, self.costs.sheet, self.view, self.place)
        row = study_result(self.costs.study).row(self.costs.physics.design_id)
        return bridge(*of, row.usd_per_hour if row else None)

    @cached_property
    def unit_costs(self) -> list[UnitCost]:
        month = self.costs.sheet.month(self.place)
        allocation = self.costs.assumptions.allocation
        return unit_costs(month.physics, self.month_lines, month.hours, month.mean_req_per_s, allocation)

    @property
    def kinds(self) -> list[str]:
        return list(KIND_NAMES.values())

    @property
    def loads(self) -> list[Load]:
        priced = self.costs.sheet.month(self.place)
        return [
            Load(
                LOAD_NAMES[one.load],
                one,
                [(token, formulas.of_token(token, one, priced.physics, priced.hours)) for token in one.tokens],
                formulas.of_idle(one, priced.physics),
                formulas.of_accelerator(one),
            )
            for one in self.unit_costs
        ]

    @property
    def attainment(self) -> str:
        """At the rate, in per cent; empty where it was not counted."""
        found = self.costs.physics.slo_attainment
        return "" if found is None else f"{found * 100:.4g} %"

    @property
    def how_month(self) -> Formula:
        return formulas.of_sum(self.month_lines)

    @property
    def how_whole(self) -> Formula:
        sums = [(at, total(line for line in self.lines if line.period == at)) for at in self.periods]
        return formulas.of_months(sums)

    @property
    def how_npv(self) -> Formula:
        return formulas.of_npv(self.cash, self.costs.sheet)

    @property
    def how_left(self) -> Formula:
        return formulas.of_left(self.reconciled)

    @property
    def how_energy(self) -> Formula:
        month = self.costs.sheet.month(self.place)
        site = self.costs.assumptions.facility
        return formulas.of_energy(self.energy, month.physics, month.mean_req_per_s, month.hours, site)

    @property
    def how_api(self) -> Formula | None:
        found, price = self.against_api, self.costs.assumptions.api
        used = next((one for one in self.unit_costs if one.load == "duty_cycle"), None)
        return formulas.of_api(found, price, used.tokens) if found and price and used else None

    @cached_property
    def cash(self) -> CashFlow:
        return cash_flow(self.costs.sheet)

    @cached_property
    def reconciled(self) -> Reconciled:
        return reconciled(self.costs.sheet)

    @cached_property
    def energy(self) -> Energy:
        month = self.costs.sheet.month(self.place)
        return energy(month.physics, month.mean_req_per_s, month.hours, self.costs.assumptions.facility)

    @cached_property
    def break_even(self) -> list[Told]:
        return list(break_evens(self.costs))

    @property
    def against_api(self) -> AgainstApi | None:
        price = self.costs.assumptions.api
        month = self.costs.sheet.month(self.place)
        if price is None:
            return None
        return against_api(month.physics, self.month_lines, month.hours, month.mean_req_per_s, price)

    @property
    def not_given(self) -> tuple[str, ...]:
        labels = {spec.path: spec.label for group in GROUPS for spec in group.fields}
        return tuple(labels[path] for path in self.costs.assumptions.not_given())

    @property
    def stacks(self) -> list[Stack]:
        """The months by category, and by pool."""
        return [Stack(of, self.lines, self.periods) for of in BY]

    @property
    def crossed(self) -> Crossed:
        """Each pool's categories."""
        return Crossed(self.lines)

    @property
    def month_rows(self) -> list[tuple[str, CostLine]]:
        return [(CATEGORY_NAMES[line.category], line) for line in self.month_lines]

    @cached_property
    def quotes(self) -> list[QuoteSaid]:
        """That the costs use."""
        return said(self.costs.study, self.costs.sheet.assumptions)
