"""What was found by a kind, as its section shows it: words, charts, tables, what it rests on."""

from collections.abc import Callable
from typing import Any

from planner.analyses.shown import (
    failures,
    flip_points,
    growth,
    neighbourhood,
    racks,
    run_detail,
    slo_cost,
    stress,
    token_budget,
    week_hours,
    where_splitting_pays,
    why_not_mine,
)
from planner.analyses.shown.parts import Shown

__all__ = ["Shown", "shown"]

Json = dict[str, Any]
SHOWN: dict[str, Callable[[Json], Shown]] = {
    "flip_points": flip_points.shown,
    "neighbourhood": neighbourhood.shown,
    "where_splitting_pays": where_splitting_pays.shown,
    "token_budget": token_budget.shown,
    "slo_cost": slo_cost.shown,
    "racks": racks.shown,
    "growth": growth.shown,
    "failures": failures.shown,
    "week_hours": week_hours.shown,
    "stress": stress.shown,
    "why_not_mine": why_not_mine.shown,
    "run_detail": run_detail.shown,
}


def shown(kind: str, told: Json) -> Shown:
    """A kind that has no way of its own to be shown is shown in words alone."""
    return SHOWN[kind](told) if kind in SHOWN else Shown.of(told)
