"""What may be otherwise, and how the designs' order follows it.

A price or the tariff changes what each design costs, in a line: two designs change places where their lines cross, and
one leaves where it reaches the budget. The rate and the SLO change which designs hold: a design holds every rate up to
its capacity, and every SLO from the multiple of the limits on that its run at the rate used up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from simcore.flips.field import Field, Float64, Int64, Mask
from simcore.flips.flip import Asked

STEP = 1e-9
"""Relative: how far beyond a value an order is looked at."""


class Quantity(Protocol):
    """One thing that may be otherwise, over a field of designs."""

    @property
    def field(self) -> Field:
        """The designs."""

    @property
    def asked(self) -> Asked:
        """What it is, and how far it is followed."""

    def usd(self, value: float) -> Float64:
        """An hour, by design."""

    def meets(self, value: float) -> Mask:
        """Which designs meet the question."""

    def events(self, value: float, leaders: Int64) -> Float64:
        """Values at which the leaders or their order may change, on either side of ``value``."""


def leaders(quantity: Quantity, value: float) -> Int64:
    """The best design of each family that meets the question, the goal's best first."""
    order = quantity.field.order(quantity.usd(value))
    order = order[quantity.meets(value)[order]]
    _, first = np.unique(quantity.field.family[order], return_index=True)
    found: Int64 = order[np.sort(first)]
    return found


@dataclass(frozen=True)
class Price:
    """Of a machine, or of a kWh."""

    field: Field
    asked: Asked
    base_usd: Float64
    """What each design costs an hour beside what is paid by this price."""
    slope: Float64
    """Machines, or kW, that this price is paid for."""
    budget_usd: float
    """An hour; infinite: none."""
    holds: Mask

    def usd(self, value: float) -> Float64:
        """Machines and electricity."""
        return self.base_usd + self.slope * value

    def meets(self, value: float) -> Mask:
        """Within the budget, too."""
        return self.holds & (self.usd(value) <= self.budget_usd * (1 + 1e-12))

    def events(self, value: float, leaders: Int64) -> Float64:
        """Where another's line crosses a leader's, and where one reaches the budget."""
        able = np.flatnonzero(self.holds)
        if not len(able):
            return np.zeros(0)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = [
                (self.base_usd[able] - self.base_usd[leader]) / (self.slope[leader] - self.slope[able])
                for leader in leaders
            ]
            spent = (self.budget_usd - self.base_usd[able]) / self.slope[able]
        found: Float64 = np.concatenate([spent, *crossings])
        return found[np.isfinite(found)]


@dataclass(frozen=True)
class Threshold:
    """The rate, or the SLO's multiple: each design holds on one side of a value of its own."""

    field: Field
    asked: Asked
    usd_per_hour: Float64
    limit: Float64
    """Up to which, or from which on, a design holds."""
    holds_below: bool
    """Up to the limit (a rate), else from it on (a multiple of the SLO)."""
    able: Mask

    def usd(self, value: float) -> Float64:
        """Does not change."""
        return self.usd_per_hour

    def meets(self, value: float) -> Mask:
        """Of those within the question's other limits."""
        within = value <= self.limit if self.holds_below else value >= self.limit
        return self.able & within

    def events(self, value: float, leaders: Int64) -> Float64:
        """Where a leader holds no more, and where one holds that comes before its family's leader."""
        order = self.field.order(self.usd_per_hour)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        first = np.full(len(self.field.families), len(order))
        first[self.field.family[leaders]] = place[leaders]
        better = self.able & (place <= first[self.field.family])
        found: Float64 = self.limit[better]
        return found[np.isfinite(found)]
