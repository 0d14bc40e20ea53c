"""Lines of what is bought or reserved: by month in each view, in cents that add up over the whole life."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from simcore.economics.lines import Category, CostLine, View
from simcore.economics.months import Month
from simcore.economics.rounding import millionths, running_cents
from simcore.economics.schedules import Schedule


def spread_lines(plan: Schedule, view: View, rate: Decimal, shown: Sequence[Month]) -> Iterator[CostLine]:
    """Those of the months shown; ``rate`` is a month's, of the economic view."""
    if view == "cash":
        yield from _payments(plan, shown)
        return
    monthly = plan.book() if view == "book" else plan.economic(rate)
    lines = running_cents([monthly] * plan.months)
    how = "evenly over" if view == "book" else f"as an annuity at {_percent(rate)} a month over"
    for place, amount in enumerate(lines):
        if plan.month(place) in shown:
            formula = f"({plan.words}) {how} {plan.months} months: month {place + 1}"
            yield _line(plan, view, plan.month(place), plan.category, millionths(monthly), amount, formula)


def _payments(plan: Schedule, shown: Sequence[Month]) -> Iterator[CostLine]:
    """What is paid in each month; the parts of a reservation add up in cents, as its payments do."""
    amounts = running_cents([paid.amount_usd for paid in plan.payments])
    for paid, amount in zip(plan.payments, amounts, strict=True):
        if paid.month in shown:
            when = "at the month's start" if paid.at_start else "at its end"
            formula = f"{plan.words}: paid {when}"
            yield _line(plan, "cash", paid.month, paid.category, millionths(paid.amount_usd), amount, formula)


def _line(
    plan: Schedule, view: View, month: Month, category: Category, price: Decimal, amount: Decimal, formula: str
) -> CostLine:
    return CostLine(
        view, str(month), plan.role, plan.machine, category, Decimal(1), "month" if view != "cash" else "payment",
        price, amount, formula, plan.rows,
    )  # fmt: skip


def _percent(rate: Decimal) -> str:
    return f"{rate * 100:.6f} %"
