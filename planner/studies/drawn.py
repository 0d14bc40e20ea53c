"""How far off the drawn watts of a result's designs may be: the whiskers of charts that are drawn over them."""

from __future__ import annotations

from math import exp

from planner.studies.axes import Spans
from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_machine, resolve_model
from simcore.spec import Case
from simcore.trust.power_error import power_error


def drawn_spans(result: StudyResult) -> Spans:
    """Of the designs whose watts were simulated and compared with measured ones."""
    known: dict[tuple[tuple[str, int], ...], tuple[float, float] | None] = {}
    found = {}
    for row in result.rows:
        if row.mean_w is None:
            continue
        case = result.designs[row.design_id].case
        curves = tuple((resolve_machine(pool.machine).id, pool.tensor_parallel) for pool in case.pools)
        if curves not in known:
            known[curves] = _span(case)
        if span := known[curves]:
            found[row.design_id] = span
    return found


def _span(case: Case) -> tuple[float, float] | None:
    """Of several kinds of machines the widest, for each part of the watts may be as far off as its own."""
    model = resolve_model(case.model)
    errors = [
        power_error(model, resolve_machine(pool.machine), pool.tensor_parallel, pool.latency or case.latency)
        for pool in case.pools
    ]
    known = [error for error in errors if error is not None]
    if len(known) < len(errors):
        return None
    return exp(-max(error.shorter for error in known)), exp(max(error.longer for error in known))
