"""What is supposed, simulated: a new revision of the question, or designs that no study has tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.accounts.owned import Visitor
from planner.scenarios.errors import FieldErrors
from planner.scenarios.forms import LIMITED, clean_inputs
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import save_revision
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.services import ask_new, start_study
from planner.studies.spec import compile_question
from planner.studies.workers import engine_at_work
from simcore import fleet
from simcore.keys import question_key
from simcore.spec import AlsoTry
from simcore.what_if.changes import Changes
from simcore.what_if.untried import Untried

DIGITS = 12
"""Of a scaled limit: none that a visitor sees."""


def simulate(user: Visitor, study: Study, changes: Changes) -> Study:
    """A study of the question at the rate and under the SLO that are supposed: the next revision, or a question of the
    visitor's own where this one is not theirs to change. FieldErrors where it cannot be asked."""
    inputs = changed_inputs(study.revision.inputs, changes)
    mine = Scenario.objects.editable_by(user).filter(pk=study.revision.scenario_id, shipped_id__isnull=True).exists()
    if mine:
        revision = save_revision(user, study.revision.scenario, inputs, kept=study.revision.rows)
        return start_study(user, revision)
    return ask_new(user, inputs)


def simulated_before(user: Visitor, study: Study, changes: Changes) -> Study | None:
    """A complete study of that very question, by the engine at work, that the visitor may read."""
    try:
        inputs = clean_inputs(user, changed_inputs(study.revision.inputs, changes))
        question = compile_question(user, inputs, study.revision.rows)
    except FieldErrors:
        return None
    key = question_key(question.spec, question.trace_hash)
    done = Study.objects.visible_to(user).filter(question_key=key, state=State.DONE, engine_version=engine_at_work())
    return done.exclude(pk=study.pk).order_by("-pk").first()


def check(user: Visitor, revision: Revision, untried: Untried) -> Study:
    """A study of the same revision that tries these designs, too."""
    found = {(design.family, tuple(map(fleet.pool_machines, design.case.pools))): None for design in untried.designs}
    return start_study(user, revision, tuple(AlsoTry(family, counts) for family, counts in found))


def changed_inputs(inputs: Mapping[str, Any], changes: Changes) -> dict[str, Any]:
    """A revision's inputs at another rate, with every latency limit scaled."""
    changed = dict(inputs)
    if changes.rate_req_per_s is not None:
        changed["rate_req_per_s"] = changes.rate_req_per_s
    if changes.slo_multiplier is not None:
        for name in _limits(str(inputs["slo_kind"])):
            if inputs[name] is not None:
                changed[name] = float(f"{inputs[name] * changes.slo_multiplier:.{DIGITS}g}")
    return changed


def _limits(slo_kind: str) -> tuple[str, ...]:
    if slo_kind == "slowdown":
        return ("slowdown_multiplier",)
    if slo_kind == "attainment":
        return ("attainment_ttft_s", "attainment_tpot_s")
    return (*(f"{metric}_limit_s" for metric in LIMITED), "tbt_limit_x_decode")
