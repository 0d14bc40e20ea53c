"""The plan's cash month by month, what it is worth today, and how the three views reconcile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from simcore.economics.annuity import monthly_rate
from simcore.economics.cost_sheet import CostSheet
from simcore.economics.lines import OF_SCHEDULES, total
from simcore.economics.months import Month
from simcore.economics.rounding import cents
from simcore.economics.schedules import Payment, Schedule, value


@dataclass(frozen=True)
class CashMonth:
    """What is paid in a month, in whole cents."""

    month: Month
    paid_usd: Decimal
    so_far_usd: Decimal
    """With all months before it."""


@dataclass(frozen=True)
class CashFlow:
    """From the first delivery to the last month looked at."""

    months: tuple[CashMonth, ...]
    npv_usd: Decimal
    """Of the payments, at the start of the first month looked at: amount / (1 + i)^k, i the monthly rate. What is
    bought counts where it is paid; what it is still worth at the end (``Reconciled.left_usd``) does not count."""


@dataclass(frozen=True)
class Reconciled:
    """How paid and booked differ at the end of the months looked at: paid - booked = left.

    ``left_usd`` is what has been paid for months still to come (book value of machines and fabric, reservations paid
    ahead) less what is due of reservations already used; at the end of a life it is zero.
    """

    paid_usd: Decimal
    booked_usd: Decimal
    left_usd: Decimal


def cash_flow(sheet: CostSheet) -> CashFlow:
    """Of the cash view's lines, and of what is delivered before the first month looked at."""
    by_month: dict[Month, Decimal] = {}
    for month, amount in _paid(sheet):
        by_month[month] = by_month.get(month, Decimal("0.00")) + amount
    so_far, months = Decimal("0.00"), []
    for month in sorted(by_month):
        so_far += by_month[month]
        months.append(CashMonth(month, by_month[month], so_far))
    return CashFlow(tuple(months), cents(_npv(sheet)))


def reconciled(sheet: CostSheet) -> Reconciled:
    """Over the months looked at and what was paid before them."""
    shown = [need.month for need in sheet.timeline.needs]
    early = sum((amount for month, amount in _paid(sheet) if month < shown[0]), Decimal("0.00"))
    paid, booked = total(sheet.lines("cash")) + early, total(sheet.lines("book"))
    return Reconciled(paid, booked, paid - booked)


def left_by_schedule(plan: Schedule, after: Month) -> Decimal:
    """What a purchase or reservation leaves at the start of ``after``: paid until then less booked until then, exact.

    Of a machine, its book value: capex less months in service × (capex - residual) / life.
    """
    paid = sum((one.amount_usd for one in plan.payments if one.month < after), Decimal(0))
    used = min(max(plan.in_service.until(after), 0), plan.months)
    return paid - used * plan.book()


def _paid(sheet: CostSheet) -> list[tuple[Month, Decimal]]:
    """In the cash view's cents; payments before the first month too."""
    shown = [need.month for need in sheet.timeline.needs]
    months = {str(month): month for month in shown}
    early = [
        (one.month, cents(one.amount_usd)) for plan in sheet.schedules for one in plan.payments if one.month < shown[0]
    ]
    return early + [(months[line.period], line.amount_usd) for line in sheet.lines("cash")]


def _npv(sheet: CostSheet) -> Decimal:
    """Purchases and reservations where they are paid, all else at the month's end."""
    shown = [need.month for need in sheet.timeline.needs]
    rate = monthly_rate(sheet.assumptions.annual_discount_rate)
    payments = [one for plan in sheet.schedules for one in plan.payments if one.month <= shown[-1]]
    return value([*payments, *_running(sheet, shown)], rate, shown[0])


def _running(sheet: CostSheet, shown: Sequence[Month]) -> list[Payment]:
    months = {str(month): month for month in shown}
    return [
        Payment(months[line.period], line.amount_usd)
        for line in sheet.lines("cash")
        if line.category not in OF_SCHEDULES
    ]
