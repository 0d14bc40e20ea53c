"""What of the difference in $ a month between two studies' answers comes from which input.

From the first study's answer to the second's in steps, each with its own answer and each beginning where the one
before it ended, so that the changes add up to the whole difference exactly. Prices, tariff, PUE, limits, goal and rate
are applied, in this order, to what was simulated for the first study: exact. What is left is one step, and comes from
all that needs a simulation: of one input alone it is that input's own, by elimination. Where the rate alone is left,
the second study's own designs tell its effect. A step after which no design that was tried would do cannot be told
apart, and is left to the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from simcore import fleet
from simcore.answer.result import StudyResult, study_result
from simcore.catalogue import resolve_machine
from simcore.comparing.inputs import Input, Side, simulated_inputs
from simcore.economics.hourly import usd_per_month
from simcore.evaluation import Evaluation
from simcore.rows import DesignRow
from simcore.shortfalls import POWER_WORDS
from simcore.spec import PriceBook, StudySpec
from simcore.what_if.changes import at_another_rate
from simcore.words import dollars, listed, number

ANEW = "simulated anew"
"""Of several inputs together."""
TRIED = "designs tried"
"""Where all inputs are the same, and other designs were tried."""


@dataclass(frozen=True)
class Step:
    """One part of the difference."""

    kind: str
    """``prices``, ``tariff``, ``PUE``, ``limits``, ``goal``, ``rate``; else what was simulated otherwise."""
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


@dataclass(frozen=True)
class Drivers:
    """All of the difference. ``steps`` is empty where nothing differs."""

    start: Decimal
    end: Decimal
    steps: tuple[Step, ...]

    @property
    def change(self) -> Decimal:
        return self.end - self.start


@dataclass(frozen=True)
class State:
    spec: StudySpec
    book: PriceBook


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


Move = Callable[[State, State], State]


def drivers(first: Side, second: Side) -> Drivers | None:
    """None where either has no answer: then there is no difference."""
    before, after = first.result.winner, second.result.winner
    if before is None or after is None:
        return None
    anew = simulated_inputs(first, second)
    steps, left = _recomputed(first.result, second.result, rate_is_left=not anew)
    reached = steps[-1].usd_per_month if steps else _month(before)
    end = _month(after)
    rest = [*left, *anew]
    if rest or reached != end or (steps and steps[-1].answer != after.label):
        words = tuple(dict.fromkeys(one.words for one in rest)) or (_tried(first.result, second.result),)
        steps = [*steps, Step(_kind(rest), words, after.label, end, end - reached, True)]
    return Drivers(_month(before), end, tuple(steps))


def _recomputed(first: StudyResult, second: StudyResult, *, rate_is_left: bool) -> tuple[list[Step], list[Input]]:
    """The steps that follow from the first study's evaluations, and the inputs whose step does not."""
    target, state = State(second.spec, second.book), State(first.spec, first.book)
    reached = _month(first.winner) if first.winner else Decimal(0)
    steps: list[Step] = []
    left: list[Input] = []
    for kind, move in MOVES.items():
        then = move(state, target)
        if not (said := tuple(WORDS[kind](state, then))):
            continue
        found = None if kind == "rate" and rate_is_left else _answer(first, then)
        if found is None:
            left += [Input(kind, words) for words in said]
            continue
        steps.append(Step(kind, said, found.label, _month(found), _month(found) - reached, False))
        state, reached = then, _month(found)
    return steps, left


def _answer(first: StudyResult, state: State) -> DesignRow | None:
    """By what was simulated for the first study."""
    rate = state.spec.rate_req_per_s
    found: Mapping[str, Evaluation] = first.evaluations
    if rate != first.spec.rate_req_per_s:
        found = at_another_rate(first, rate)
    return study_result(state.spec, tuple(first.designs.values()), found, state.book, margins=first.margins).winner


def _prices(state: State, target: State) -> State:
    """Of the machines that both books have a price of."""
    now = {price.machine: price for price in target.book.prices}
    prices = tuple(now.get(price.machine, price) for price in state.book.prices)
    return replace(state, book=replace(state.book, prices=prices))


def _tariff(state: State, target: State) -> State:
    return replace(state, book=replace(state.book, usd_per_kwh=target.book.usd_per_kwh))


def _pue(state: State, target: State) -> State:
    return replace(state, spec=replace(state.spec, pue=target.spec.pue))


def _limits(state: State, target: State) -> State:
    """With how many there are of the machines of both."""
    on_hand = {resolve_machine(choice.machine).id: choice.on_hand for choice in target.spec.machines}
    machines = tuple(
        replace(choice, on_hand=on_hand.get(resolve_machine(choice.machine).id, choice.on_hand))
        for choice in state.spec.machines
    )
    return replace(state, spec=replace(state.spec, limits=target.spec.limits, machines=machines))


def _goal(state: State, target: State) -> State:
    return replace(state, spec=replace(state.spec, goal=target.spec.goal, size_to=target.spec.size_to))


def _rate(state: State, target: State) -> State:
    return replace(state, spec=replace(state.spec, rate_req_per_s=target.spec.rate_req_per_s))


def _price_words(before: State, after: State) -> Iterator[str]:
    names = {
        resolve_machine(choice.machine).id: resolve_machine(choice.machine).name for choice in before.spec.machines
    }
    for was, now in zip(before.book.prices, after.book.prices, strict=True):
        if was.machine in names and was.usd_per_hour != now.usd_per_hour:
            yield f"{names[was.machine]} ${was.usd_per_hour} → ${now.usd_per_hour} an hour"


def _tariff_words(before: State, after: State) -> Iterator[str]:
    was, now = before.book.usd_per_kwh or Decimal(0), after.book.usd_per_kwh or Decimal(0)
    if was != now:
        said = [f"${usd}/kWh beside the machines" if usd else "in the machines' price" for usd in (was, now)]
        yield f"electricity {' → '.join(said)}"


def _pue_words(before: State, after: State) -> Iterator[str]:
    if before.spec.pue != after.spec.pue:
        yield f"PUE {before.spec.pue:g} → {after.spec.pue:g}"


def _limit_words(before: State, after: State) -> Iterator[str]:
    was, now = before.spec.limits, after.spec.limits
    if (was.power_limit_kw, was.power_kind) != (now.power_limit_kw, now.power_kind):
        said = [
            "none"
            if one.power_limit_kw is None
            else f"{number(one.power_limit_kw, 6)} kW {POWER_WORDS[one.power_kind]}"
            for one in (was, now)
        ]
        yield f"power limit {' → '.join(said)}"
    if was.usd_per_month != now.usd_per_month:
        yield f"budget {_money(was.usd_per_month)} → {_money(now.usd_per_month)} a month"
    for name in ("machines", "racks"):
        if getattr(was, name) != getattr(now, name):
            yield f"most {name} {_count(getattr(was, name))} → {_count(getattr(now, name))}"
    for one, other in zip(before.spec.machines, after.spec.machines, strict=True):
        if one.on_hand != other.on_hand:
            yield f"{resolve_machine(one.machine).name} on hand {_count(one.on_hand)} → {_count(other.on_hand)}"


def _goal_words(before: State, after: State) -> Iterator[str]:
    if before.spec.goal != after.spec.goal:
        yield f"goal {before.spec.goal} → {after.spec.goal}"
    if before.spec.size_to != after.spec.size_to:
        yield f"sized to {' → '.join(one.spec.size_to.replace('_', ' ') for one in (before, after))}"


def _rate_words(before: State, after: State) -> Iterator[str]:
    was, now = before.spec.rate_req_per_s, after.spec.rate_req_per_s
    if was != now:
        yield f"rate {number(was, 6)} → {number(now, 6)} requests/s"


MOVES: dict[str, Move] = {
    "prices": _prices,
    "tariff": _tariff,
    "PUE": _pue,
    "limits": _limits,
    "goal": _goal,
    "rate": _rate,
}
"""In the order in which they are applied."""
WORDS: dict[str, Callable[[State, State], Iterator[str]]] = {
    "prices": _price_words,
    "tariff": _tariff_words,
    "PUE": _pue_words,
    "limits": _limit_words,
    "goal": _goal_words,
    "rate": _rate_words,
}
"""What each changes; nothing where it changes nothing."""


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


def _kind(rest: list[Input]) -> str:
    kinds = dict.fromkeys(one.kind for one in rest)
    return ANEW if len(kinds) > 1 else next(iter(kinds), TRIED)


def _tried(first: StudyResult, second: StudyResult) -> str:
    return f"{len(first.rows)} designs tried against {len(second.rows)}, of the same question"


def _month(row: DesignRow) -> Decimal:
    return usd_per_month(row.usd_per_hour)


def _money(usd: float | None) -> str:
    return "none" if usd is None else dollars(usd)


def _count(value: int | None) -> str:
    return "no limit" if value is None else f"{value:,}"
