"""From the design that was approved to the one shown, part of the question by part (``simcore.comparing.drivers``),
each as money takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from planner.finance.approvals.kept import steps_of
from planner.finance.costs import Costs
from planner.finance.models import Approval
from planner.scenarios.kept_changes import kept_changes
from planner.studies import asked
from planner.studies.models import Study
from planner.studies.results import study_result
from simcore.analyses.growth import designs_as_it_grows
from simcore.answer.result import StudyResult
from simcore.comparing.drivers import drivers
from simcore.comparing.inputs import Side
from simcore.comparing.sized import sized
from simcore.economics.assumptions import Demand
from simcore.economics.changes import Stage
from simcore.economics.physics import Physics
from simcore.economics.rounding import quantised
from simcore.rows import DesignRow
from simcore.spec import SpecError


def stages_of(approval: Approval, costs: Costs) -> list[Stage]:
    """SpecError where what was approved can be read no more."""
    before, after = steps_of(approval), costs.steps
    if approval.study_id == costs.study.pk and before[0].design_id == after[0].design_id:
        return _of_one_design(approval, costs)
    told = _driven(approval.study, before, costs)
    return told or [Stage("question", _inputs(approval.study, costs.study), tuple(after))]


def _of_one_design(approval: Approval, costs: Costs) -> list[Stage]:
    """Which designs follow it as traffic grows; else what was worked out anew."""
    before, after = steps_of(approval), costs.steps
    if before == after:
        return []
    was = approval.kept["assumptions"]["demand"]
    if quantised(float(was["growth_per_month"])) != costs.assumptions.demand.growth_per_month:
        return [Stage("growth", (), tuple(after))]
    return [Stage("physics", _figures(approval, before, after, costs), tuple(after))]


def _driven(first: Study, before: Sequence[Physics], costs: Costs) -> list[Stage]:
    """Empty where the steps between the two answers cannot be told."""
    second, demand = costs.study, costs.assumptions.demand
    try:
        sides = [Side(study_result(study), study.trace_hash, study.engine_version) for study in (first, second)]
    except SpecError:
        return []
    was, now = sides[0].result.row(before[0].design_id), sides[1].result.row(costs.physics.design_id)
    if was is None or now is None or (found := drivers(*sides, before=was, after=now)) is None:
        return []
    known = {(one.design_id, one.rate_req_per_s): one for one in (*before, *costs.steps)}
    stages = [Stage("growth", (), _steps(sides[0].result, was, demand, known))] if demand.growth_per_month > 0 else []
    for step in found.steps:
        row = step.result.row(step.design_id) if step.result else None
        if step.result is None or row is None:
            return []
        stages.append(Stage(step.kind, step.inputs, _steps(step.result, row, demand, known)))
    return stages


def _steps(
    result: StudyResult, row: DesignRow, demand: Demand, known: Mapping[tuple[str, Decimal], Physics]
) -> tuple[Physics, ...]:
    """The design and those that follow it; as they were worked out, where they were."""
    path = [(result.spec.rate_req_per_s, row)]
    if demand.growth_per_month > 0:
        path = designs_as_it_grows(result, row, float(demand.growth_per_month * 100), demand.months)
    return tuple(known.get((one.design_id, quantised(rate))) or sized(result, one, rate) for rate, one in path)


def _inputs(first: Study, second: Study) -> tuple[str, ...]:
    """What the questions have otherwise, in words."""
    was, now = first.revision, second.revision
    changes = [*asked.words_of(second).changes(was.inputs, now.inputs), *kept_changes(was.rows, now.rows)]
    return tuple(map(str, changes)) or ("the same question, answered anew",)


def _figures(approval: Approval, before: Sequence[Physics], after: Sequence[Physics], costs: Costs) -> tuple[str, ...]:
    """Which of a design's figures are others, though nothing else was asked."""
    was, now = before[0], after[0]
    said = []
    if was.mean_w != now.mean_w:
        said.append(f"watts drawn at the rate {was.mean_w:,f} → {now.mean_w:,f}")
    if was.capacity_req_per_s != now.capacity_req_per_s:
        said.append(f"capacity {was.capacity_req_per_s:f} → {now.capacity_req_per_s:f} requests/s")
    if len(before) != len(after):
        said.append(f"designs as traffic grows {len(before)} → {len(after)}")
    if approval.engine_version != costs.study.engine_version:
        said.append(f"engine {approval.engine_version} → {costs.study.engine_version}")
    return tuple(said) or ("figures of the simulation that no amount is made of",)
