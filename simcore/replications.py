"""Which designs are worth simulating again with other seeds: those that chance may place otherwise."""

from __future__ import annotations

from collections.abc import Iterable

from simcore.evaluation import Evaluation


def close_designs(evaluations: Iterable[Evaluation]) -> list[str]:
    """Ids of the designs whose interval reaches that of the most capable one; none where it stands alone.

    Evaluations are those that compete: of a study within its limits, by one seed. All designs see the same requests at
    the same times, so what is left between two that are close is how each takes that one sequence; with the other
    seeds, the same for all of them, they are compared seed by seed. No price is asked.
    """
    found = [evaluation for evaluation in evaluations if evaluation.capacity_req_per_s > 0]
    if not found:
        return []
    best = max(found, key=lambda evaluation: evaluation.capacity_req_per_s)
    close = [evaluation.design_id for evaluation in found if evaluation.capacity_high >= best.capacity_low]
    return close if len(close) > 1 else []
