"""What a study wants next: designs whose results are in the store are taken from it, the others are to be simulated.

Asks simcore.study wave after wave, as long as the store has all that a wave wants: a repeated study, or one whose
designs other studies have tried, is planned to its end at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from planner.studies import store, stored
from planner.studies.contexts import context_of
from planner.studies.models import Study
from planner.studies.shards import shards
from simcore import study as search
from simcore.evaluation import Design, Evaluation
from simcore.search.parts import Outcome, Part, next_part, part_key, possible_parts, told
from simcore.study import Context

Keys = dict[Part, str]
"""Under which each part of a design's evaluation is stored."""


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
    """The keys of all that a work item may ask."""
    return {part: part_key(part, design, context, engine_version) for part in possible_parts(design, context)}


def known(designs: Sequence[Design], context: Context, engine_version: str, study: Study) -> dict[str, Evaluation]:
    """Design id → evaluation, of the designs of which the store has all."""
    keys = {design.design_id: keys_of(design, context, engine_version) for design in designs}
    found = store.look_up([key for one in keys.values() for key in one.values()], study)
    has = {name: stored_parts(one, found) for name, one in keys.items()}
    return {
        design.design_id: told(design, context, has[design.design_id])
        for design in designs
        if next_part(design, context, has[design.design_id]) is None
    }


def stored_parts(keys: Keys, found: Mapping[str, Outcome]) -> dict[Part, Outcome]:
    """What the store has of a design."""
    return {part: found[key] for part, key in keys.items() if key in found}
