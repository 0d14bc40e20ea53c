"""Break-even of each way to have machines that has prices, in words, with how it is come by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.finance import formulas
from planner.finance.costs import Costs
from planner.finance.formulas import Formula
from planner.numerals import cents
from simcore.economics.assumptions import Term
from simcore.economics.break_even import BreakEvenMonth, BreakEvenUse, break_even_month, break_even_use
from simcore.spec import SpecError

HELD: tuple[tuple[Term, str], ...] = (
    ("reserved_1y", "reserved for 1 year"),
    ("reserved_3y", "reserved for 3 years"),
    ("owned", "bought"),
)


@dataclass(frozen=True)
class Told:
    """A figure with the words it is told in."""

    title: str
    words: str
    how: Formula


def break_evens(costs: Costs) -> Iterator[Told]:
    """Of each term that has prices, against machines by the hour."""
    for term, words in HELD:
        of = (costs.steps, costs.physics.rate_req_per_s, costs.assumptions, term)
        try:
            use, month = break_even_use(*of), break_even_month(*of)
        except SpecError:  # no price for this term, or none by the hour
            continue
        said = _words(use, month, costs.assumptions.demand.months)
        yield Told(f"Machines {words}", said, formulas.of_break_even(use, month, _price_rows(costs, term)))


def _price_rows(costs: Costs, term: Term) -> tuple[str, ...]:
    """Where the prices of the design's machines stand, held and by the hour."""
    machines = [costs.sheet.assumptions.machine(pool.machine) for pool in costs.physics.pools]
    return tuple(dict.fromkeys(row for one in machines for row in (one.row_of(term), one.row_of("on_demand"))))


def _words(use: BreakEvenUse, month: BreakEvenMonth, months: int) -> str:
    said = f"{cents(use.held_usd)} in the first month (economic view), against {cents(use.on_demand_usd)} by the hour"
    share = use.share_of_hours
    if share is not None and share <= 1:
        said += f": cheaper where they are needed more than {share * 100:.1f} % of the hours"
    elif share is not None:
        said += ": dearer even where they are needed in every hour"
    paid = f"By the end {cents(month.held_usd)} is paid, against {cents(month.on_demand_usd)}"
    when = f"from {month.month} on no more than by the hour" if month.month else f"never less within {months} months"
    return f"{said}. {paid}; {when}."
