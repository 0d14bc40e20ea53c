"""What has become of the figures since an approval: the difference by input, as chart, table and words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol

from planner.finance.approvals.kept import assumptions_of, lines_of, steps_of, total_of
from planner.finance.approvals.moved import words_of
from planner.finance.approvals.stages import stages_of
from planner.finance.costs import DEFINITION, Costs
from planner.finance.figures import waterfall
from planner.finance.models import Approval
from planner.finance.words import CATEGORY_NAMES, EFFECT_NAMES
from planner.numerals import cents, change
from simcore.economics.changes import Changes, Effect, Plan, changes
from simcore.economics.lines import CATEGORIES, View, total
from simcore.spec import SpecError

Json = dict[str, Any]
WHOLE = "question"


class Amount(Protocol):
    """A cost line, kept or made now."""

    @property
    def category(self) -> str: ...
    @property
    def amount_usd(self) -> Decimal: ...


@dataclass(frozen=True)
class SinceRow:
    """One step from what was approved to what is shown."""

    kinds: tuple[str, ...]
    inputs: tuple[str, ...]
    """What changed, old → new."""
    usd: Decimal
    after_usd: Decimal
    design: str

    @property
    def name(self) -> str:
        kinds = [kind for kind in self.kinds if kind != "physics"] or list(self.kinds)
        names = [EFFECT_NAMES.get(kind, kind[:1].upper() + kind[1:]) for kind in kinds]
        return " and ".join([names[0], *(name[:1].lower() + name[1:] for name in names[1:])])


@dataclass(frozen=True)
class Since:
    """Of one approval and the costs shown, in one view, over all months."""

    approval: Approval
    costs: Costs
    view: View

    @property
    def approved_usd(self) -> Decimal:
        return total_of(self.approval, self.view)

    @property
    def now_usd(self) -> Decimal:
        return total(self.costs.lines(self.view))

    @property
    def difference_usd(self) -> Decimal:
        return self.now_usd - self.approved_usd

    @cached_property
    def _found(self) -> tuple[Changes | None, str]:
        """Where it cannot be told by input, why."""
        try:
            before = Plan(tuple(steps_of(self.approval)), assumptions_of(self.approval))
            stages = stages_of(self.approval, self.costs)
            return changes(before, Plan(tuple(self.costs.steps), self.costs.assumptions), stages, self.view), ""
        except SpecError as error:
            old = self.approval.definition_version
            return None, (
                f"What was approved (definition {old} of the lines, now {DEFINITION}) cannot be worked out anew by this"
                f" version: {error}. So only the whole difference is told"
            )

    @property
    def problem(self) -> str:
        """Why the steps are not told; empty where they are."""
        return self._found[1]

    @cached_property
    def rows(self) -> list[SinceRow]:
        """They add up to the difference, to the cent. None: no input has changed."""
        found, label = self._found[0], self.costs.physics.label
        if found is None:
            return [SinceRow((WHOLE,), (), self.difference_usd, self.now_usd, label)]
        rows = []
        if found.before_usd != self.approved_usd:
            old, usd = self.approval.definition_version, found.before_usd - self.approved_usd
            words = (
                f"definition of the lines {old} → {DEFINITION}"
                if old != DEFINITION
                else "the same inputs, worked out otherwise by this version of Phaseplan"
            )
            design = steps_of(self.approval)[0].label
            rows.append(SinceRow(("definitions",), (words,), usd, found.before_usd, design))
        return [*rows, *map(_row, found.effects)]

    @property
    def beside(self) -> list[str]:
        """Inputs that changed and move no amount."""
        found = self._found[0]
        return [words_of(one) for one in found.beside] if found else []

    @property
    def figure(self) -> Json:
        """Steps of no amount are in the table alone."""
        steps: list[tuple[str, Decimal]] = []
        for row in self.rows:
            again = sum(name.partition(" (")[0] == row.name for name, _ in steps)
            if row.usd:
                steps.append((f"{row.name} ({again + 1})" if again else row.name, row.usd))
        return waterfall(("Approved", self.approved_usd), steps, ("Now", self.now_usd))

    @property
    def words(self) -> str:
        """The chart in a sentence."""
        parts = ", ".join(f"{row.name.lower()} {change(row.usd)}" for row in self.rows if row.usd)
        said = f"{self.view.capitalize()} view, USD, all months: {cents(self.approved_usd)} approved,"
        return f"{said} {cents(self.now_usd)} now{': ' + parts if parts else ''}."

    @property
    def by_category(self) -> list[tuple[str, Decimal, Decimal, Decimal]]:
        """Category in words: approved, now, difference."""
        was, now = _by_category(lines_of(self.approval, self.view)), _by_category(self.costs.lines(self.view))
        known = [name for name in (*CATEGORIES, *was) if name in was or name in now]
        zero = Decimal("0.00")
        return [
            (
                CATEGORY_NAMES.get(name, name),
                was.get(name, zero),
                now.get(name, zero),
                now.get(name, zero) - was.get(name, zero),
            )
            for name in dict.fromkeys(known)
        ]


def _row(effect: Effect) -> SinceRow:
    told = {words.partition(" $")[0] for words in effect.asked}  # a price that the question has is said once
    moved = [words for words in map(words_of, effect.moved) if words.partition(", by the hour ")[0] not in told]
    inputs = dict.fromkeys([*effect.asked, *moved])
    return SinceRow(effect.kinds, tuple(inputs), effect.usd, effect.after_usd, effect.design)


def _by_category(lines: Iterable[Amount]) -> dict[str, Decimal]:
    found: dict[str, Decimal] = {}
    for line in lines:
        found[line.category] = found.get(line.category, Decimal("0.00")) + line.amount_usd
    return found
