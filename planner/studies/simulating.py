"""What is supposed, simulated: a new revision of the question, or designs that no study has tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isinf
from typing import Any

from django.utils import timezone

from planner.accounts.owned import Visitor
from planner.catalogue.kept import SUPPOSED
from planner.scenarios.errors import FieldErrors
from planner.scenarios.forms import LIMITED, clean_inputs
from planner.scenarios.lending import borrower
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import Start, author, rows_now, save_revision
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.services import ask_new, start_study
from planner.studies.spec import compile_question
from planner.studies.workers import engine_at_work
from simcore import fleet
from simcore.keys import question_key
from simcore.spec import AlsoTry, encode
from simcore.what_if import words as what_if_words
from simcore.what_if.changes import Changes, WhatIf
from simcore.what_if.untried import Untried

DIGITS = 12
"""Of a scaled limit: none that a visitor sees."""


def keep(user: Visitor, study: Study, found: WhatIf) -> Study:
    """A study of the question as it is supposed, prices and tariff too: the next revision, or a question of the
    visitor's own where this one is not theirs to change. FieldErrors where it cannot be asked, SavedMeanwhileError
    where somebody else saved another revision since."""
    revision = study.revision
    inputs, rows = changed_inputs(revision.inputs, found.changes), kept_rows(user, revision, found)
    mine = Scenario.objects.editable_by(user).filter(pk=revision.scenario_id, shipped_id__isnull=True).exists()
    if mine:
        return start_study(user, save_revision(user, revision.scenario, inputs, kept=rows, start=Start(revision)))
    return ask_new(user, inputs, rows)


def kept_rows(user: Visitor, revision: Revision, found: WhatIf) -> dict[str, Any]:
    """The catalogue's rows that the revision keeps, with the prices and the tariff that are supposed, which say so."""
    rows = revision.rows or rows_now(user, revision.inputs)
    changes, today = found.changes, timezone.now().date().isoformat()
    if not changes.usd_per_hour and changes.usd_per_kwh is None:
        return dict(rows)
    prices = tuple(
        replace(price, source=SUPPOSED, date=today) if price.machine in changes.usd_per_hour else price
        for price in found.result.book.prices
    )
    money = replace(Changes(), usd_per_hour=changes.usd_per_hour, usd_per_kwh=changes.usd_per_kwh)
    said = what_if_words.supposed_in_short(replace(found, changes=money))
    name = f"{found.base.book.name}, {said}"
    return {**rows, "prices": encode(replace(found.result.book, prices=prices, name=name))}


def simulated_before(user: Visitor, study: Study, changes: Changes) -> Study | None:
    """A complete study of the question at that rate and under that SLO, by the engine at work, that the visitor may
    read."""
    simulates = Changes(rate_req_per_s=changes.rate_req_per_s, slo_multiplier=changes.slo_multiplier)
    try:
        user = borrower(author(user), study.revision.scenario)
        inputs = clean_inputs(user, changed_inputs(study.revision.inputs, simulates), study.revision.rows)
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
    """A revision's inputs with all that is changed but prices, which are rows of the catalogue: every latency limit is
    scaled; an infinite limit is none."""
    changed = dict(inputs)
    for name in ("rate_req_per_s", "pue", "power_limit_kw", "usd_per_month"):
        value = getattr(changes, name)
        if value is not None:
            changed[name] = None if isinf(value) else value
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
