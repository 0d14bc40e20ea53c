"""Low, base and high of an amount: what it would be were the design's capacity at an end of its 90 % interval.

The same traffic with the same headroom then takes machines in proportion: base × capacity ÷ high end (low) or ÷ low end
(high). Base is the amount itself. A proportion, not another simulation. Staff does not grow with machines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from simcore.economics.lines import CostLine
from simcore.economics.physics import Physics
from simcore.economics.rounding import cents, nine_digits

FIXED = ("staff",)
"""Categories that no number of machines changes."""


@dataclass(frozen=True)
class Interval:
    """In whole cents. None: the end is not known, or no capacity is certain."""

    low_usd: Decimal | None
    base_usd: Decimal
    high_usd: Decimal | None

    def part(self, amount: Decimal) -> Interval:
        """Of an amount that has its share of this."""
        if not self.base_usd:
            return Interval(amount, amount, amount)
        low, high = (
            None if end is None else cents(amount * end / self.base_usd) for end in (self.low_usd, self.high_usd)
        )
        return Interval(low, amount, high)


def of_amount(amount: Decimal, physics: Physics) -> Interval:
    """An amount that is in proportion to the machines."""
    low, high = (
        cents(amount * physics.capacity_req_per_s / end) if end else None
        for end in (physics.capacity_high, physics.capacity_low)
    )
    return Interval(low, amount, high)


def of_line(line: CostLine, physics: Physics) -> Interval:
    """One line."""
    fixed = line.category in FIXED
    return Interval(line.amount_usd, line.amount_usd, line.amount_usd) if fixed else of_amount(line.amount_usd, physics)


def summed(parts: Iterable[Interval]) -> Interval:
    """Not known where a part is not."""
    every = list(parts)
    lows, highs = [one.low_usd for one in every], [one.high_usd for one in every]
    return Interval(_sum(lows), _sum([one.base_usd for one in every]) or Decimal("0.00"), _sum(highs))


def headroom(physics: Physics, rate_req_per_s: Decimal) -> Decimal:
    """capacity under the SLO ÷ the rate sized for - 1, nine digits."""
    return nine_digits(physics.capacity_req_per_s / rate_req_per_s - 1)


def _sum(amounts: list[Decimal | None]) -> Decimal | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal("0.00")) if len(known) == len(amounts) else None
