"""Which of a study's designs an analysis is of: the one asked for, else the best that it applies to."""

from __future__ import annotations

from collections.abc import Callable

from simcore.answer.result import StudyResult
from simcore.rows import DesignRow
from simcore.spec import SpecError

Fits = Callable[[DesignRow], bool]


def asked_design(result: StudyResult, design_id: str | None) -> DesignRow | None:
    """The evaluated design of that id; None where none is asked for. SpecError where the study has none such."""
    if design_id is None:
        return None
    row = result.row(design_id)
    if row is None:
        raise SpecError(f"parameters.design: found '{design_id}', expected the id of a design of this study")
    if not row.capacity_req_per_s:
        raise SpecError(f"parameters.design: {row.label} was {row.status} ({row.reason}), expected one with a capacity")
    return row


def best_design(result: StudyResult, fits: Fits = lambda row: True) -> DesignRow | None:
    """The goal's best of those that fit and hold the rate; where none does, the one that holds most; None where the
    study has evaluated none."""
    meeting = next((row for row in result.best_by_family if fits(row)), None)
    if meeting is not None:
        return meeting
    able = [row for row in result.rows if row.capacity_req_per_s and fits(row)]
    return max(able, key=lambda row: (row.capacity_req_per_s or 0.0, row.design_id), default=None)


def chosen_design(result: StudyResult, design_id: str | None, otherwise: str) -> DesignRow:
    """The one asked for, else the best; SpecError where the study has none with a capacity: then there is
    ``otherwise``."""
    found = asked_design(result, design_id) or best_design(result)
    if found is None:
        raise SpecError(f"no design of this study has a capacity: there is {otherwise}")
    return found
