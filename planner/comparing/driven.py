"""Where the differences between those compared are from, as the page shows it: steps in the order that the reader
chose, by way of answers to what lies between, and what may be asked to tell apart what no stored result tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from planner.comparing.columns import Column
from planner.comparing.halfway import may_be_asked
from planner.numerals import duration
from planner.studies.predicted import again_s
from planner.studies.results import progress
from simcore.comparing.drivers import ORDER, Drivers, Step, between, drivers, machine_steps, sentence


@dataclass(frozen=True)
class Driven:
    """What the difference of one column from the baseline comes from."""

    column: Column
    found: Drivers
    words: str
    same_study: bool
    """Two designs of one study: their machines differ, and nothing of what was asked."""
    way: tuple[Column, ...] = ()
    """Answers to what lies between, by way of which it is told."""
    rows: tuple[Row, ...] = ()
    apart: Apart | None = None


@dataclass(frozen=True)
class Row:
    """A step, and the address of the same page with it one earlier."""

    step: Step
    earlier: str


@dataclass(frozen=True)
class Apart:
    """What may be simulated to tell apart what one step holds together."""

    first: Column
    second: Column
    kinds: tuple[str, ...]
    seconds: str
    """How long one of them takes, about."""


@dataclass(frozen=True)
class Telling:
    columns: Sequence[Column]
    baseline: Column
    order: tuple[str, ...]
    may_ask: bool
    reordered: Callable[[str], str]
    """The same page in another order of steps."""

    @property
    def every(self) -> list[Driven]:
        """Of each column but the baseline, where there is anything to tell."""
        found = [self._driven(column) for column in self.columns if column is not self.baseline]
        return [one for one in found if one is not None]

    def _driven(self, column: Column) -> Driven | None:
        first = self.baseline
        if first.study.pk == column.study.pk:
            if not (first.row and column.row):
                return None
            same = machine_steps(first.result, first.row, column.row)
            return Driven(column, same, sentence(same, first.name, column.name), True, (), self._rows(same))
        way = self._way(first, column)
        chosen = {"before": first.row, "after": column.row}
        found = drivers(first.side, column.side, **chosen, by_way_of=[one.side for one in way], order=self.order)
        if found is None:
            return None
        words = sentence(found, first.name, column.name)
        return Driven(column, found, words, False, tuple(way), self._rows(found), self._apart([first, *way, column]))

    def _way(self, first: Column, last: Column) -> list[Column]:
        """Answers among those compared that ask what lies between two of them."""
        others = [(column.side, column) for column in self.columns if column.is_answer]
        found = between(first.side, last.side, [side for side, _ in others])
        return [column for one in found for side, column in others if side is one]

    def _rows(self, found: Drivers) -> tuple[Row, ...]:
        applied = [step.kind for step in found.steps if step.kind in self.order and not step.is_simulated]
        return tuple(
            Row(step, self._earlier(step.kind, applied)) if step.kind in applied else Row(step, "")
            for step in found.steps
        )

    def _earlier(self, kind: str, applied: Sequence[str]) -> str:
        """Empty for the first."""
        place = applied.index(kind)
        if not place or applied.count(kind) > 1:
            return ""
        order = [one for one in self.order if one != kind]
        order.insert(order.index(applied[place - 1]), kind)
        return self.reordered(".".join(order))

    def _apart(self, way: Sequence[Column]) -> Apart | None:
        """Of the first leg that holds several kinds together, what may be asked to divide it."""
        for first, second in pairwise(way):
            found = drivers(first.side, second.side) if self.may_ask else None
            kinds = found.steps[-1].kinds if found and found.steps else ()
            asked = tuple(kind for kind in kinds if may_be_asked(kind, first.study, second.study))
            if len(kinds) > 1 and asked:
                takes = max(again_s(one.study, progress(one.study))[0] for one in (first, second))
                return Apart(first, second, asked, duration(takes))
        return None


def order_of(text: str) -> tuple[str, ...]:
    """The steps named, and then the others in their own order."""
    named = dict.fromkeys(kind for kind in text.split(".") if kind in ORDER)
    return (*named, *(kind for kind in ORDER if kind not in named))
