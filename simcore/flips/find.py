"""The flip points of a study's answer and of the first four families."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from simcore.answer.result import StudyResult
from simcore.flips.asked import quantities
from simcore.flips.field import Field, Int64
from simcore.flips.flip import Asked, Flip, Swap
from simcore.flips.quantities import Quantity, leaders
from simcore.flips.walk import stretches
from simcore.search.context import Context
from simcore.what_if.changes import Changes, what_if
from simcore.what_if.untried import count_untried

COMPARED = 4
"""The answer's family and the next three."""
JUST_INSIDE = 1e-6


@dataclass(frozen=True)
class Flips:
    """Where the order changes, of what was simulated."""

    asked: tuple[Asked, ...] = ()
    """All that was followed."""
    families: tuple[str, ...] = ()
    """The first four, in the order of today."""
    answer: tuple[Flip, ...] = ()
    """The nearest value on either side at which another family comes first, nearest of all first."""
    swaps: tuple[Swap, ...] = ()
    """Of the four: the nearest value on either side at which each of them changes places with another."""


def flips(result: StudyResult, context: Context | None = None) -> Flips:
    """Of a study that has an answer, else nothing. ``context``: the study's own, to tell which designs that were never
    tried could come first before a flip is reached."""
    if result.winner is None:
        return Flips()
    every = quantities(result)
    found = _of_answer(every)
    if context is not None:
        found = replace(found, answer=tuple(replace(f, untried=_untried(result, context, f)) for f in found.answer))
    first = leaders(every[0], every[0].asked.now)[:COMPARED]
    families = tuple(_name(every[0], index) for index in first)
    swaps = [swap for quantity in every for upward in (True, False) for swap in _swaps(quantity, upward, families)]
    return replace(found, families=families, swaps=tuple(swaps))


def answer_flips(result: StudyResult) -> Flips:
    """Those of the answer alone."""
    return _of_answer(quantities(result)) if result.winner else Flips()


def _of_answer(every: Sequence[Quantity]) -> Flips:
    found = [flip for quantity in every for upward in (True, False) if (flip := _flip(quantity, upward)) is not None]
    return Flips(tuple(quantity.asked for quantity in every), answer=tuple(sorted(found, key=_apart)))


def _flip(quantity: Quantity, upward: bool) -> Flip | None:
    """None where the answer's family stays first over the whole range."""
    field, own = quantity.field, None
    for stretch in stretches(quantity, upward):
        best = _family(field, stretch.leaders)
        if own is None:
            own = best
        elif best != own:
            name = field.design_ids[stretch.leaders[0]] if len(stretch.leaders) else ""
            return Flip(quantity.asked, upward, stretch.start, name)
    return None


def _family(field: Field, found: Int64) -> int:
    return int(field.family[found[0]]) if len(found) else -1


def _swaps(quantity: Quantity, upward: bool, families: Sequence[str]) -> Iterator[Swap]:
    """Of each family the first change of places with another of them, each pair once."""
    before: list[str] | None = None
    changed: set[str] = set()
    for stretch in stretches(quantity, upward):
        now = [name for index in stretch.leaders if (name := _name(quantity, index)) in families]
        if before is not None:
            for front, behind in _passed(before, now):
                if not {front, behind} & changed:
                    yield Swap(quantity.asked, upward, stretch.start, front, behind)
                changed |= {front, behind} - {""}
        before = now
        if len(changed) == len(families):
            return


def _passed(before: Sequence[str], now: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(in front until now, in front from now on): pairs whose order changed; what left is passed by nobody ("")."""
    for place, front in enumerate(before):
        if front not in now:
            yield front, ""
            continue
        for behind in before[place + 1 :]:
            if behind in now and now.index(behind) < now.index(front):
                yield front, behind


def _name(quantity: Quantity, index: Any) -> str:
    return quantity.field.families[int(quantity.field.family[index])]


def _untried(result: StudyResult, context: Context, flip: Flip) -> int:
    """How many may come first just before the flip."""
    inside = flip.value * (1 - JUST_INSIDE if flip.is_above else 1 + JUST_INSIDE)
    return count_untried(context, what_if(result, changes_of(flip.asked, inside)))


def changes_of(asked: Asked, value: float) -> Changes:
    """What is otherwise, where ``asked`` has another value."""
    if asked.machine:
        return Changes(usd_per_hour={asked.machine: Decimal(repr(value))})
    return Changes(**{asked.kind: Decimal(repr(value)) if asked.kind == "usd_per_kwh" else value})  # type: ignore[arg-type]


def _apart(flip: Flip) -> float:
    """How far it is off: as a share, of a tariff of 0 in tenths of a dollar."""
    if not flip.asked.now:
        return flip.value / 0.1
    return max(flip.value / flip.asked.now, flip.asked.now / max(flip.value, 1e-12)) - 1
