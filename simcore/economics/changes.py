"""Why a plan costs another amount than one that was approved: by each input that changed, to the cent.

A plan is physics (a design and those that follow it as traffic grows) and assumptions. From the first to the second one
kind of input after the other is changed, in the order of ``ORDER``, all before it changed already; after each the lines
of all months are made anew, and what their sum changes by is the effect of that kind. So the effects add up to the
whole difference exactly. Another order would give other effects: the order is part of the definition. Kinds after which
the lines cannot be made (a price is missing, no design holds the last months' traffic) are told as one with the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from simcore.economics.assumptions import Assumptions
from simcore.economics.cost_sheet import CostSheet, cost_sheet
from simcore.economics.lines import View, total
from simcore.economics.months import Month
from simcore.economics.physics import Physics
from simcore.spec import SpecError, decode, encode

Json = dict[str, Any]
FIELDS: dict[str, tuple[str, ...]] = {
    "months": ("demand.start", "demand.months"),
    "growth": ("demand.growth_per_month",),
    "duty cycle": ("demand.duty_cycle",),
    "prices": ("machines.",),
    "tariff": ("facility.usd_per_kwh", "facility.pays_for"),
    "PUE": ("facility.pue",),
    "terms": ("terms.",),
    "bought machines": ("ownership.",),
    "colocation": ("facility.colocation_usd_per_kw_month",),
    "overheads": ("overheads.",),
    "discount rate": ("annual_discount_rate",),
}
"""Kind → fields of ``Assumptions``, or beginnings of their names. All else (allocation, API, carbon, cost centres)
divides or compares amounts and moves none."""
BEFORE = ("months", "growth", "duty cycle")
"""Kinds that come before those of the question."""
WITH = ("prices", "tariff", "PUE")
"""Kinds that a question has too: one effect of both."""
AFTER = tuple(kind for kind in FIELDS if kind not in (*BEFORE, *WITH))


@dataclass(frozen=True)
class Plan:
    """What lines are made of."""

    steps: tuple[Physics, ...]
    """In order of capacity; the first month's rate is the first one's."""
    assumptions: Assumptions

    def total(self, view: View) -> Decimal:
        """Of all months. SpecError where a price is missing."""
        return total(self._sheet().lines(view))

    def uncovered(self) -> Month | None:
        """The first month whose traffic no step holds."""
        return self._sheet().timeline.uncovered

    def _sheet(self) -> CostSheet:
        return cost_sheet(self.steps, self.steps[0].rate_req_per_s, self.assumptions)


@dataclass(frozen=True)
class Stage:
    """A part of the question that is otherwise, and the designs that answer it then."""

    kind: str
    inputs: tuple[str, ...]
    """What is otherwise, in words."""
    steps: tuple[Physics, ...]


@dataclass(frozen=True)
class Moved:
    """A field of the assumptions that is otherwise. ``path``: ``facility.pue``, ``machines.dgx-h100.capex_usd``."""

    path: str
    before: Any
    """As JSON has it; None: not given."""
    after: Any


@dataclass(frozen=True)
class Effect:
    """What one kind of input, or several that cannot be told apart, changes."""

    kinds: tuple[str, ...]
    asked: tuple[str, ...]
    """Inputs of the question, in words."""
    moved: tuple[Moved, ...]
    """Of the assumptions."""
    usd: Decimal
    after_usd: Decimal
    """What the plan costs with it."""
    design: str
    """That serves the first month with it."""


@dataclass(frozen=True)
class Changes:
    """``sum(effects) = after_usd - before_usd``, to the cent."""

    before_usd: Decimal
    after_usd: Decimal
    effects: tuple[Effect, ...]
    beside: tuple[Moved, ...] = ()
    """Fields that are otherwise and move no amount."""

    @property
    def difference_usd(self) -> Decimal:
        return self.after_usd - self.before_usd


@dataclass(frozen=True)
class _Move:
    kind: str
    asked: tuple[str, ...]
    moved: tuple[Moved, ...]
    steps: tuple[Physics, ...] | None


def changes(before: Plan, after: Plan, stages: Sequence[Stage], view: View) -> Changes:
    """``stages``: from the first design to the second, in order; the last one's steps are taken to be the second's. One
    of kind ``growth`` says which designs follow the first one as traffic grows otherwise. SpecError where the lines of
    either plan cannot be made."""
    differ = moved_fields(before.assumptions, after.assumptions)
    start, end = before.total(view), after.total(view)
    gaps = (None, before.uncovered(), after.uncovered())
    values, steps, reached = _with_all_machines(before.assumptions, after.assumptions), before.steps, start
    effects: list[Effect] = []
    pending: list[_Move] = []
    moves = list(_moves(differ, _ending(stages, before.steps, after.steps)))
    for place, move in enumerate(moves):
        pending.append(move)
        steps = move.steps or steps
        _apply(values, move.moved, encode(after.assumptions))
        is_last = place == len(moves) - 1
        found = end if is_last else _total_of(Plan(steps, decode(Assumptions, values)), view, gaps)
        if found is None:
            continue
        effects.append(
            Effect(
                tuple(dict.fromkeys(one.kind for one in pending)),
                tuple(words for one in pending for words in one.asked),
                tuple(field for one in pending for field in one.moved),
                found - reached,
                found,
                steps[0].label,
            )
        )
        reached, pending = found, []
    known = {field.path for move in moves for field in move.moved}
    return Changes(start, end, tuple(effects), tuple(field for field in differ if field.path not in known))


def moved_fields(before: Assumptions, after: Assumptions) -> list[Moved]:
    """All that is otherwise, in the order of the fields; of machines that one plan alone has, nothing."""
    was, now = _flat(before), _flat(after)
    ours, theirs = ({one.machine for one in plan.machines} for plan in (before, after))
    alone = ours ^ theirs
    return [
        Moved(path, was.get(path), now.get(path))
        for path in dict.fromkeys([*was, *now])
        if not _same(was.get(path), now.get(path))
        and not (path.startswith("machines.") and path.split(".")[1] in alone)
    ]


def _ending(stages: Sequence[Stage], before: tuple[Physics, ...], after: tuple[Physics, ...]) -> list[Stage]:
    """With the second design at their end."""
    if stages:
        last = stages[-1]
        return [*stages[:-1], Stage(last.kind, last.inputs, after)]
    return [Stage("physics", (), after)] if before != after else []


def _moves(differ: Sequence[Moved], stages: Sequence[Stage]) -> Iterator[_Move]:
    """In order: months and their traffic, the question, prices with what it asks of them, then how it is paid."""
    grown = {stage.kind: stage.steps for stage in stages if stage.kind in BEFORE}
    for kind in BEFORE:
        if fields := _of_kind(differ, kind):
            yield _Move(kind, (), fields, grown.pop(kind, None))
    left = {kind: _of_kind(differ, kind) for kind in WITH}
    for stage in stages:
        if stage.kind not in BEFORE or stage.kind in grown:
            yield _Move(stage.kind, stage.inputs, left.pop(stage.kind, ()), stage.steps)
    for kind in (*WITH, *AFTER):
        fields = left.get(kind, ()) if kind in WITH else _of_kind(differ, kind)
        if fields:
            yield _Move(kind, (), fields, None)


def _of_kind(differ: Sequence[Moved], kind: str) -> tuple[Moved, ...]:
    return tuple(
        field
        for field in differ
        if any(field.path == name or (name.endswith(".") and field.path.startswith(name)) for name in FIELDS[kind])
    )


def _total_of(plan: Plan, view: View, gaps: Sequence[Month | None]) -> Decimal | None:
    """None where it does not serve the months that either plan serves, or lacks a price."""
    try:
        return plan.total(view) if plan.uncovered() in gaps else None
    except SpecError:
        return None


def _with_all_machines(before: Assumptions, after: Assumptions) -> Json:
    """The first ones, with the machines that the second alone has: what the designs between the two may be of."""
    values, known = _plain(before), {one.machine for one in before.machines}
    values["machines"] += [machine for machine in _plain(after)["machines"] if machine["machine"] not in known]
    return values


def _apply(values: Json, moved: Sequence[Moved], after: Json) -> None:
    """Fields take their later values; of machines whole, as quotes and prices belong together."""
    theirs = {machine["machine"]: machine for machine in after["machines"]}
    for field in moved:
        if field.path.startswith("machines."):
            name = field.path.split(".")[1]
            given = {key: value for key, value in theirs[name].items() if key != "taken"}
            values["machines"] = [given if one["machine"] == name else one for one in values["machines"]]
            continue
        part, _, name = field.path.rpartition(".")
        (values[part] if part else values)[name] = deepcopy(field.after)


def _plain(assumptions: Assumptions) -> Json:
    values: Json = encode(assumptions)
    for machine in values["machines"]:
        del machine["taken"]  # follows from the plan
    return values


def _flat(assumptions: Assumptions) -> dict[str, Any]:
    """Field → value; of a machine's quotes one a term, by its name and price."""
    values = _plain(assumptions)
    machines = values.pop("machines")
    found = dict(_leaves(values, ""))
    for machine in machines:
        of, quotes = f"machines.{machine.pop('machine')}.", machine.pop("quotes")
        found |= {f"{of}{name}": value for name, value in machine.items()}
        found |= {f"{of}quotes.{quote['offer']['term']}": quote for quote in quotes}
    return found


def _same(was: Any, now: Any) -> bool:
    """Amounts are text in JSON: 0.10 is 0.1."""
    if was == now:
        return True
    if not (isinstance(was, str) and isinstance(now, str)):
        return False
    try:
        return Decimal(was) == Decimal(now)
    except InvalidOperation:
        return False


def _leaves(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
