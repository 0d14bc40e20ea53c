"""Whether a result is of the model and the machines that the pilot asks for, as far as its file says."""

from __future__ import annotations

import re
from dataclasses import replace

from simcore.catalogue import resolve_model
from simcore.measurements import ServingPoint, Setting
from simcore.pilot.part import Part, PilotPool
from simcore.spec import SpecError


def check_same_system(part: Part, point: ServingPoint) -> None:
    """SpecError where the file names another model, accelerator, degree or precision of weights.

    A pair's benchmark names both accelerators (``gpu=h100-80gb+a100-80gb``); one name alone may be either's.
    """
    names = (point.setting.accelerator or "").split("+")
    if len(names) == len(part.pools):
        each = [replace(point.setting, accelerator=name.strip() or None) for name in names]
        reasons = [_other(part, pool, setting) for pool, setting in zip(part.pools, each, strict=True)]
        wrong = next((reason for reason in reasons if reason), None)
    else:
        reasons = [_other(part, pool, point.setting) for pool in part.pools]
        wrong = reasons[0] if all(reasons) else None
    if wrong:
        raise SpecError(f"{point.file}, {point.where}: {wrong}")


def _other(part: Part, pool: PilotPool, setting: Setting) -> str:
    # Loads scipy: for those who bring a result, not for the start of the command line.
    from simcore.calibration.selection import of_another
    from simcore.calibration.target import Target

    model, degree = resolve_model(part.case.model), pool.tensor_parallel
    target = Target(model, pool.machine, tensor_parallel=degree, precision_given=True)
    reason = of_another(setting, target)
    if reason is None:
        return ""
    field, found, expected = reason
    return f"found {field} {found}, {re.split(r',? [(]?(?:as )?--', expected)[0]} as in the pilot"
