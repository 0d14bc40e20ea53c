"""What an approval keeps of the figures, as plain JSON: the design's physics, the assumptions with the prices as they
were, and each line's amount in each view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args

from planner.finance.costs import Costs
from planner.finance.models import Approval
from simcore.economics.assumptions import Assumptions
from simcore.economics.lines import View, total
from simcore.economics.physics import Physics
from simcore.spec import decode, encode

Json = dict[str, Any]
VIEWS: tuple[View, ...] = get_args(View)
COLUMNS = ("period", "pool", "machine", "category", "amount_usd")


@dataclass(frozen=True)
class KeptLine:
    """A cost line without how it was come by."""

    period: str
    pool: str
    machine: str
    category: str
    amount_usd: Decimal


def keep(costs: Costs) -> Json:
    """``Approval.kept``. SpecError where the terms need a price that is not known."""
    assumptions = encode(costs.assumptions)
    for machine in assumptions["machines"]:
        del machine["taken"]  # follows from the plan
    return {
        "steps": [encode(step) for step in costs.steps],
        "assumptions": assumptions,
        "months": [str(need.month) for need in costs.sheet.timeline.needs],
        "totals": {view: str(total(costs.lines(view))) for view in VIEWS},
    }


def keep_lines(costs: Costs) -> Json:
    """``Approval.lines``."""
    return {view: [[str(getattr(line, name)) for name in COLUMNS] for line in costs.lines(view)] for view in VIEWS}


def steps_of(approval: Approval) -> list[Physics]:
    """SpecError where they can be read no more."""
    return [decode(Physics, step) for step in approval.kept["steps"]]


def assumptions_of(approval: Approval) -> Assumptions:
    """SpecError where they can be read no more."""
    return decode(Assumptions, approval.kept["assumptions"])


def lines_of(approval: Approval, view: View) -> Iterator[KeptLine]:
    for period, pool, machine, category, amount in approval.lines[view]:
        yield KeptLine(period, pool, machine, category, Decimal(amount))


def total_of(approval: Approval, view: View) -> Decimal:
    return Decimal(approval.kept["totals"][view])


def months_of(approval: Approval) -> list[str]:
    months: list[str] = approval.kept["months"]
    return months


def design_of(approval: Approval) -> str:
    """Its name."""
    label: str = approval.kept["steps"][0]["label"]
    return label
