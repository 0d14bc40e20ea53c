"""The page of forecast against actual: what was billed, why it differs, and the files that say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from planner.finance.actuals.compared import Compared, ComparedMonth
from planner.finance.actuals.focus import COSTS
from planner.finance.actuals.reading import FORMAT_NAMES
from planner.finance.actuals.services import in_force
from planner.finance.costs import Costs
from planner.finance.figures import waterfall
from planner.finance.models import Actuals
from planner.finance.words import CAUSE_HELP, CAUSE_NAMES, VIEW_NAMES
from planner.numerals import cents, change, short
from simcore.economics.lines import View
from simcore.spec import SpecError

Json = dict[str, Any]
HOURS_CHOICES = (("machines", "a machine"), ("accelerators", "an accelerator"))


@dataclass(frozen=True)
class Kept:
    """A file in the list."""

    actuals: Actuals
    state: str
    months: list[str]
    format: str


@dataclass(frozen=True)
class ActualsPage:
    """Of a design under an assumption set, in one view; ``period``: a month, or all."""

    costs: Costs
    view: View
    every: Sequence[Actuals]
    period: str = ""
    problems: Sequence[str] = ()
    """Of a file that was refused, a line each."""
    asked: tuple[str, str] = (COSTS[0], "machines")

    @cached_property
    def compared(self) -> Compared:
        return Compared(self.costs, self.view, self.every)

    @property
    def problem(self) -> str:
        """Why known costs are no forecast to compare with."""
        if not self.costs.is_known:
            return ""
        try:
            _ = self.costs.sheet
        except SpecError as error:
            return str(error)
        return ""

    @property
    def address(self) -> dict[str, str]:
        said = {"design": self.costs.design_id, "set": self.costs.set_name, "view": self.view}
        return {name: text for name, text in said.items() if text}

    @property
    def query(self) -> str:
        return urlencode(self.address)

    @property
    def views(self) -> list[tuple[str, str, bool]]:
        found = []
        for name, words in VIEW_NAMES.items():
            query = urlencode({**self.address, "view": name})
            found.append((f"?{query}", words, name == self.view))
        return found

    @property
    def month(self) -> ComparedMonth | None:
        """None: all of them."""
        return next((one for one in self.compared.months if one.period == self.period), None)

    @property
    def shown(self) -> tuple[str, Decimal, Decimal, list[tuple[str, Decimal]]]:
        """What the chart is of: in words, forecast, actual and steps."""
        if month := self.month:
            steps = [(name, effect.usd) for name, effect in month.effects]
            return month.period, month.found.forecast_usd, month.found.actual_usd, steps
        of = self.compared
        periods = [month.period for month in of.months]
        words = periods[0] if len(periods) == 1 else f"{len(periods)} months, {periods[0]} to {periods[-1]}"
        return words, of.forecast_usd, of.actual_usd, [(one.name, one.usd) for one in of.sums]

    @property
    def difference(self) -> Decimal:
        return self.shown[2] - self.shown[1]

    @property
    def share(self) -> str:
        """Of the forecast."""
        _, forecast, _, _ = self.shown
        return f"{abs(self.difference) / forecast * 100:.1f} %" if forecast else ""

    @property
    def figure(self) -> Json:
        _, forecast, actual, steps = self.shown
        return waterfall(("Forecast", forecast), steps, ("Actual", actual))

    @property
    def words(self) -> str:
        """The chart in a sentence."""
        of, forecast, actual, steps = self.shown
        parts = ", ".join(f"{name.lower()} {change(usd)}" for name, usd in steps)
        return f"{of}, {self.view} view: {cents(forecast)} forecast, {cents(actual)} billed: {parts}."

    @property
    def quantities(self) -> list[tuple[str, str, str]]:
        """Of the month: what, forecast, actual."""
        month = self.month
        if month is None:
            return []
        forecast, actual = month.forecast.served, month.actual.served
        rows = [
            ("Paid accelerator-hours", forecast.accelerator_hours, actual.accelerator_hours),
            ("Used accelerator-hours", forecast.used_accelerator_hours, actual.used_accelerator_hours),
            ("Tokens", forecast.volume, actual.volume),
        ]
        for kind, name in (
            ("input", "Input tokens"),
            ("cached_input", "Cached input tokens"),
            ("output", "Output tokens"),
        ):
            rows.append((name, (forecast.tokens or {}).get(kind), (actual.tokens or {}).get(kind)))  # type: ignore[call-overload]
        rows.append(("kWh, with the site’s", month.forecast_kwh, month.actual.kwh))
        return [(name, _told(one), _told(other)) for name, one, other in rows]

    @property
    def files(self) -> list[Kept]:
        """The newest first; drafts are their uploader's business and shown too."""
        active = {kept.pk for kept, _ in in_force(self.every).values()}
        return [Kept(one, _state(one, active), _months(one), FORMAT_NAMES[one.format]) for one in self.every]

    @property
    def causes(self) -> list[tuple[str, str]]:
        return [(CAUSE_NAMES[cause], words) for cause, words in CAUSE_HELP.items()]

    @property
    def cost_choices(self) -> list[tuple[str, str, bool]]:
        words = {
            "EffectiveCost": "EffectiveCost: what was paid ahead, spread (book view)",
            "BilledCost": "BilledCost: as invoiced (cash view)",
            "ContractedCost": "ContractedCost: at contracted prices",
            "ListCost": "ListCost: at list prices",
        }
        return [(name, words[name], name == self.asked[0]) for name in COSTS]

    @property
    def hours_choices(self) -> list[tuple[str, str, bool]]:
        return [(name, words, name == self.asked[1]) for name, words in HOURS_CHOICES]


def view_of(every: Sequence[Actuals]) -> View:
    """What a bill is compared with unless the address says: the cash view where it is as invoiced."""
    costs = {kept.rules["cost"].lower() for kept, _ in in_force(every).values()}
    return "cash" if costs == {"billedcost"} else "book"


def _state(kept: Actuals, active: set[int]) -> str:
    if kept.saved_at is None:
        return "not saved"
    if kept.deleted_at is not None:
        by = f" by {kept.deleted_by}" if kept.deleted_by else ""
        return f"deleted {kept.deleted_at:%Y-%m-%d}{by}"
    return "counts" if kept.pk in active else "replaced by later files"


def _months(kept: Actuals) -> list[str]:
    return [told["month"] for told in kept.report["months"]]


def _told(figure: Decimal | None) -> str:
    return "not known" if figure is None else short(figure, 6)
