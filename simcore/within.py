"""Whether a design's machines keep a question's limits, before anything of it is simulated."""

from __future__ import annotations

from simcore import fleet
from simcore.catalogue import resolve_machine
from simcore.spec import Case, StudySpec

A_LITTLE = 1 + 1e-12
"""What a sum of watts may be off by."""


def machines_within(case: Case, spec: StudySpec) -> bool | None:
    """By ratings and counts; None where those keep the limits, and drawn power, which only a run tells, is limited too.
    Money is not looked at."""
    limits, used = spec.limits, fleet.machine_counts(case)
    on_hand = {resolve_machine(choice.machine).id: choice.on_hand for choice in spec.machines}
    counted = (
        _most(sum(used.values()), limits.machines)
        and _most(fleet.racks(case) or 0, limits.racks)
        and all(_most(count, on_hand.get(machine)) for machine, count in used.items())
    )
    if not counted or limits.power_limit_kw is None:
        return counted
    rated = {"nameplate": fleet.nameplate_w, "provisioned": fleet.provisioned_w}.get(limits.power_kind)
    return None if rated is None else rated(case) <= limits.power_limit_kw * 1000 * A_LITTLE


def _most(used: float, limit: float | None) -> bool:
    return limit is None or used <= limit
