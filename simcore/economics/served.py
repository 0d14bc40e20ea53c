"""What a month of the forecast serves and pays for, as the actual is compared with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from simcore.economics.assumptions import Allocation, Assumptions
from simcore.economics.lines import CostLine, total
from simcore.economics.physics import PoolPhysics
from simcore.economics.rounding import nine_digits
from simcore.economics.running import PricedMonth
from simcore.economics.unit_cost import TokenKind, tokens_of, unit_cost
from simcore.economics.variance import Served, standard_hours_of


@dataclass(frozen=True)
class ForecastMonth:
    """A month of the plan, with what a token takes of its machines."""

    served: Served
    standard_hours: dict[TokenKind, Decimal]


def forecast_month(month: PricedMonth, lines: Sequence[CostLine], assumptions: Assumptions) -> ForecastMonth:
    """``lines``: the month's, in the view that is compared. Standard hours by the assumptions' allocation."""
    allocation: Allocation = assumptions.allocation
    used = used_hours(month)
    tokens = tokens_of(month.physics, month.mean_req_per_s, month.hours)
    unit = unit_cost(month.physics, lines, month.hours, "duty_cycle", month.mean_req_per_s, allocation)
    standard = standard_hours_of({one.kind: one.usd for one in unit.tokens}, tokens, used)
    return ForecastMonth(Served(total(lines), paid_hours(month, assumptions), tokens, used), standard)


def paid_hours(month: PricedMonth, assumptions: Assumptions) -> Decimal:
    """Accelerator-hours: of machines held in all hours, of those on demand in their share of the hours."""
    share = assumptions.terms.on_demand_share_of_hours
    hours = Decimal(0)
    for pool in month.physics.pools:
        key = (pool.role, pool.machine)
        machines = month.held.get(key, 0) + month.on_demand.get(key, 0) * share
        hours += _each(pool) * machines * month.hours
    return nine_digits(hours)


def used_hours(month: PricedMonth) -> Decimal:
    """Accelerator-hours in which they work: the simulated share of the time × the mean rate ÷ the rate simulated."""
    load = month.mean_req_per_s / month.physics.rate_req_per_s
    busy = sum((pool.accelerators * pool.busy for pool in month.physics.pools), Decimal(0))
    return nine_digits(busy * load * month.hours)


def _each(pool: PoolPhysics) -> Decimal:
    """Accelerators of a machine."""
    return Decimal(pool.accelerators) / pool.machines
