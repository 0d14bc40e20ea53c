"""Which of several answers is cheaper and by how much, as sentences that claim nothing within the noise.

The noise of a difference is that of both capacities, with what moves both alike taken out (``simcore.trust.ties``): a
design that turns out to hold less needs as many more machines. Designs of one kind for questions alike in all that is
simulated differ by counts alone, and so for certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import exp

from simcore.answer.result import StudyResult
from simcore.comparing.inputs import Side, simulated_inputs
from simcore.economics.hourly import SECONDS_PER_HOUR, usd_per_month
from simcore.rows import DesignRow
from simcore.trust.ties import apart, kind_of
from simcore.words import dollars, listed, number, percent

A_THOUSAND = 1000
CHOICES = frozenset({"machines", "designs to try"})
"""Kinds of inputs that say what may be tried, and change nothing of a design that was."""


@dataclass(frozen=True)
class Choice:
    """A design of a study among those compared; None: the study has no answer."""

    name: str
    side: Side
    row: DesignRow | None
    is_answer: bool = True

    @property
    def result(self) -> StudyResult:
        return self.side.result

    @property
    def stands(self) -> bool:
        """Whether it does what its question asks."""
        return self.row is not None and bool(self.row.met)


@dataclass(frozen=True)
class Noise:
    """How far the first's capacity over the second's may be lower, and higher, in logarithms at 90 %."""

    down: float = 0.0
    up: float = 0.0

    def span(self, ratio: float) -> tuple[float, float]:
        """Of the share by which a first figure is less than a second, of which it is ``ratio`` times by what was
        simulated; a figure that falls as more is held."""
        return 1 - ratio * exp(self.down), 1 - ratio * exp(-self.up)

    def hides(self, ratio: float) -> bool:
        """Whether it is not known which of the two is less."""
        low, high = self.span(ratio)
        return low <= 0 <= high


def noise(first: Choice, second: Choice) -> Noise:
    """None for designs that differ by counts of machines alone."""
    if first.row is None or second.row is None:
        return Noise()
    otherwise = {one.kind for one in simulated_inputs(first.side, second.side)} - CHOICES
    if kind_of(first.row) == kind_of(second.row) and not otherwise:
        return Noise()
    mine = first.result.margins.get(first.row.design_id)
    theirs = second.result.margins.get(second.row.design_id)
    return Noise(*apart(mine, theirs)) if mine and theirs else Noise()


def verdict(choices: Sequence[Choice]) -> list[str]:
    """The cheapest against the others, by what a month costs and, where they serve different rates, by what a request
    costs; then what cannot be compared, and why."""
    standing = [choice for choice in choices if choice.stands]
    said = []
    if len(standing) > 1:
        said += _ranked(standing)
        if len({choice.result.spec.rate_req_per_s for choice in standing}) > 1:
            said += _by_request(standing)
    return [*said, *(_unable(choice) for choice in choices if not choice.stands)]


def month_of(choice: Choice) -> Decimal:
    """$ a month of a choice that has a design."""
    return usd_per_month(choice.row.usd_per_hour) if choice.row else Decimal(0)


def usd_per_1000_requests(choice: Choice) -> float:
    """At the rate that its question requires, whatever it could hold."""
    hourly = float(choice.row.usd_per_hour) if choice.row else 0.0
    return hourly / SECONDS_PER_HOUR / choice.result.spec.rate_req_per_s * A_THOUSAND


def _ranked(standing: Sequence[Choice]) -> list[str]:
    cheapest, *others = sorted(standing, key=month_of)
    return [_month_against(cheapest, other) for other in others]


def _month_against(first: Choice, second: Choice) -> str:
    less = month_of(second) - month_of(first)
    month = f"{dollars(month_of(first))} a month"
    if not less:
        return f"{first.name} and {second.name} cost the same: {month}."
    ratio, unsure = float(month_of(first) / month_of(second)), noise(first, second)
    share = f"{percent(1 - ratio)}{_span(unsure, ratio)}"
    if unsure.hides(ratio):
        return (
            f"{first.name} and {second.name} are tied in cost: by what was simulated {first.name} costs"
            f" {dollars(less)} a month less, {share}, which is within the noise."
        )
    return (
        f"{first.name} costs {dollars(less)} a month less than {second.name}: {share}, {month} against"
        f" {dollars(month_of(second))}."
    )


def _by_request(standing: Sequence[Choice]) -> list[str]:
    order = sorted(standing, key=usd_per_1000_requests)
    each = [
        f"{one.name} {_cents(usd_per_1000_requests(one))} for {number(one.result.spec.rate_req_per_s, 6)} requests/s"
        for one in order
    ]
    tied = [
        f"{one.name} and {other.name}"
        for one, other in pairwise(order)
        if noise(one, other).hides(usd_per_1000_requests(one) / usd_per_1000_requests(other))
    ]
    within = f"; within the noise of each other: {listed(tied)}" if tied else ""
    return [f"They serve different rates. 1,000 requests cost {listed(each)}{within}."]


def _span(unsure: Noise, ratio: float) -> str:
    low, high = (_whole(share) for share in unsure.span(ratio))
    return f" ({low} to {high}, 9 times in 10)" if low != high else ""


def _whole(share: float) -> str:
    text = f"{100 * share:.0f}"
    return "0" if text == "-0" else text


def _unable(choice: Choice) -> str:
    if choice.row is None:
        return f"{choice.name} has no answer: no design that was tried holds its question."
    reason = choice.row.reason or "it was not simulated at the required rate"
    return f"{choice.name} does not do what its question asks: {reason}."


def _cents(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 0.1 else f"${number(usd)}"
