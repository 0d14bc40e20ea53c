"""What a study wants next: designs whose results are in the store are taken from it, the others are to be simulated.

Asks simcore.study wave after wave, as long as the store has all that a wave wants: a repeated study, or one whose
designs other studies have tried, is planned to its end at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from planner.studies import store, stored
from planner.studies.contexts import context_of
from planner.studies.models import Study
from planner.studies.shards import shards
from simcore import study as search
from simcore.evaluation import Design, Evaluation, RateRun
from simcore.keys import capacity_key, rate_key
from simcore.study import Context


@dataclass(frozen=True)
class Keys:
    """Under which a design's results are stored."""

    capacity: str
    rate: str


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
    found_before = stored.evaluations_of(study)
    done = {name: evaluation for name, evaluation in found_before.items() if evaluation.status != "screened"}
    while not made.shards:
        check()
        designs = [design for design in search.next_designs(context, done) if design.design_id not in done]
        if not designs:
            made.screened = search.screened(context, done)
            break
        found = known(designs, context, engine_version, study)
        made.known += [(design, found[design.design_id]) for design in designs if design.design_id in found]
        made.shards = shards([design for design in designs if design.design_id not in found], context)
        done |= found
    return made


def keys_of(design: Design, context: Context, engine_version: str) -> Keys:
    """Both keys of a design in this study."""
    spec = context.spec
    return Keys(
        capacity_key(design.case, context.trace_hash, spec.seeds, engine_version),
        rate_key(design.case, context.trace_hash, spec.rate_req_per_s, engine_version),
    )


def known(designs: Sequence[Design], context: Context, engine_version: str, study: Study) -> dict[str, Evaluation]:
    """Design id → evaluation, of the designs of which the store has all."""
    keys = {design.design_id: keys_of(design, context, engine_version) for design in designs}
    found = store.look_up([key for one in keys.values() for key in (one.capacity, one.rate)], study)
    whole = {name: whole_evaluation(name, found.get(one.capacity), found.get(one.rate)) for name, one in keys.items()}
    return {name: evaluation for name, evaluation in whole.items() if evaluation is not None}


def whole_evaluation(design_id: str, capacity: Evaluation | None, run: RateRun | None) -> Evaluation | None:
    """What a study keeps of a design; None while a part of it is missing. An infeasible design has no run."""
    if capacity is None:
        return None
    mine = replace(capacity, design_id=design_id)  # another design of the same figures may have stored it
    if capacity.status != "evaluated":
        return mine
    return None if run is None else mine.with_required(run)
