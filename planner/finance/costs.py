"""A study's costs: the design's figures as money takes them, the assumptions, and every line that follows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from planner.analyses.page import Section, section
from planner.finance.assumed import assumptions_of, hash_of
from planner.finance.models import AssumptionSet
from planner.studies.models import Study
from planner.studies.stored import prices_of, spec_of
from simcore.economics.assumptions import Assumptions, Facility, MachineCost
from simcore.economics.cost_sheet import CostSheet, cost_sheet
from simcore.economics.lines import CostLine, View
from simcore.economics.offers import without_discounts
from simcore.economics.physics import Physics
from simcore.economics.rounding import quantised
from simcore.spec import decode

DEFINITION = "1"
"""Of what the lines mean (docs/economics.md); another whenever one of them means another thing."""


@dataclass(frozen=True)
class Costs:
    """Of one design of a study under one set of assumptions."""

    study: Study
    design_id: str
    """Empty: the answer's."""
    chosen: AssumptionSet | None

    @property
    def set_name(self) -> str:
        """As an address says it."""
        return str(self.chosen.pk) if self.chosen else "own"

    @property
    def design_or_none(self) -> str | None:
        return self.design_id or None

    @cached_property
    def assumptions(self) -> Assumptions:
        """SpecError: what is wrong in the set."""
        return assumptions_of(self.study, self.chosen)

    @cached_property
    def assumptions_hash(self) -> str:
        return hash_of(self.assumptions)

    @cached_property
    def section(self) -> Section:
        """Where the design's figures are worked out."""
        demand = self.assumptions.demand
        growth = float(demand.growth_per_month * 100)
        given: dict[str, Any] = {"design": self.design_id} if self.design_id else {}
        if growth:
            given |= {"growth_percent": growth, "months": demand.months}
        return section(self.study, "costing", given)

    @property
    def is_known(self) -> bool:
        return self.section.told is not None

    @cached_property
    def steps(self) -> list[Physics]:
        """The design, and those that follow it as traffic grows."""
        assert self.section.told is not None  # noqa: S101 - is_known says so
        return [decode(Physics, step) for step in self.section.told["steps"]]

    @property
    def physics(self) -> Physics:
        return self.steps[0]

    @cached_property
    def sheet(self) -> CostSheet:
        """SpecError where the terms need a price that is not known."""
        return cost_sheet(self.steps, self.physics.rate_req_per_s, self.assumptions)

    @cached_property
    def list_sheet(self) -> CostSheet:
        """The same at the quotes' prices before discount."""
        return cost_sheet(self.steps, self.physics.rate_req_per_s, without_discounts(self.assumptions))

    def lines(self, view: View) -> list[CostLine]:
        return self.sheet.lines(view)

    @cached_property
    def of_the_study(self) -> Assumptions:
        """What the result page's "$/month" rests on: the study's book by the hour, its tariff and PUE."""
        spec, book = spec_of(self.study), prices_of(self.study)
        machines = {pool.machine for pool in self.physics.pools}
        return Assumptions(
            tuple(
                MachineCost(price.machine, price.usd_per_hour, row=f"{book.id}/{price.machine}")
                for price in book.prices
                if price.machine in machines
            ),
            facility=Facility("all", quantised(spec.pue), book.usd_per_kwh or quantised(0.0)),
        )
