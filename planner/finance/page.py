"""The finance page of a study: its lines by month, the bridge from the result's "$/month", unit costs, break-even."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from planner.finance.costs import Costs
from planner.finance.fields import ALLOCATIONS, GROUPS, MACHINE, FieldSpec, machine_field, texts_of
from planner.finance.figures import by_month, stacked
from planner.finance.words import CATEGORY_NAMES, KIND_NAMES, LOAD_NAMES, VIEW_NAMES
from planner.numerals import cents
from planner.studies.stored import spec_of
from simcore.catalogue import resolve_machine
from simcore.economics.assumptions import Term
from simcore.economics.break_even import (
    AgainstApi,
    BreakEvenMonth,
    BreakEvenUse,
    against_api,
    break_even_month,
    break_even_use,
)
from simcore.economics.carbon import Energy, energy
from simcore.economics.cash_flow import CashFlow, Reconciled, cash_flow, reconciled
from simcore.economics.cost_sheet import BridgeStep, bridge
from simcore.economics.lines import CostLine, View, total
from simcore.economics.unit_cost import UnitCost, unit_costs
from simcore.spec import SpecError

Json = dict[str, Any]
HELD: tuple[tuple[Term, str], ...] = (
    ("reserved_1y", "reserved for 1 year"),
    ("reserved_3y", "reserved for 3 years"),
    ("owned", "bought"),
)


@dataclass(frozen=True)
class Input:
    """One field of the form with what stands in it."""

    name: str
    field: FieldSpec
    value: str
    error: str = ""


@dataclass(frozen=True)
class Told:
    """A figure with the words it is told in."""

    title: str
    words: str


@dataclass(frozen=True)
class FinancePage:
    """Of one design under one set of assumptions, in one view."""

    costs: Costs
    view: View
    period: str
    """The month whose lines are shown; empty: the first."""
    entered: Mapping[str, str]
    """What a visitor tried to save, where it was refused."""
    error: tuple[str, str] = ("", "")
    is_guest_view: bool = False
    """Seen by a link: nothing leads to the team's catalogue."""

    @property
    def address(self) -> dict[str, str]:
        """What the address says of it, by name."""
        said = {"design": self.costs.design_id, "set": self.costs.set_name, "view": self.view, "month": self.period}
        return {name: text for name, text in said.items() if text}

    @property
    def query(self) -> str:
        return urlencode(self.address)

    def anchor(self, path: str) -> str:
        """The id of an assumption's field, of a group's first where a whole group is meant."""
        fields = [field.path for group in GROUPS for field in group.fields]
        exact = path if path in fields else next((name for name in fields if name.startswith(f"{path}.")), "")
        return f"field-{exact}" if exact else "assumed-title"

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
        return bridge(self.costs.physics, self.costs.of_the_study, self.costs.sheet, self.view, self.place)

    @cached_property
    def unit_costs(self) -> list[UnitCost]:
        month = self.costs.sheet.month(self.place)
        allocation = self.costs.assumptions.allocation
        return unit_costs(month.physics, self.month_lines, month.hours, month.mean_req_per_s, allocation)

    @property
    def kinds(self) -> list[str]:
        return list(KIND_NAMES.values())

    @property
    def loads(self) -> list[tuple[str, UnitCost]]:
        return [(LOAD_NAMES[one.load], one) for one in self.unit_costs]

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
        """Of each term that has prices, against machines by the hour."""
        found = []
        for term, words in HELD:
            try:
                use, month = self._break_even(term)
            except SpecError:  # no price for this term, or none by the hour
                continue
            found.append(Told(f"Machines {words}", _break_even_words(use, month, self.costs.assumptions.demand.months)))
        return found

    @property
    def against_api(self) -> AgainstApi | None:
        price = self.costs.assumptions.api
        month = self.costs.sheet.month(self.place)
        if price is None:
            return None
        return against_api(month.physics, self.month_lines, month.hours, month.mean_req_per_s, price)

    @property
    def not_given(self) -> tuple[str, ...]:
        labels = {field.path: field.label for group in GROUPS for field in group.fields}
        return tuple(labels[path] for path in self.costs.assumptions.not_given())

    @property
    def figure(self) -> Json:
        return by_month(self.lines)

    @property
    def table(self) -> list[tuple[str, list[str], str]]:
        """A row a month: category amounts as the chart stacks them, and their sum."""
        stacks = stacked(self.lines)
        return [
            (
                period,
                [cents(amounts.get(period, Decimal(0))) for amounts in stacks.values()],
                cents(total(line for line in self.lines if line.period == period)),
            )
            for period in self.periods
        ]

    @property
    def table_heads(self) -> list[str]:
        return list(stacked(self.lines))

    @property
    def month_rows(self) -> list[tuple[str, CostLine]]:
        return [(CATEGORY_NAMES[line.category], line) for line in self.month_lines]

    @property
    def groups(self) -> list[tuple[str, list[Input]]]:
        """The form: terms and site, then each machine's prices."""
        return [(group.title, [self._input(field.path, field) for field in group.fields]) for group in GROUPS]

    @property
    def machine_groups(self) -> list[tuple[str, list[Input]]]:
        machines = self.costs.assumptions.machines
        return [
            (self._name(one.machine), [self._input(machine_field(place, field), field) for field in MACHINE])
            for place, one in enumerate(machines)
        ]

    def _name(self, machine: str) -> str:
        spec = spec_of(self.costs.study)
        names = {found.id: found.name for found in (resolve_machine(one.machine) for one in spec.machines)}
        return names.get(machine, machine)

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {**texts_of(self.costs.assumptions), **self.entered}

    def _input(self, name: str, field: FieldSpec) -> Input:
        return Input(name, field, self._texts.get(name, ""), self.error[1] if self.error[0] == name else "")

    def _break_even(self, term: Term) -> tuple[BreakEvenUse, BreakEvenMonth]:
        of = (self.costs.steps, self.costs.physics.rate_req_per_s, self.costs.assumptions, term)
        return break_even_use(*of), break_even_month(*of)


def _break_even_words(use: BreakEvenUse, month: BreakEvenMonth, months: int) -> str:
    said = f"{cents(use.held_usd)} in the first month (economic view), against {cents(use.on_demand_usd)} by the hour"
    share = use.share_of_hours
    if share is not None and share <= 1:
        said += f": cheaper where they are needed more than {share * 100:.1f} % of the hours"
    elif share is not None:
        said += ": dearer even where they are needed in every hour"
    paid = f"By the end {cents(month.held_usd)} is paid, against {cents(month.on_demand_usd)}"
    when = f"from {month.month} on no more than by the hour" if month.month else f"never less within {months} months"
    return f"{said}. {paid}; {when}."
