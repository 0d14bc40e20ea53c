"""Which of a file's rows are a study's actual cost, and of which month; and why the others are not.

A row counts where, in this order: it is an actual; its service is one of those that were said to be the study's; its
design and pool, where it names them, are the study's; its currency is the forecast's, or one that the study's price
book has a rate for; it lies within one calendar month in UTC, and that month is one of the forecast's. A row that does
not count is listed with the reason, and no part of it goes anywhere else. A cost in another currency is taken at the
book's one rate, exactly, and its month says at which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from planner.finance.actuals.charges import Charge
from planner.finance.costs import Costs
from planner.studies.stored import prices_of
from simcore.economics.lines import FACILITY, SHARED
from simcore.economics.months import Month
from simcore.economics.rounding import cents
from simcore.economics.unit_cost import KINDS
from simcore.economics.variance import Served
from simcore.spec import Exchange

Json = dict[str, Any]
CURRENCY = "USD"
ALL_SERVICES = "*"


@dataclass(frozen=True)
class Frame:
    """What the study has that rows may be of."""

    design_id: str
    periods: tuple[str, ...]
    accelerators: Mapping[str, Decimal | None]
    """Of a machine, by role; None where a role has machines of several sizes. ``""``: of any pool's."""
    rates: Mapping[str, Exchange] = field(default_factory=dict)
    """Of the study's price book, by currency."""

    @classmethod
    def of(cls, costs: Costs) -> Frame:
        sizes: dict[str, set[Decimal]] = {"": set()}
        for step in costs.steps:
            for pool in step.pools:
                each = Decimal(pool.accelerators) / pool.machines
                sizes.setdefault(pool.role, set()).add(each)
                sizes[""].add(each)
        one = {role: next(iter(found)) if len(found) == 1 else None for role, found in sizes.items()}
        periods = tuple(str(need.month) for need in costs.sheet.timeline.needs)
        rates = {rate.currency: rate for rate in prices_of(costs.study).rates}
        return cls(costs.physics.design_id, periods, one, rates)

    @property
    def pools(self) -> list[str]:
        return [*(role for role in self.accelerators if role), FACILITY, SHARED]


def reason(charge: Charge, frame: Frame, services: Sequence[str]) -> str:
    """Why the row is no part of the actual; empty where it is."""
    if charge.refused:
        return charge.refused
    if charge.service not in services:
        return f"service {charge.service}: not one of the study's" if charge.service else "no service is named"
    if charge.design and charge.design != frame.design_id:
        return f"design {charge.design}, expected {frame.design_id}"
    if charge.pool and charge.pool not in frame.pools:
        return f"pool {charge.pool}, expected one of {', '.join(frame.pools)}"
    if charge.currency != CURRENCY and charge.currency not in frame.rates:
        known = ", ".join((CURRENCY, *frame.rates))
        return f"currency {charge.currency}: the study's price book has no rate for it, expected one of {known}"
    month = charge.month
    if month is None:
        return f"period {_iso(charge.start)} to {_iso(charge.end)}: not within one calendar month in UTC"
    if str(month) not in frame.periods:
        return f"month {month}: the forecast has {frame.periods[0]} to {frame.periods[-1]}"
    return ""


def services_at_first(charges: Sequence[Charge], titles: Sequence[str]) -> list[str]:
    """Which are taken for the study's before anybody says: those called as it is; all, where none is named."""
    found = {charge.service for charge in charges}
    if found == {""}:
        return [""]
    return sorted(found & set(titles))


@dataclass
class MonthTotal:
    """What a month's rows add up to. None: no row says it, or not in a form that can be counted."""

    month: str
    rows: int = 0
    cost: Decimal = Decimal(0)
    """Exact; ``cost_usd`` in cents."""
    accelerator_hours: Decimal | None = None
    used_accelerator_hours: Decimal | None = None
    tokens: dict[str, Decimal] = field(default_factory=dict)
    """By kind; ``tokens``: of no said kind."""
    kwh: Decimal | None = None
    first: str = ""
    last: str = ""
    """Where its rows begin and end."""
    notes: list[str] = field(default_factory=list)
    pools: dict[str, Decimal] = field(default_factory=dict)
    """Cost by pool, ``""`` where a row names none."""

    @property
    def cost_usd(self) -> Decimal:
        return cents(self.cost)

    @property
    def served(self) -> Served:
        """As the variance takes it."""
        unknown = self.tokens.get("tokens")
        kinds = {kind: self.tokens.get(kind, Decimal(0)) for kind in KINDS}
        every = sum(self.tokens.values(), Decimal(0)) if unknown is not None else None
        by_kind = None if unknown is not None or not self.tokens else kinds
        return Served(self.cost_usd, self.accelerator_hours, by_kind, self.used_accelerator_hours, every)

    def as_json(self) -> Json:
        """As it is kept and told."""
        return {
            "month": self.month,
            "rows": self.rows,
            "cost": f"{self.cost:f}",
            "accelerator_hours": _text(self.accelerator_hours),
            "used_accelerator_hours": _text(self.used_accelerator_hours),
            "tokens": {kind: f"{count:f}" for kind, count in self.tokens.items()},
            "kwh": _text(self.kwh),
            "first": self.first,
            "last": self.last,
            "notes": self.notes,
            "pools": {pool: f"{cost:f}" for pool, cost in self.pools.items()},
        }

    @classmethod
    def from_json(cls, told: Json) -> MonthTotal:
        return cls(
            told["month"], told["rows"], Decimal(told["cost"]), _number(told["accelerator_hours"]),
            _number(told["used_accelerator_hours"]), {kind: Decimal(count) for kind, count in told["tokens"].items()},
            _number(told["kwh"]), told["first"], told["last"], told["notes"],
            {pool: Decimal(cost) for pool, cost in told["pools"].items()},
        )  # fmt: skip


def totals(charges: Iterable[Charge], frame: Frame) -> list[MonthTotal]:
    """Of rows that count, month by month."""
    months: dict[Month, list[Charge]] = {}
    for charge in charges:
        if (month := charge.month) is not None:
            months.setdefault(month, []).append(charge)
    return [_total(month, months[month], frame) for month in sorted(months)]


def _total(month: Month, charges: Sequence[Charge], frame: Frame) -> MonthTotal:
    found = MonthTotal(str(month), len(charges))
    sums: dict[str, Decimal] = {}
    uncounted: dict[str, int] = {}
    converted: dict[str, Decimal] = {}
    for charge in charges:
        cost = charge.cost
        if charge.currency != CURRENCY:
            converted[charge.currency] = converted.get(charge.currency, Decimal(0)) + cost
            cost *= frame.rates[charge.currency].usd
        found.cost += cost
        found.pools[charge.pool] = found.pools.get(charge.pool, Decimal(0)) + cost
        for name, amount in charge.quantities.items():
            sums[name] = sums.get(name, Decimal(0)) + amount
        if charge.uncounted:
            uncounted[charge.uncounted] = uncounted.get(charge.uncounted, 0) + 1
    found.first, found.last = _iso(min(one.start for one in charges)), _iso(max(one.end for one in charges))
    found.tokens = {name: sums[name] for name in (*KINDS, "tokens") if name in sums}
    found.kwh = sums.get("kwh")
    found.accelerator_hours = _accelerator_hours(charges, sums, frame, found.notes)
    found.used_accelerator_hours = _used(charges, sums, found.notes)
    for currency, cost in sorted(converted.items()):
        rate = frame.rates[currency]
        of = f"{rate.date}, {rate.source}" if rate.source else rate.date
        found.notes.append(f"{cost:,f} {currency} taken at {rate.usd:f} USD, the price book's rate of {of}")
    for unit, rows in uncounted.items():
        found.notes.append(f"{rows} row{'s' if rows > 1 else ''} with {unit}: the cost counts, the quantity does not")
    if found.first[:10] != month.start[:10] or found.last < f"{month}-{month.days:02d}":
        found.notes.append(f"rows from {found.first} to {found.last} only: the month may not be complete")
    return found


def _accelerator_hours(
    charges: Sequence[Charge], sums: Mapping[str, Decimal], frame: Frame, notes: list[str]
) -> Decimal | None:
    if "machine_hours" not in sums:
        return sums.get("accelerator_hours")
    hours = sums.get("accelerator_hours", Decimal(0))
    for charge in charges:
        of_machines = charge.quantities.get("machine_hours")
        if not of_machines:
            continue
        each = frame.accelerators.get(charge.pool if charge.pool in frame.accelerators else "")
        if each is None:
            notes.append("hours of machines of several sizes: not known how many accelerator-hours they are")
            return None
        hours += of_machines * each
    return hours


def _used(charges: Sequence[Charge], sums: Mapping[str, Decimal], notes: list[str]) -> Decimal | None:
    """Known where every row with hours says it."""
    if "used_accelerator_hours" not in sums:
        return None
    paid = ("accelerator_hours", "machine_hours")
    if any(
        any(name in one.quantities for name in paid) and "used_accelerator_hours" not in one.quantities
        for one in charges
    ):
        notes.append("used hours of some rows only: not known of the month")
        return None
    return sums["used_accelerator_hours"]


def _iso(time: Any) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"


def _text(number: Decimal | None) -> str | None:
    return None if number is None else f"{number:f}"


def _number(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
