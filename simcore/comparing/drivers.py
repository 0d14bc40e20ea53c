"""What of the difference in $ a month between two studies' answers, or designs of theirs, comes from which input.

From the first to the second in steps, each with its own answer and each beginning where the one before it ended, so
that the changes add up to the whole difference exactly. A design that was chosen in place of its study's answer is a
step of its own, at its end. Between the answers what needs no simulation (``moves``) is applied, in an order that the
reader may choose, to what was simulated for the first study: exact. What is left is one step, and comes from all that
needs a simulation: of one input alone it is that input's own, by elimination. Where the rate alone is left, the second
study's own designs tell its effect. A step after which no design that was tried would do cannot be told apart, and is
left to the last one. A study that asks what lies between (``between``) divides what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

from simcore import fleet
from simcore.answer.result import StudyResult, study_result
from simcore.catalogue import resolve_machine
from simcore.comparing.inputs import Input, Side, gone, simulated_inputs
from simcore.comparing.moves import MOVES, WORDS, State
from simcore.economics.hourly import usd_per_month
from simcore.rows import DesignRow
from simcore.spec import encode
from simcore.what_if.changes import at_another_rate
from simcore.words import dollars, listed

ANEW = "simulated anew"
"""Of several inputs together."""
TRIED = "designs tried"
"""Where all inputs are the same, and other designs were tried."""
CHOICE = "the choice"
"""Of a design in place of an answer."""
ORDER = tuple(MOVES)


@dataclass(frozen=True)
class Step:
    """One part of the difference."""

    kind: str
    """``prices``, ``tariff``, ``PUE``, ``limits``, ``goal``, ``rate``, ``machines``; the choice of a design; else what
    was simulated otherwise."""
    inputs: tuple[str, ...]
    """What is otherwise, in words."""
    answer: str
    """The answer after it."""
    usd_per_month: Decimal
    """What that costs."""
    change: Decimal
    """Against the step before it."""
    is_simulated: bool
    """Told by the second study's own simulations, and not from what was simulated for the first."""
    alone: Decimal | None = None
    """Its change if it were the only input that differs; None where that is not known."""
    kinds: tuple[str, ...] = ()
    """Of what was simulated: all kinds of inputs in it. More than one cannot be told apart without simulating."""
    design_id: str = ""
    """The answer's after it, in ``result``."""
    result: StudyResult | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Drivers:
    """All of the difference. ``steps`` is empty where nothing differs."""

    start: Decimal
    end: Decimal
    steps: tuple[Step, ...]

    @property
    def change(self) -> Decimal:
        return self.end - self.start


def sentence(found: Drivers, first: str, second: str) -> str:
    """``Of the $36,000 a month that B costs more than A: prices −$4,000, rate +$40,000.``"""
    if not found.steps:
        return f"{second} is asked the same as {first} and answered the same."
    only = len(found.steps) == 1
    step = found.steps[0]
    if not found.change:
        whole = f"{second} costs as much as {first}"
    else:
        whole = (
            f"{second} costs {dollars(abs(found.change))} a month {'more' if found.change > 0 else 'less'} than {first}"
        )
    if only and step.kind != ANEW:
        return f"{whole}. All of it comes from one thing that differs, the {step.kind}: {'; '.join(step.inputs)}."
    if only:
        return f"{whole}. It cannot be told apart without simulating: {'; '.join(step.inputs)}."
    parts = [f"{step.kind} {signed(step.change)}" for step in found.steps]
    return f"{whole}: {listed(parts)}."


def signed(change: Decimal) -> str:
    """``+$36,000``, ``−$4,000``, ``$0``."""
    return f"{'+' if change > 0 else '−'}{dollars(abs(change))}" if change else "$0"


def drivers(
    first: Side,
    second: Side,
    *,
    before: DesignRow | None = None,
    after: DesignRow | None = None,
    by_way_of: Sequence[Side] = (),
    order: Sequence[str] = ORDER,
) -> Drivers | None:
    """None where either study has no answer: then there is no difference. ``before``, ``after``: designs chosen in
    place of the answers. ``by_way_of``: answers to what lies between, nearest to the first one first. ``order``: of
    what needs no simulation."""
    start, end = first.result.winner, second.result.winner
    if start is None or end is None:
        return None
    before, after = before or start, after or end
    way = [first, *(one for one in by_way_of if one.result.winner), second]
    answer = f"its study's answer, {start.label}, in place of {before.label}"
    chosen = f"{after.label}{_doubt(after)} in place of its study's answer, {end.label}"
    steps = [
        *_chosen(first.result, before, start, answer),
        *(step for one, other in pairwise(way) for step in _between(one, other, order)),
        *_chosen(second.result, end, after, chosen),
    ]
    return Drivers(_month(before), _month(after), tuple(steps))


def between(first: Side, second: Side, others: Sequence[Side]) -> list[Side]:
    """Of others those that ask what lies between, each between the one before it and the second."""
    found: list[Side] = []
    for other in sorted(others, key=lambda side: _shared(side, second)):
        parts = zip(_parts(found[-1] if found else first), _parts(other), _parts(second), strict=True)
        is_between = all(part in (was, now) for was, part, now in parts)
        if is_between and _parts(other) not in (_parts(first), _parts(second), *map(_parts, found)):
            found.append(other)
    return found


def _parts(side: Side) -> list[object]:
    """All that a study's answer depends on."""
    spec = encode(side.result.spec)
    requests = spec.pop("workload") and side.trace_hash  # however the workload is called
    return [*spec.values(), requests, encode(side.result.book), side.engine_version]


def _shared(side: Side, other: Side) -> int:
    return sum(one == two for one, two in zip(_parts(side), _parts(other), strict=True))


def _chosen(result: StudyResult, was: DesignRow, now: DesignRow, words: str) -> Iterator[Step]:
    if was.design_id != now.design_id:
        change = _month(now) - _month(was)
        yield Step(CHOICE, (words,), now.label, _month(now), change, False, design_id=now.design_id, result=result)


def _doubt(row: DesignRow) -> str:
    return "" if row.met else ", which does not do what its question asks,"


def _between(first: Side, second: Side, order: Sequence[str]) -> list[Step]:
    """From one study's answer to another's."""
    before, after = first.result.winner, second.result.winner
    if before is None or after is None:
        return []
    anew = simulated_inputs(first, second)
    steps, left = _recomputed(first.result, second.result, anew, order)
    reached = steps[-1].usd_per_month if steps else _month(before)
    end = _month(after)
    told = {words for step in steps for words in step.inputs}
    rest = [*left, *(one for one in anew if one.words not in told)]
    if rest or reached != end or (steps and steps[-1].answer != after.label):
        words = tuple(dict.fromkeys(one.words for one in rest)) or (_tried(first.result, second.result),)
        kinds = tuple(dict.fromkeys(one.kind for one in rest))
        kind = ANEW if len(kinds) > 1 else next(iter(kinds), TRIED)
        last = Step(
            kind, words, after.label, end, end - reached, True,
            kinds=kinds, design_id=after.design_id, result=second.result,
        )  # fmt: skip
        steps = [*steps, last]
    return steps


def _recomputed(
    first: StudyResult, second: StudyResult, anew: Sequence[Input], order: Sequence[str]
) -> tuple[list[Step], list[Input]]:
    """The steps that follow from the first study's evaluations, and the inputs whose step does not."""
    start, target = State(first.spec, first.book), State(second.spec, second.book)
    state, reached = start, _month(first.winner) if first.winner else Decimal(0)
    rate_is_left = set(anew) <= set(gone(first.spec, second.spec))
    steps: list[Step] = []
    left: list[Input] = []
    for kind in order:
        then = MOVES[kind](state, target)
        if not (said := tuple(WORDS[kind](state, then))):
            continue
        result = None if kind == "rate" and rate_is_left else _result(first, then)
        found = result.winner if result else None
        if found is None:
            left += [Input(kind, words) for words in said]
            continue
        only = _result(first, MOVES[kind](start, target)).winner
        alone = _month(only) - _month(first.winner) if only and first.winner else None
        change = _month(found) - reached
        steps.append(
            Step(
                kind, said, found.label, _month(found), change, False, alone,
                design_id=found.design_id, result=result,
            )
        )  # fmt: skip
        state, reached = then, _month(found)
    return steps, left


def _result(first: StudyResult, state: State) -> StudyResult:
    """By what was simulated for the first study, of what may still be tried."""
    rate, found = state.spec.rate_req_per_s, first.evaluations
    offered = {resolve_machine(choice.machine).id for choice in state.spec.machines}
    families = state.spec.families
    designs = tuple(
        design
        for design in first.designs.values()
        if set(fleet.machine_counts(design.case)) <= offered and (not families or design.family in families)
    )
    if rate != first.spec.rate_req_per_s:
        found = at_another_rate(first, rate)
    kept = {design.design_id: found[design.design_id] for design in designs}
    return study_result(state.spec, designs, kept, state.book, margins=first.margins)


def machine_steps(first: StudyResult, before: DesignRow, after: DesignRow) -> Drivers:
    """Of two designs of one study: the machines that one has more of, at their price, and their electricity."""
    was, now = (fleet.machine_counts(first.designs[row.design_id].case) for row in (before, after))
    names = {resolve_machine(choice.machine).id: resolve_machine(choice.machine).name for choice in first.spec.machines}
    reached, end, steps = _month(before), _month(after), []
    for machine in dict.fromkeys([*was, *now]):
        more = now.get(machine, 0) - was.get(machine, 0)
        if more:
            price = first.book.price(machine).usd_per_hour
            change = usd_per_month(price * more)
            reached += change
            words = f"{abs(more)} {'more' if more > 0 else 'fewer'} at ${price} an hour"
            steps.append(Step(names.get(machine, machine), (words,), after.label, reached, change, False))
    if reached != end:
        words = "of what each draws at the required rate"
        steps.append(Step("electricity", (words,), after.label, end, end - reached, False))
    return Drivers(_month(before), end, tuple(steps))


def _tried(first: StudyResult, second: StudyResult) -> str:
    return f"{len(first.rows)} designs tried against {len(second.rows)}, of the same question"


def _month(row: DesignRow) -> Decimal:
    return usd_per_month(row.usd_per_hour)
