"""Quotes in a plan: which number of machines picks the break, and the prices that follow.

A quote is used because somebody chose it, also after it has expired: its price does not change with the day on which a
plan is looked at, how it stands does (``Offer.standing``) and is said beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from simcore.economics.assumptions import PRICE_OF, Assumptions, MachineCost, Term, Terms
from simcore.economics.physics import Physics
from simcore.economics.taken import Chosen, Taken, taken
from simcore.spec import Offer, Standing


def quoted(assumptions: Assumptions, physics: Physics) -> Assumptions:
    """With the prices of the quotes chosen, for the machines of the plan's first design."""
    if not any(one.quotes for one in assumptions.machines):
        return assumptions
    machines = tuple(_quoted(one, assumptions, physics) for one in assumptions.machines)
    return replace(assumptions, machines=machines)


def break_count(physics: Physics, machine: str, term: Term, terms: Terms) -> int:
    """How many machines of a kind are taken under a term at first, in all pools; where none are, as when a plan is
    compared with another, all of the design's."""
    counts = [pool.machines for pool in physics.pools if pool.machine == machine]
    base = sum(_base(count, terms.base_share) for count in counts) if terms.base != "on_demand" else 0
    under = {terms.base: base, "on_demand": sum(counts) - base}
    return under.get(term, 0) or sum(counts)


def without_discounts(assumptions: Assumptions) -> Assumptions:
    """The same at the quotes' prices before discount."""
    machines = tuple(replace(one, quotes=tuple(map(_undiscounted, one.quotes))) for one in assumptions.machines)
    return replace(assumptions, machines=machines)


@dataclass(frozen=True)
class Said:
    """A quote of a plan, as it stood on the plan's own day."""

    machine: str
    row: str
    taken: Taken
    standing: Standing


def quotes_said(assumptions: Assumptions, day: date) -> Sequence[Said]:
    """Of assumptions that are ``quoted``: every quote chosen."""
    return [
        Said(one.machine, one.row_of(took.offer.term), took, took.offer.standing(day))
        for one in assumptions.machines
        for took in one.taken
    ]


def standing_words(offer: Offer, day: date, when: str) -> str:
    """``expired on 2027-01-31, before 2027-02-03 (today)``; empty where it holds."""
    standing = offer.standing(day)
    if standing == "expired":
        return f"expired on {offer.valid_to}, before {day.isoformat()} ({when})"
    return f"not valid before {offer.valid_from}, after {day.isoformat()} ({when})" if standing == "not_yet" else ""


def _quoted(cost: MachineCost, assumptions: Assumptions, physics: Physics) -> MachineCost:
    if not any(pool.machine == cost.machine for pool in physics.pools):
        return cost
    found = tuple(
        taken(chosen, break_count(physics, cost.machine, chosen.offer.term, assumptions.terms))
        for chosen in cost.quotes
    )
    prices: dict[str, Any] = {PRICE_OF[one.offer.term]: one.net_usd for one in found}
    support = next((one.support_usd for one in found if one.support_usd), cost.support_usd_per_year)
    return replace(cost, taken=found, support_usd_per_year=support, **prices)


def _undiscounted(chosen: Chosen) -> Chosen:
    return replace(chosen, offer=replace(chosen.offer, discount=Decimal(0)))


def _base(machines: int, share: Decimal) -> int:
    return int((machines * share).to_integral_value(ROUND_FLOOR))
