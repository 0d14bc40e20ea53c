"""Analyses of a study's answer, each worked out when it is asked for.

A kind is a module here that ends with its ``KIND``; this table lists them. docs/architecture.md says how one is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcore.analyses import (
    costing,
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
from simcore.analyses.kind import Kind, Lab, Subject, told_of
from simcore.spec import SpecError, decode, nearest

__all__ = ["KINDS", "Kind", "Lab", "Subject", "analyse", "kind_of", "parameters_of"]

KINDS: dict[str, Kind[Any, Any]] = {
    "flip_points": flip_points.KIND,
    "neighbourhood": neighbourhood.KIND,
    "where_splitting_pays": where_splitting_pays.KIND,
    "token_budget": token_budget.KIND,
    "slo_cost": slo_cost.KIND,
    "racks": racks.KIND,
    "growth": growth.KIND,
    "failures": failures.KIND,
    "week_hours": week_hours.KIND,
    "stress": stress.KIND,
    "why_not_mine": why_not_mine.KIND,
    "run_detail": run_detail.KIND,
    "costing": costing.KIND,
}
"""By name, in the order in which a result shows them."""


def analyse(name: str, subject: Subject, lab: Lab, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The whole of an analysis as plain JSON. SpecError: an unknown kind or parameter, or a study that it does not
    apply to, with the reason."""
    kind = kind_of(name)
    given = parameters_of(kind, parameters)
    task = kind.task(subject, given)
    return told_of(kind, subject, given, task, kind.run(task, lab))


def kind_of(name: str) -> Kind[Any, Any]:
    """The kind of that name; SpecError with the nearest where there is none."""
    if name not in KINDS:
        raise SpecError(f"kind: found '{name}', expected one of {', '.join(KINDS)}{nearest(name, KINDS)}")
    return KINDS[name]


def parameters_of(kind: Kind[Any, Any], given: Mapping[str, Any]) -> Any:
    """Checked, with defaults; SpecError names the key."""
    return decode(kind.parameters, given, "parameters")
