"""How each figure of the finance page is come by: the formula with its numbers, and the rows that they stand in.

A cost line carries its own (``simcore.economics.lines``). ``rows`` beginning with ``#`` are other parts of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from planner.numerals import cents
from simcore.economics.annuity import monthly_rate
from simcore.economics.assumptions import Facility, TokenPrice
from simcore.economics.break_even import AgainstApi, BreakEvenMonth, BreakEvenUse
from simcore.economics.carbon import Energy
from simcore.economics.cash_flow import CashFlow, Reconciled
from simcore.economics.cost_sheet import CostSheet
from simcore.economics.lines import CostLine
from simcore.economics.physics import Physics
from simcore.economics.tokens import MILLION, SECONDS_PER_HOUR
from simcore.economics.unit_cost import TokenCost, UnitCost

LINES = "#lines-title"
MONTHS = "#months-title"


@dataclass(frozen=True)
class Formula:
    """In words with the numbers filled in."""

    words: str
    rows: tuple[str, ...] = ()


def of_sum(lines: Sequence[CostLine]) -> Formula:
    """Of a month: its printed lines."""
    return Formula(" + ".join(cents(line.amount_usd) for line in lines) or "no lines", (LINES,))


def of_months(amounts: Sequence[tuple[str, Decimal]]) -> Formula:
    """Of all months: each month's sum."""
    first, last = amounts[0], amounts[-1]
    if len(amounts) < 4:
        return Formula(" + ".join(cents(amount) for _, amount in amounts), (MONTHS,))
    return Formula(f"{first[0]} {cents(first[1])} + … + {last[0]} {cents(last[1])}, {len(amounts)} months", (MONTHS,))


def of_npv(flow: CashFlow, sheet: CostSheet) -> Formula:
    """Purchases where they are paid, all else at month ends."""
    rate = sheet.assumptions.annual_discount_rate
    monthly = monthly_rate(rate)
    paid = "; ".join(f"{one.month} {cents(one.paid_usd)}" for one in flow.months[:3])
    more = f" … {len(flow.months)} months" if len(flow.months) > 3 else ""
    words = (
        f"sum of payments ÷ (1 + i)^k, i = (1 + {rate:f})^(1/12) - 1 = {monthly:.9f} a month; k = 0 at the start of"
        f" {sheet.timeline.needs[0].month}, purchases and upfront parts at a month’s start, all else at its end:"
        f" {paid}{more}"
    )
    return Formula(words, ("assumptions.annual_discount_rate", LINES))


def of_idle(one: UnitCost, physics: Physics) -> Formula:
    """What serves nobody."""
    return Formula(
        f"{cents(one.total_usd)} × (1 - {one.req_per_s:f} ÷ {physics.capacity_req_per_s:f} requests/s), not below 0",
        (LINES, "assumptions.demand.duty_cycle"),
    )


def of_accelerator(one: UnitCost) -> Formula:
    return Formula(f"{cents(one.total_usd)} ÷ {one.accelerators} accelerators of the design", (LINES,))


def of_token(token: TokenCost, one: UnitCost, physics: Physics, hours: int) -> Formula:
    """A million of a kind: its share of what serves ÷ its tokens."""
    each = {
        "input": physics.input_tokens,
        "cached_input": physics.cached_input_tokens,
        "output": physics.output_tokens,
    }[token.kind]
    counted = f"{one.req_per_s:f} requests/s × {SECONDS_PER_HOUR:,} × {hours} h × {each:f} = {token.tokens:,f} tokens"
    share = f"{cents(token.usd)} of {cents(one.total_usd - one.idle_usd)} that serve"
    return Formula(f"{share} ÷ ({counted}) × {MILLION:,}", ("assumptions.allocation", LINES))


def of_energy(found: Energy, physics: Physics, rate: Decimal, hours: int, site: Facility) -> Formula:
    words = (
        f"({physics.idle_w:f} + ({physics.mean_w:f} - {physics.idle_w:f}) × {rate:f} ÷ {physics.rate_req_per_s:f}) W"
        f" ÷ 1,000 × {hours} h = {found.it_kwh:,f} kWh; × PUE {site.pue:f} = {found.facility_kwh:,f} kWh"
    )
    rows = ["assumptions.demand.duty_cycle", "assumptions.facility.pue"]
    if found.kg_co2e is not None:
        words += f"; × {site.kg_co2e_per_kwh:f} = {found.kg_co2e:,f} kg CO₂e"
        rows.append("assumptions.facility.kg_co2e_per_kwh")
    return Formula(words, tuple(rows))


def of_break_even(use: BreakEvenUse, month: BreakEvenMonth, rows: tuple[str, ...]) -> Formula:
    share = f" = {use.share_of_hours:f} of the hours" if use.share_of_hours is not None else ""
    words = (
        f"{cents(use.held_usd)} ÷ {cents(use.on_demand_usd)}{share}: held ÷ by the hour, first month, without licences"
        f" and staff; paid by the last month {cents(month.held_usd)} - {cents(month.on_demand_usd)} ="
        f" {cents(month.held_usd - month.on_demand_usd)}"
    )
    return Formula(words, rows)


def of_api(found: AgainstApi, price: TokenPrice, tokens: Sequence[TokenCost]) -> Formula:
    prices = {"input": price.input_usd, "cached_input": price.cached_input_usd, "output": price.output_usd}
    parts = " + ".join(f"{token.tokens:,f} × ${prices[token.kind]:f}" for token in tokens)
    words = (
        f"({parts}) ÷ {MILLION:,} = {cents(found.api_usd)}, each kind in cents; {cents(found.own_usd)} ÷"
        f" ${found.usd_per_million_api:f} a million at this mix"
    )
    rows = ("assumptions.api.input_usd", "assumptions.api.cached_input_usd", "assumptions.api.output_usd", LINES)
    return Formula(words, rows)


def of_left(found: Reconciled) -> Formula:
    return Formula(
        f"{cents(found.paid_usd)} paid - {cents(found.booked_usd)} booked = {cents(found.left_usd)}:"
        " the cash view’s lines with what is paid before the first month, less the book view’s",
        (MONTHS,),
    )
