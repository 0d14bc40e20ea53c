"""All lines of a plan over its months in one view, and of the month of the screen (730 h)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from simcore.economics.annuity import monthly_rate
from simcore.economics.assumptions import Assumptions
from simcore.economics.hourly import HOURS_PER_MONTH
from simcore.economics.lines import CATEGORIES, CostLine, View, total
from simcore.economics.offers import quoted
from simcore.economics.physics import Physics
from simcore.economics.rounding import cents
from simcore.economics.running import PricedMonth, running_lines
from simcore.economics.schedules import Schedule, schedules
from simcore.economics.spread import spread_lines
from simcore.economics.timeline import Timeline, machines_of, timeline

SCREEN_MONTH = f"{HOURS_PER_MONTH} h"


@dataclass(frozen=True)
class CostSheet:
    """A design and its growth in money."""

    assumptions: Assumptions
    timeline: Timeline
    schedules: tuple[Schedule, ...]

    def lines(self, view: View) -> list[CostLine]:
        """Month by month, by category in the order of ``CATEGORIES``, then by pool as the design has them."""
        if view not in self._made:
            self._made[view] = self._lines(view)
        return self._made[view]

    @cached_property
    def _made(self) -> dict[View, list[CostLine]]:
        """Cash flow, bridge, break-even and page all ask for the same lines."""
        return {}

    def _lines(self, view: View) -> list[CostLine]:
        shown = [need.month for need in self.timeline.needs]
        rate = monthly_rate(self.assumptions.annual_discount_rate)
        found = [line for plan in self.schedules for line in spread_lines(plan, view, rate, shown)]
        for place in range(len(shown)):
            found += running_lines(self.month(place), view, self.assumptions)
        return sorted(found, key=lambda line: (line.period, CATEGORIES.index(line.category)))

    def month(self, place: int) -> PricedMonth:
        """One of the months, 0 the first."""
        need = self.timeline.needs[place]
        pools = machines_of(need.physics)
        held = {pool: self.timeline.held(pool, need.month) for pool in pools}
        owned = {pool: self.timeline.held(pool, need.month, "owned") for pool in pools}
        return PricedMonth(
            str(need.month), need.month.hours, need.physics, need.mean_req_per_s,
            self.timeline.on_demand[place], owned, held,
        )  # fmt: skip


def cost_sheet(steps: Sequence[Physics], rate_req_per_s: Decimal, assumptions: Assumptions) -> CostSheet:
    """``steps``: designs in order of capacity; the rate is the first month's. SpecError where a price is missing."""
    assumptions = quoted(assumptions, steps[0])
    found = timeline(steps, rate_req_per_s, assumptions)
    plans = tuple(plan for tranche in found.tranches for plan in schedules(tranche, assumptions))
    return CostSheet(assumptions, found, plans)


def screen_month(physics: Physics, prices: Assumptions) -> list[CostLine]:
    """The "$/month" of the result page as lines: 730 h at the rate sized for, every machine on demand.

    ``prices`` are those of the study: its book's prices an hour as ``on_demand``, its tariff and PUE.
    """
    pools, none = machines_of(physics), dict.fromkeys(machines_of(physics), 0)
    month = PricedMonth(SCREEN_MONTH, HOURS_PER_MONTH, physics, physics.rate_req_per_s, pools, none, none)
    return list(running_lines(month, "cash", prices))


@dataclass(frozen=True)
class BridgeStep:
    """One step from the month of the screen to a calendar month; the steps add up to the whole difference."""

    what: str
    usd: Decimal
    how: str
    """The two sums that it is the difference of."""
    rows: tuple[str, ...] = ()


def bridge(
    physics: Physics,
    prices: Assumptions,
    sheet: CostSheet,
    view: View,
    place: int = 0,
    screen_usd_per_hour: Decimal | None = None,
) -> list[BridgeStep]:
    """From the screen's month to a month of the sheet: the hours of the calendar, the duty cycle, then all that the
    screen does not know (terms, site, overheads).

    ``screen_usd_per_hour``: what the result page multiplies by 730 h, where it is known. It has electricity in it to a
    millionth of a dollar an hour; lines have power and cooling in cents each. Where the two differ, that is a step.
    """
    month = sheet.month(place)
    pools, none = machines_of(physics), dict.fromkeys(machines_of(physics), 0)
    printed = total(screen_month(physics, prices))
    screen = printed if screen_usd_per_hour is None else cents(screen_usd_per_hour * HOURS_PER_MONTH)
    at_rate = PricedMonth(month.period, month.hours, physics, physics.rate_req_per_s, pools, none, none)
    by_hours = total(running_lines(at_rate, view, prices))
    in_use = PricedMonth(month.period, month.hours, physics, month.mean_req_per_s, pools, none, none)
    by_duty = total(running_lines(in_use, view, prices))
    dated = total(line for line in sheet.lines(view) if line.period == month.period)
    by_the_hour = tuple(dict.fromkeys(prices.machine(machine).row_of("on_demand") for _, machine in pools))
    hourly = f"${screen_usd_per_hour:f} an hour × {HOURS_PER_MONTH} h" if screen_usd_per_hour is not None else "lines"
    steps = [BridgeStep(f"{SCREEN_MONTH} at the rate sized for, every machine on demand", screen, hourly, by_the_hour)]
    if printed != screen:
        steps.append(BridgeStep("machines, power and cooling as lines in cents each", printed - screen,
                                f"${printed:,f} - ${screen:,f}"))  # fmt: skip
    return [
        *steps,
        BridgeStep(f"{month.hours} h in {month.period}", by_hours - printed, f"${by_hours:,f} - ${printed:,f}",
                   by_the_hour),
        BridgeStep(f"drawn at {month.mean_req_per_s:f} req/s on average", by_duty - by_hours,
                   f"${by_duty:,f} - ${by_hours:,f}", ("assumptions.demand.duty_cycle",)),
        BridgeStep("terms, site and overheads of the assumptions", dated - by_duty, f"${dated:,f} - ${by_duty:,f}",
                   ("assumptions.terms.base",)),
        BridgeStep(month.period, dated, "the sum of the month’s lines"),
    ]  # fmt: skip
