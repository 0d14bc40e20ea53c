"""What was found by a kind, as its section shows it: words, charts, tables, what it rests on."""

from collections.abc import Callable
from typing import Any

from planner.analyses.shown import flip_points, growth, neighbourhood, racks, run_detail, slo_cost, token_budget
from planner.analyses.shown.parts import Shown

__all__ = ["Shown", "shown"]

Json = dict[str, Any]
SHOWN: dict[str, Callable[[Json], Shown]] = {
    "flip_points": flip_points.shown,
    "neighbourhood": neighbourhood.shown,
    "token_budget": token_budget.shown,
    "slo_cost": slo_cost.shown,
    "racks": racks.shown,
    "growth": growth.shown,
    "run_detail": run_detail.shown,
}


def shown(kind: str, told: Json) -> Shown:
    """A kind that has no way of its own to be shown is shown in words alone."""
    return SHOWN[kind](told) if kind in SHOWN else Shown.of(told)
