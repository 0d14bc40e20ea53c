"""What a study wants next: designs whose results are in the store are taken from it, the others are to be simulated.

Asks simcore.study wave after wave, as long as the store has all that a wave wants: a repeated study, or one whose
designs other studies have tried, is planned to its end at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.studies import store, stored
from planner.studies.contexts import context_of
from planner.studies.models import Study
from planner.studies.shards import shards
from simcore import study as search
from simcore.evaluation import Design, Evaluation, RateRun, Trial
from simcore.keys import capacity_key, rate_key, trial_key
from simcore.study import Context


@dataclass(frozen=True)
class Keys:
    """Under which a design's results are stored."""

    capacity: str
    rate: str
    trial: str | None
    """Of a design that is tried at a rate first."""
    others: tuple[str, ...] = ()
    """Its capacity under each other seed that it is asked for."""

    def all(self) -> list[str]:
        return [key for key in (self.trial, self.capacity, self.rate, *self.others) if key is not None]


@dataclass
class Plan:
    """The next step of a study. Nothing left to simulate: it is complete."""

    known: list[tuple[Design, Evaluation]] = field(default_factory=list)
    screened: list[tuple[Design, Evaluation]] = field(default_factory=list)
    """Of a study that is complete: designs that an evaluated one beats by proof."""
    shards: list[list[Design]] = field(default_factory=list)


def plan(study: Study, engine_version: str, check: Callable[[], None]) -> Plan:
    """Goes on from what the study has. ``check`` is called before each wave, and may raise to stop it."""
    context, made = context_of(study), Plan()
    now_known: dict[str, tuple[Design, Evaluation]] = {}
    found_before = stored.evaluations_of(study)
    done = {name: evaluation for name, evaluation in found_before.items() if not evaluation.by_bound}
    while not made.shards:
        check()
        designs = search.next_designs(context, done)
        if not designs:
            made.screened = search.screened(context, done)
            break
        found = known(designs, context, engine_version, study)
        for design in designs:
            if design.design_id in found:  # at the end, also where less of it was known: as its row would be
                now_known.pop(design.design_id, None)
                now_known[design.design_id] = design, found[design.design_id]
        made.shards = shards([design for design in designs if design.design_id not in found], context)
        done |= found
    made.known = list(now_known.values())
    return made


def keys_of(design: Design, context: Context, engine_version: str) -> Keys:
    """A design's keys in this study."""
    spec, case, trace_hash = context.spec, design.case, context.trace_hash
    tried_at = search.trial_rate(design, context)
    return Keys(
        capacity_key(case, trace_hash, case.seed, engine_version),
        rate_key(case, trace_hash, spec.rate_req_per_s, engine_version),
        None if tried_at is None else trial_key(case, trace_hash, tried_at, engine_version),
        tuple(capacity_key(case, trace_hash, seed, engine_version) for seed in design.seeds),
    )


def known(designs: Sequence[Design], context: Context, engine_version: str, study: Study) -> dict[str, Evaluation]:
    """Design id → evaluation, of the designs of which the store has all."""
    keys = {design.design_id: keys_of(design, context, engine_version) for design in designs}
    found = store.look_up([key for one in keys.values() for key in one.all()], study)
    whole = {
        design.design_id: whole_evaluation(design, context, parts(keys[design.design_id], found)) for design in designs
    }
    return {name: evaluation for name, evaluation in whole.items() if evaluation is not None}


@dataclass
class Parts:
    """What there is of a design."""

    trial: Trial | None
    capacity: Evaluation | None
    run: RateRun | None
    others: list[Evaluation | None]
    """By the other seeds that it is asked for."""


def parts(keys: Keys, found: Mapping[str, Any]) -> Parts:
    others = [found.get(key) for key in keys.others]
    return Parts(found.get(keys.trial or ""), found.get(keys.capacity), found.get(keys.rate), others)


def whole_evaluation(design: Design, context: Context, has: Parts) -> Evaluation | None:
    """What a study keeps of a design; None while a part of it is missing. An infeasible design has no run, and one
    that a trial settles no capacity, also where another study knows it: the same question, the same rows."""
    if design.seeds:
        others = [other for other in has.others if other is not None]
        return search.replicated(design, others, context) if len(others) == len(design.seeds) else None
    if has.trial is None and search.trial_rate(design, context) is not None:
        return None
    if has.trial is not None and search.settles(design, has.trial):
        return search.told_by_trial(design, context, has.trial)
    if has.capacity is None:
        return None
    mine = has.capacity.of(design)
    if mine.wants_run(context.spec.rate_req_per_s):
        if has.run is None:
            return None
        mine = mine.with_required(has.run)
    return mine if has.trial is None else mine.with_trial(has.trial)
