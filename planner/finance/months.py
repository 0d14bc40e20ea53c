"""Costs over the months by category and by pool, each as a chart and a table, and how the two cross."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.finance.figures import by_month, stacked
from planner.finance.words import CATEGORY_NAMES, POOL_NAMES
from planner.numerals import cents
from simcore.economics.lines import CATEGORIES, CostLine, total

Json = dict[str, Any]
BY = {"category": "by category", "pool": "by pool"}
NOTHING = "–"


@dataclass(frozen=True)
class Stack:
    """The months by one of the two."""

    of: str
    lines: Sequence[CostLine]
    periods: Sequence[str]

    @property
    def title(self) -> str:
        return BY[self.of]

    @property
    def figure(self) -> Json:
        return by_month(self.lines, self.of)

    @property
    def heads(self) -> list[str]:
        return list(stacked(self.lines, self.of))

    @property
    def rows(self) -> list[tuple[str, list[str], str]]:
        """A month, its amounts under ``heads``, their sum."""
        stacks = stacked(self.lines, self.of)
        return [(period, self._amounts(stacks, period), self._sum(stacks, period)) for period in self.periods]

    @property
    def sums(self) -> list[str]:
        """Of all months, under ``heads`` and of all."""
        stacks = stacked(self.lines, self.of)
        return [*(cents(sum(amounts.values(), Decimal(0))) for amounts in stacks.values()), cents(total(self.lines))]

    @property
    def words(self) -> str:
        """The chart in a sentence."""
        stacks = stacked(self.lines, self.of)
        parts = ", ".join(f"{name.lower()} {cents(sum(amounts.values()))}" for name, amounts in stacks.items())
        return f"{self.periods[0]} to {self.periods[-1]}, all months: {parts}."

    def _amounts(self, stacks: dict[str, dict[str, Decimal]], period: str) -> list[str]:
        return [cents(amounts.get(period, Decimal(0))) for amounts in stacks.values()]

    def _sum(self, stacks: dict[str, dict[str, Decimal]], period: str) -> str:
        return cents(sum((amounts.get(period, Decimal(0)) for amounts in stacks.values()), Decimal(0)))


@dataclass(frozen=True)
class Crossed:
    """Each pool's categories over all months."""

    lines: Sequence[CostLine]

    @property
    def heads(self) -> list[str]:
        return [CATEGORY_NAMES[name] for name in self._categories]

    @property
    def rows(self) -> list[tuple[str, list[str], str]]:
        """A pool, its amounts under ``heads``, their sum; at last all pools."""
        pools = list(dict.fromkeys(line.pool for line in self.lines))
        named = [(POOL_NAMES.get(pool, pool), [line for line in self.lines if line.pool == pool]) for pool in pools]
        return [self._row(name, lines) for name, lines in (*named, ("All", self.lines))]

    @property
    def _categories(self) -> list[str]:
        found = {line.category for line in self.lines}
        return [name for name in CATEGORIES if name in found]

    def _row(self, name: str, lines: Sequence[CostLine]) -> tuple[str, list[str], str]:
        amounts = []
        for category in self._categories:
            own = [line for line in lines if line.category == category]
            amounts.append(cents(total(own)) if own else NOTHING)
        return name, amounts, cents(total(lines))
