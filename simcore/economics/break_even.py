"""Where one way to pay overtakes another: rent against buy by use and by month, own machines against an API's price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from simcore.economics.assumptions import Assumptions, Term, TokenPrice
from simcore.economics.cash_flow import cash_flow
from simcore.economics.cost_sheet import CostSheet, cost_sheet
from simcore.economics.lines import CostLine, View, total
from simcore.economics.months import Month
from simcore.economics.physics import Physics
from simcore.economics.rounding import cents, nine_digits
from simcore.economics.tokens import MILLION
from simcore.economics.unit_cost import tokens_of

HOURS_A_DAY = 24


@dataclass(frozen=True)
class BreakEvenUse:
    """From which share of the hours on it is cheaper to have machines than to rent them by the hour."""

    held_usd: Decimal
    """Of the first month, economic view."""
    on_demand_usd: Decimal
    """Of the same machines rented in every hour of it."""
    share_of_hours: Decimal | None
    """held ÷ on demand, nine digits; above 1: never. None: nothing to rent."""


@dataclass(frozen=True)
class BreakEvenMonth:
    """By which month having paid for machines has cost no more than renting, in cash."""

    month: Month | None
    """The first from which it stays so; None: not in the months looked at."""
    held_usd: Decimal
    """Paid by the last month, as what follows."""
    on_demand_usd: Decimal


@dataclass(frozen=True)
class AgainstApi:
    """Own machines against an API, of one period."""

    own_usd: Decimal
    api_usd: Decimal
    """The same tokens at the API's price, in cents by kind."""
    usd_per_million_api: Decimal
    """Of a request's tokens at their mix, all kinds counted."""
    break_even_tokens_per_day: Decimal | None
    """At which the API would cost what the machines do, at this mix; None where the API costs nothing."""
    break_even_req_per_s: Decimal | None
    within_capacity: bool
    """Whether the machines serve as much under the SLO."""


def with_base(assumptions: Assumptions, base: Term) -> Assumptions:
    """The same, with all machines under one term."""
    return replace(assumptions, terms=replace(assumptions.terms, base=base, base_share=Decimal(1)))


def break_even_use(steps: Sequence[Physics], rate: Decimal, assumptions: Assumptions, held: Term) -> BreakEvenUse:
    """Of the machines alone with their site, support and fabric: licences and staff are the same in both."""
    own = _first_month(cost_sheet(steps, rate, with_base(assumptions, held)), "economic")
    rent = _first_month(cost_sheet(steps, rate, _always_on(assumptions)), "economic")
    held_usd, on_demand_usd = (total(line for line in lines if _of_machines(line)) for lines in (own, rent))
    share = nine_digits(held_usd / on_demand_usd) if on_demand_usd else None
    return BreakEvenUse(held_usd, on_demand_usd, share)


def break_even_month(steps: Sequence[Physics], rate: Decimal, assumptions: Assumptions, held: Term) -> BreakEvenMonth:
    """Cumulative cash of one against the other; renting as the assumptions say (``on_demand_share_of_hours``)."""
    own = cost_sheet(steps, rate, with_base(assumptions, held))
    rent = cost_sheet(steps, rate, with_base(assumptions, "on_demand"))
    months = [need.month for need in own.timeline.needs]
    paid, rented = _so_far(own, months), _so_far(rent, months)
    stays = None
    for month in reversed(months):
        if paid[month] > rented[month]:
            break
        stays = month
    return BreakEvenMonth(stays, paid[months[-1]], rented[months[-1]])


def against_api(
    physics: Physics, lines: Sequence[CostLine], hours: int, mean_req_per_s: Decimal, price: TokenPrice
) -> AgainstApi:
    """Of one period's lines; the machines' cost is held as it is, so the break-even is of these machines."""
    counts = tokens_of(physics, mean_req_per_s, hours)
    prices = {"input": price.input_usd, "cached_input": price.cached_input_usd, "output": price.output_usd}
    api_usd = sum((cents(counts[kind] * prices[kind] / MILLION) for kind in counts), Decimal("0.00"))
    own_usd, tokens = total(lines), sum(counts.values())
    a_token = sum((counts[kind] * prices[kind] for kind in counts), Decimal(0)) / MILLION / tokens
    if not a_token:
        return AgainstApi(own_usd, api_usd, Decimal(0), None, None, within_capacity=False)
    a_day = own_usd / a_token / hours * HOURS_A_DAY
    rate = mean_req_per_s * own_usd / (a_token * tokens)
    return AgainstApi(
        own_usd, api_usd, nine_digits(a_token * MILLION), nine_digits(a_day), nine_digits(rate),
        within_capacity=rate <= physics.capacity_req_per_s,
    )  # fmt: skip


def _always_on(assumptions: Assumptions) -> Assumptions:
    rented = with_base(assumptions, "on_demand")
    return replace(rented, terms=replace(rented.terms, on_demand_share_of_hours=Decimal(1)))


def _first_month(sheet: CostSheet, view: View) -> list[CostLine]:
    return [line for line in sheet.lines(view) if line.period == sheet.month(0).period]


def _of_machines(line: CostLine) -> bool:
    return line.category not in ("licence", "staff")


def _so_far(sheet: CostSheet, months: Sequence[Month]) -> dict[Month, Decimal]:
    """Paid by the end of each month."""
    flow = cash_flow(sheet).months
    return {month: sum((one.paid_usd for one in flow if one.month <= month), Decimal("0.00")) for month in months}
