"""What of a question can be changed without a simulation, each change as a move of a state towards another question:
prices, tariff, PUE, limits, the goal, the rate, and what may no longer be tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from simcore.catalogue import resolve_machine
from simcore.comparing.inputs import families_gone, gone, machines_gone
from simcore.shortfalls import POWER_WORDS
from simcore.spec import PriceBook, StudySpec
from simcore.words import dollars, number


@dataclass(frozen=True)
class State:
    """A question as far as it is applied to what was simulated."""

    spec: StudySpec
    book: PriceBook


Move = Callable[[State, State], State]


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


def _fewer(state: State, target: State) -> State:
    """Without the machines and families that may be tried no more; all are left where none would be."""
    gone = set(machines_gone(state.spec, target.spec))
    machines = tuple(choice for choice in state.spec.machines if resolve_machine(choice.machine).id not in gone)
    dropped = set(families_gone(state.spec, target.spec))
    kept = target.spec.families if not state.spec.families else state.spec.families
    families = tuple(family for family in kept if family not in dropped)
    if not machines or (kept and not families):
        return state
    return replace(state, spec=replace(state.spec, machines=machines, families=families))


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


def _fewer_words(before: State, after: State) -> Iterator[str]:
    yield from (one.words for one in gone(before.spec, after.spec))


MOVES: dict[str, Move] = {
    "machines": _fewer,
    "prices": _prices,
    "tariff": _tariff,
    "PUE": _pue,
    "limits": _limits,
    "goal": _goal,
    "rate": _rate,
}
"""In the order in which they are applied."""
WORDS: dict[str, Callable[[State, State], Iterator[str]]] = {
    "machines": _fewer_words,
    "prices": _price_words,
    "tariff": _tariff_words,
    "PUE": _pue_words,
    "limits": _limit_words,
    "goal": _goal_words,
    "rate": _rate_words,
}
"""What each changes; nothing where it changes nothing."""


def _money(usd: float | None) -> str:
    return "none" if usd is None else dollars(usd)


def _count(value: int | None) -> str:
    return "no limit" if value is None else f"{value:,}"
