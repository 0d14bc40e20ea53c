"""The watts that the goal "least power" compares: of the figure that the question chose (``limits.power_kind``)."""

from __future__ import annotations

from collections.abc import Callable

from simcore import fleet
from simcore.catalogue import resolve_machine
from simcore.evaluation import Evaluation
from simcore.power import idle_w
from simcore.rows import DesignRow
from simcore.shortfalls import POWER_WORDS, power_w
from simcore.spec import Case, StudySpec
from simcore.spec.study import PowerKind
from simcore.words import kilowatts

RATED: dict[PowerKind, Callable[[Case], float]] = {
    "nameplate": fleet.nameplate_w,
    "provisioned": fleet.provisioned_w,
}


def compared_w(row: DesignRow, spec: StudySpec, evaluation: Evaluation, case: Case) -> float:
    """Of a rating, or drawn; of what was not run the least that it can draw."""
    known = power_w(row, spec, evaluation)
    return least_w(case, spec) if known is None else known


def least_w(case: Case, spec: StudySpec) -> float:
    """Its rating; of drawn power what idle machines draw, for nothing less is drawn."""
    rated = RATED.get(spec.limits.power_kind)
    if rated is not None:
        return rated(case)
    return sum(idle_w(resolve_machine(pool.machine)) * fleet.pool_machines(pool) for pool in case.pools)


def power_unit(spec: StudySpec) -> str:
    """``mean drawn power``."""
    return f"{POWER_WORDS[spec.limits.power_kind]} power"


def power_words(watts: float, spec: StudySpec) -> str:
    """``12.3 kW mean drawn``."""
    return f"{kilowatts(watts)} {POWER_WORDS[spec.limits.power_kind]}"
