"""Which machines are there in which month, under which term: traffic grows, machines come in whole steps.

A step is a design of a kind with its capacity (``Physics``); a month is served by the first step that holds its rate.
Of each pool the base share, rounded down, is bought or reserved in tranches, for a life or a term, and taken anew when
that ends if it is still needed; what is needed beyond is on demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from simcore.economics.annuity import MONTHS_A_YEAR
from simcore.economics.assumptions import YEARS, Assumptions, Demand, Term
from simcore.economics.months import Month, months_from
from simcore.economics.physics import Physics
from simcore.economics.rounding import nine_digits

Pool = tuple[str, str]
"""Role and machine id."""


@dataclass(frozen=True)
class Need:
    """A month's traffic, and the design that serves it."""

    month: Month
    rate_req_per_s: Decimal
    """That is sized for: nine significant digits."""
    mean_req_per_s: Decimal
    """Times the duty cycle."""
    physics: Physics


@dataclass(frozen=True)
class Tranche:
    """Machines of a pool that came together under one term."""

    role: str
    machine: str
    machines: int
    term: Term
    in_service: Month
    months: int
    """Of its life or term."""
    delivered: Month
    """When an owned one is paid; otherwise in service at once."""
    ordered: Month

    @property
    def ends(self) -> Month:
        """The first month without it."""
        return self.in_service.plus(self.months)

    def serves(self, month: Month) -> bool:
        return self.in_service <= month < self.ends


@dataclass(frozen=True)
class Timeline:
    """All of the months asked about that the steps cover."""

    needs: tuple[Need, ...]
    tranches: tuple[Tranche, ...]
    on_demand: tuple[dict[Pool, int], ...]
    """Machines of each pool, month by month."""
    uncovered: Month | None
    """The first month whose rate no step holds: it and what follows are not in ``needs``."""

    def held(self, pool: Pool, month: Month, term: Term | None = None) -> int:
        """Machines bought and reserved, or of one of the terms."""
        return sum(
            tranche.machines
            for tranche in self.tranches
            if (tranche.role, tranche.machine) == pool and tranche.serves(month) and term in (None, tranche.term)
        )


def timeline(steps: Sequence[Physics], rate_req_per_s: Decimal, assumptions: Assumptions) -> Timeline:
    """``steps`` in order of capacity; the rate is the first month's."""
    needs, uncovered = _needs(steps, rate_req_per_s, assumptions.demand)
    tranches: list[Tranche] = []
    on_demand = []
    for need in needs:
        now: dict[Pool, int] = {}
        for pool, machines in machines_of(need.physics).items():
            tranches += _lacking(pool, machines, need.month, tranches, assumptions)
            now[pool] = max(machines - _alive(pool, need.month, tranches), 0)
        on_demand.append(now)
    return Timeline(tuple(needs), tuple(tranches), tuple(on_demand), uncovered)


def machines_of(physics: Physics) -> dict[Pool, int]:
    """By pool."""
    return {(pool.role, pool.machine): pool.machines for pool in physics.pools}


def _needs(steps: Sequence[Physics], rate: Decimal, demand: Demand) -> tuple[list[Need], Month | None]:
    """rate × (1 + growth)^k in month k, and the first step whose capacity is no less."""
    needs: list[Need] = []
    for later, month in enumerate(months_from(demand.first, demand.months)):
        now = nine_digits(rate * (1 + demand.growth_per_month) ** later)
        step = next((step for step in steps if step.capacity_req_per_s >= now), None)
        if step is None:
            return needs, month
        needs.append(Need(month, now, nine_digits(now * demand.duty_cycle), step))
    return needs, None


def _lacking(
    pool: Pool, machines: int, month: Month, tranches: Sequence[Tranche], assumptions: Assumptions
) -> list[Tranche]:
    """What must be bought or reserved to have the base in this month."""
    terms = assumptions.terms
    if terms.base == "on_demand":
        return []
    base = int((machines * terms.base_share).to_integral_value(ROUND_FLOOR))
    lacking = base - _alive(pool, month, tranches)
    return [_tranche(pool, lacking, month, assumptions)] if lacking > 0 else []


def _tranche(pool: Pool, machines: int, month: Month, assumptions: Assumptions) -> Tranche:
    term, owner = assumptions.terms.base, assumptions.ownership
    if term != "owned":
        return Tranche(*pool, machines, term, month, YEARS[term] * MONTHS_A_YEAR, month, month)
    delivered = month.plus(-owner.install_months)
    return Tranche(*pool, machines, term, month, owner.life_months, delivered, delivered.plus(-owner.lead_months))


def _alive(pool: Pool, month: Month, tranches: Sequence[Tranche]) -> int:
    return sum(one.machines for one in tranches if (one.role, one.machine) == pool and one.serves(month))
