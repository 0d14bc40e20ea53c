"""What is paid at once and used over months: machines and fabric that are bought, reservations.

Each is a ``Schedule``: its payments (cash), spread evenly (book), or as an annuity at the discount rate (economic).
Payments and annuities are at a month's start or end; over the whole life

    sum of book = sum of cash,     present value of economic = present value of cash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from simcore.economics.annuity import MONTHS_A_YEAR, annuity, monthly_rate, present_value
from simcore.economics.assumptions import YEARS, Assumptions
from simcore.economics.lines import Category
from simcore.economics.months import Month
from simcore.economics.timeline import Tranche

HOURS_A_YEAR = 8760


@dataclass(frozen=True)
class Payment:
    """An exact amount; below zero: received."""

    month: Month
    amount_usd: Decimal
    at_start: bool = False
    """Of the month; otherwise at its end."""
    category: Category = "capital"

    def months_after(self, origin: Month) -> int:
        """From the origin's start to the payment."""
        return origin.until(self.month) + (0 if self.at_start else 1)


@dataclass(frozen=True)
class Schedule:
    """One purchase or reservation."""

    role: str
    machine: str
    category: Category
    payments: tuple[Payment, ...]
    in_service: Month
    months: int
    words: str
    """What the payments are for, with the numbers: ``11 machines × $300,000.00``."""
    rows: tuple[str, ...] = ()

    def month(self, place: int) -> Month:
        """Of its life, 0 the first."""
        return self.in_service.plus(place)

    def book(self) -> Decimal:
        """A month's even share of all that is paid, less what is got back."""
        return sum((payment.amount_usd for payment in self.payments), Decimal(0)) / self.months

    def economic(self, rate: Decimal) -> Decimal:
        """What is due at each month's end of the life so that it is worth, in service, what is paid; ``rate`` a month.

        Payments before the service carry interest until then.
        """
        return annuity(value(self.payments, rate, self.in_service), Decimal(0), rate, self.months)


def value(payments: Sequence[Payment], rate: Decimal, origin: Month) -> Decimal:
    """What the payments are worth at the start of ``origin``: amount / (1 + rate)^months after it, or before it × …"""
    if not payments:
        return Decimal(0)
    first = min(payment.months_after(origin) for payment in payments)
    last = max(payment.months_after(origin) for payment in payments)
    flow = [Decimal(0)] * (last - first + 1)
    for payment in payments:
        flow[payment.months_after(origin) - first] += payment.amount_usd
    return present_value(flow, rate) / (1 + rate) ** first


def schedules(tranche: Tranche, assumptions: Assumptions) -> list[Schedule]:
    """Of a tranche: its machines and, where they are owned, its part of the fabric."""
    if tranche.term != "owned":
        return [_reservation(tranche, assumptions)]
    fabric = _fabric(tranche, assumptions)
    return [_purchase(tranche, assumptions)] + ([fabric] if fabric else [])


def discount_rate(assumptions: Assumptions) -> Decimal:
    """A month's."""
    return monthly_rate(assumptions.annual_discount_rate)


def _purchase(tranche: Tranche, assumptions: Assumptions) -> Schedule:
    """capex × machines at delivery; residual share × that at the end of the last month."""
    cost = assumptions.machine(tranche.machine)
    paid = cost.capex() * tranche.machines
    residual = paid * assumptions.ownership.residual_share
    payments = [Payment(tranche.delivered, paid, at_start=True)]
    words = f"{tranche.machines} machines × ${cost.capex():,f}{cost.how('owned')}"
    if residual:
        payments.append(Payment(tranche.ends.plus(-1), -residual, category="residual"))
        words += f" less a residual of {assumptions.ownership.residual_share:f} of it"
    return Schedule(
        tranche.role, tranche.machine, "capital", tuple(payments), tranche.in_service, tranche.months, words,
        (cost.row_of("owned"), "assumptions.ownership"),
    )  # fmt: skip


def _fabric(tranche: Tranche, assumptions: Assumptions) -> Schedule | None:
    """ports × machines × price of a port, at delivery; None where there is nothing to pay."""
    cost, price = assumptions.machine(tranche.machine), assumptions.ownership.fabric_usd_per_port
    ports = cost.ports * tranche.machines
    if not ports or not price:
        return None
    paid = (Payment(tranche.delivered, ports * price, at_start=True, category="fabric"),)
    return Schedule(
        tranche.role, tranche.machine, "fabric", paid, tranche.in_service, tranche.months,
        f"{ports} ports × ${price:,f}", (cost.row_of("owned", "ports"), "assumptions.ownership.fabric_usd_per_port"),
    )  # fmt: skip


def _reservation(tranche: Tranche, assumptions: Assumptions) -> Schedule:
    """machines × price an hour × 8,760 h a year: the upfront share at once, the rest in equal parts at month ends."""
    cost, share = assumptions.machine(tranche.machine), assumptions.terms.upfront_share
    years, price = YEARS[tranche.term], cost.usd_per_hour(tranche.term)
    whole = tranche.machines * price * HOURS_A_YEAR * years
    months = years * MONTHS_A_YEAR
    payments = [Payment(tranche.in_service, whole * share, at_start=True, category="reserved")] if share else []
    if share < 1:
        rest = whole * (1 - share) / months
        payments += [Payment(tranche.in_service.plus(k), rest, category="reserved") for k in range(months)]
    words = f"{tranche.machines} machines × ${price:,f}/h{cost.how(tranche.term)} × {HOURS_A_YEAR * years:,} h"
    if share:
        words += f", {share:f} of it upfront"
    return Schedule(
        tranche.role, tranche.machine, "reserved", tuple(payments), tranche.in_service, months, words,
        (cost.row_of(tranche.term), "assumptions.terms"),
    )  # fmt: skip
