"""A study's forecast against what was billed, month by month and over all months compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from planner.finance.actuals.matching import MonthTotal
from planner.finance.actuals.services import in_force
from planner.finance.costs import Costs
from planner.finance.models import Actuals
from planner.finance.words import CAUSE_NAMES
from simcore.economics.carbon import energy
from simcore.economics.lines import View
from simcore.economics.served import ForecastMonth, forecast_month
from simcore.economics.variance import Effect, Variance, variance


@dataclass(frozen=True)
class ComparedMonth:
    """One month that has both."""

    period: str
    forecast: ForecastMonth
    actual: MonthTotal
    found: Variance
    forecast_kwh: Decimal
    """Of all machines and the site around them (× PUE)."""
    actuals: Actuals
    """Whose rows they are."""
    pools: tuple[tuple[str, Decimal, Decimal], ...]
    """Forecast and actual cost by pool, where the rows name them."""

    @property
    def effects(self) -> list[tuple[str, Effect]]:
        return [(cause_words(effect.causes), effect) for effect in self.found.effects]


@dataclass(frozen=True)
class Sum:
    """One cause over all months compared."""

    name: str
    cause: str
    usd: Decimal
    months: int


@dataclass(frozen=True)
class Compared:
    """``view``: of the forecast. Effects of a month add up to its difference, and months to the whole."""

    costs: Costs
    view: View
    every: Sequence[Actuals]
    """Of the study and design, drafts and deleted ones too."""

    @cached_property
    def months(self) -> list[ComparedMonth]:
        found = []
        sheet, assumptions = self.costs.sheet, self.costs.assumptions
        places = {str(need.month): place for place, need in enumerate(sheet.timeline.needs)}
        for period, (kept, actual) in in_force(self.every).items():
            if period not in places or kept.design_id != self.costs.physics.design_id:
                continue
            month = sheet.month(places[period])
            lines = [line for line in self.costs.lines(self.view) if line.period == period]
            forecast = forecast_month(month, lines, assumptions)
            kwh = energy(month.physics, month.mean_req_per_s, month.hours, assumptions.facility).facility_kwh
            split = variance(forecast.served, actual.served, forecast.standard_hours)
            by_pool: dict[str, Decimal] = {}
            for line in lines:
                by_pool[line.pool] = by_pool.get(line.pool, Decimal(0)) + line.amount_usd
            pools = tuple(
                (pool, by_pool.get(pool, Decimal("0.00")), actual.pools.get(pool, Decimal("0.00")))
                for pool in dict.fromkeys([*by_pool, *actual.pools])
                if set(actual.pools) != {""}
            )
            found.append(ComparedMonth(period, forecast, actual, split, kwh, kept, pools))
        return found

    @property
    def not_in_forecast(self) -> list[str]:
        """Saved months that this forecast has not, or of another design."""
        compared = {month.period for month in self.months}
        return [period for period in in_force(self.every) if period not in compared]

    @property
    def not_compared(self) -> list[str]:
        """Months of the forecast without an actual."""
        compared = {month.period for month in self.months}
        return [str(need.month) for need in self.costs.sheet.timeline.needs if str(need.month) not in compared]

    @property
    def forecast_usd(self) -> Decimal:
        return sum((month.found.forecast_usd for month in self.months), Decimal("0.00"))

    @property
    def actual_usd(self) -> Decimal:
        return sum((month.found.actual_usd for month in self.months), Decimal("0.00"))

    @property
    def difference_usd(self) -> Decimal:
        return self.actual_usd - self.forecast_usd

    @property
    def sums(self) -> list[Sum]:
        """In the order of the causes; where months know different levels, each way of telling is a line."""
        found: dict[tuple[str, ...], list[Effect]] = {}
        for month in self.months:
            for effect in month.found.effects:
                found.setdefault(effect.causes, []).append(effect)
        order = list(CAUSE_NAMES)
        keys = sorted(found, key=lambda causes: (order.index(causes[-1]), -len(causes)))
        return [
            Sum(
                cause_words(causes), found[causes][0].cause,
                sum((effect.usd for effect in found[causes]), Decimal("0.00")), len(found[causes]),
            )
            for causes in keys
        ]  # fmt: skip

    def rows(self) -> list[list[object]]:
        """Of the file and REST, under ``COLUMNS``."""
        return [
            [
                f"{month.period}-01T00:00:00Z", self.view, effect.cause, effect.usd, month.found.forecast_usd,
                month.found.actual_usd, effect.words, effect.formula, str(month.actuals.pk),
            ]
            for month in self.months
            for effect in month.found.effects
        ]  # fmt: skip


COLUMNS = (
    *("period_start", "view", "effect", "amount_usd", "forecast_usd", "actual_usd", "from_to", "formula"),
    "actuals",
)


def cause_words(causes: Sequence[str]) -> str:
    names = [CAUSE_NAMES[cause] for cause in causes]
    if len(names) == 1:
        return names[0]
    rest = ", ".join(name.lower() for name in names[1:-1])
    return f"{names[0]}{', ' if rest else ''}{rest} and {names[-1].lower()}"
