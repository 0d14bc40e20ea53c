"""The parts of which a design's evaluation is made: in which order they are simulated, and what they say together.

Each part is stored under a key of its own. Whoever evaluates a design, from nothing or from what a store has of it,
asks ``next_part`` until nothing is lacking, and then ``told``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from simcore.evaluation import Design, Evaluation, Loss, RateRun, Trial
from simcore.keys import capacity_key, rate_key, trial_key
from simcore.search.context import Context
from simcore.search.rate_grid import grid_below, grid_rate
from simcore.search.replications import merged
from simcore.spec import Case
from simcore.survival import (
    Lost,
    any_lost_words,
    left,
    likely_worst_first,
    lost_words,
    nothing_left,
    together,
    ways_to_lose,
)
from simcore.words import number


@dataclass(frozen=True)
class TrialAt:
    """Whether the design holds a rate: one run, given up as soon as it cannot."""

    rate_req_per_s: float
    lost: Lost = ()
    """Without so many machines of each pool, here as below."""


@dataclass(frozen=True)
class CapacityUnder:
    """What the design can hold under a seed."""

    seed: int
    lost: Lost = ()


@dataclass(frozen=True)
class RunAt:
    """How the design does at the required rate: one run to its end."""

    rate_req_per_s: float
    lost: Lost = ()


Part = TrialAt | CapacityUnder | RunAt
Outcome = Trial | Evaluation | RateRun
"""Of a part: of a ``TrialAt`` a Trial, of a ``CapacityUnder`` an Evaluation, of a ``RunAt`` a RateRun."""
Parts = Mapping[Part, Outcome]
"""What is known of a design."""


def case_of(part: Part, design: Design) -> Case:
    """The case that is simulated for a part."""
    case = left(design.case, part.lost)
    assert case is not None  # noqa: S101 - of a loss that leaves nothing no part is asked
    return case


def part_key(part: Part, design: Design, context: Context, engine_version: str) -> str:
    """Under which a part is stored: what is left after a loss is stored as the smaller design that it is."""
    case, trace_hash = case_of(part, design), context.trace_hash
    match part:
        case TrialAt(rate):
            return trial_key(case, trace_hash, rate, engine_version)
        case CapacityUnder(seed):
            return capacity_key(case, trace_hash, seed, engine_version)
        case RunAt(rate):
            return rate_key(case, trace_hash, rate, engine_version)


def next_part(design: Design, context: Context, has: Parts) -> Part | None:
    """What a work item lacks next; None where all that it asks is known.

    Other seeds are asked of what the study's first has told. Else first whether the design holds a rate, where it is to
    be tried at one; then what it can hold, unless the trial says enough; then how it does at the required rate, where
    that says more. An infeasible design has no run, and one that a trial settles no capacity, also where another study
    knows it: the same question, the same answer. Where machines may be lost a trial asks this of what is left in each
    way to lose them, the likely worst first, up to the first that fails; a capacity is that of all machines and of what
    is left in each way.
    """
    if design.seeds:
        return next((part for part in _other_seeds(design, context) if part not in has), None)
    for trial in _trials(design, context):
        if trial not in has:
            return trial
        if not _trial(has, trial).holds:
            return None
    if _is_settled(design, _tried(design, context, has)):
        return None
    for lost in _asked(design, context):
        capacity, run = CapacityUnder(design.case.seed, lost), RunAt(context.spec.rate_req_per_s, lost)
        if capacity not in has:
            return capacity
        found = _capacity(has, capacity)
        if run not in has and found.wants_run(run.rate_req_per_s):
            return run
        if not lost and found.status != "evaluated":
            return None
    return None


def possible_parts(design: Design, context: Context) -> list[Part]:
    """All that ``next_part`` may ask of a work item."""
    if design.seeds:
        return _other_seeds(design, context)
    found: list[Part] = [*_trials(design, context)]
    for lost in _asked(design, context):
        found += [CapacityUnder(design.case.seed, lost), RunAt(context.spec.rate_req_per_s, lost)]
    return found


def told(design: Design, context: Context, has: Parts) -> Evaluation:
    """What a study keeps of a work item of which nothing is lacking."""
    if design.seeds:
        return _over_all_seeds(design, context, has)
    tried = _tried(design, context, has)
    if _is_settled(design, tried):
        return _with_trials(_told_by_trial(design, context, tried).of(design), tried)
    whole = _part(design, context, has, ())
    if whole.status != "evaluated":
        return _with_trials(whole.of(design), tried)
    losses = [Loss(lost, _part(design, context, has, lost)) for lost in _asked(design, context) if lost]
    losses += [Loss(lost, nothing_left(design.case, lost)) for lost in _fatal(design, context)]
    return _with_trials(together(whole, losses).of(design), tried)


def trial_rate(design: Design, context: Context) -> float | None:
    """The rate that a work item is tried at before anything else is asked of it."""
    if design.rate_only:
        return context.spec.rate_req_per_s
    return None if design.rival is None else grid_rate(design.rival.k)


def _ways(design: Design, context: Context) -> Sequence[Lost]:
    return likely_worst_first(design.case, ways_to_lose(len(design.case.pools), context.spec.failures))


def _fatal(design: Design, context: Context) -> list[Lost]:
    """Ways to lose machines that leave nothing of a pool: where there is one, no other need be simulated."""
    return [lost for lost in _ways(design, context) if left(design.case, lost) is None]


def _asked(design: Design, context: Context) -> list[Lost]:
    """With all machines, then each way to lose some."""
    return [()] if _fatal(design, context) else [(), *_ways(design, context)]


def _trials(design: Design, context: Context) -> list[TrialAt]:
    rate = trial_rate(design, context)
    if rate is None or _fatal(design, context):  # that it then holds nothing is told as a capacity is
        return []
    return [TrialAt(rate, lost) for lost in _ways(design, context) or ((),)]


def _tried(design: Design, context: Context, has: Parts) -> list[tuple[TrialAt, Trial]]:
    """Up to the first that fails."""
    found: list[tuple[TrialAt, Trial]] = []
    for trial in _trials(design, context):
        if trial not in has or (found and not found[-1][1].holds):
            break
        found.append((trial, _trial(has, trial)))
    return found


def _is_settled(design: Design, tried: Sequence[tuple[TrialAt, Trial]]) -> bool:
    """Whether trials say all that need be known of a design; one that cannot run is told by its capacity."""
    if not tried or not all(trial.simulations for _, trial in tried):
        return False
    return design.rate_only or not tried[-1][1].holds


def _with_trials(found: Evaluation, tried: Sequence[tuple[TrialAt, Trial]]) -> Evaluation:
    for _, trial in tried:
        found = found.with_trial(trial)
    return found


def _part(design: Design, context: Context, has: Parts, lost: Lost) -> Evaluation:
    """What is left after a loss can do, by the first seed."""
    rate = context.spec.rate_req_per_s
    found, run = _capacity(has, CapacityUnder(design.case.seed, lost)), has.get(RunAt(rate, lost))
    return found.with_required(run) if isinstance(run, RateRun) and found.wants_run(rate) else found


def _other_seeds(design: Design, context: Context) -> list[Part]:
    return [CapacityUnder(seed, lost) for lost in _asked(design, context) for seed in design.seeds]


def _over_all_seeds(design: Design, context: Context, has: Parts) -> Evaluation:
    known = design.known
    assert known is not None  # noqa: S101 - only what the first seed has told is asked for again
    seeds = context.spec.seeds

    def over_all(first: Evaluation, lost: Lost) -> Evaluation:
        return merged(first, seeds, [_capacity(has, CapacityUnder(seed, lost)) for seed in design.seeds])

    if known.whole is None:
        return over_all(known, ())
    losses = [
        loss if loss.evaluation.status != "evaluated" else Loss(loss.lost, over_all(loss.evaluation, loss.lost))
        for loss in known.losses
    ]
    found = replace(together(over_all(known.whole, ()), losses), held_required=known.held_required)
    return _with_trials_of(known, found)


def _with_trials_of(known: Evaluation, found: Evaluation) -> Evaluation:
    """With what was spent on a design beside its parts."""
    of_parts = known.parts
    return replace(
        found,
        simulations=found.simulations + known.simulations - sum(part.simulations for part in of_parts),
        requests_simulated=found.requests_simulated
        + known.requests_simulated
        - sum(part.requests_simulated for part in of_parts),
        events=found.events + known.events - sum(part.events for part in of_parts),
        cpu_s=found.cpu_s + known.cpu_s - sum(part.cpu_s for part in of_parts),
    )


def _capacity(has: Parts, part: CapacityUnder) -> Evaluation:
    found = has[part]
    assert isinstance(found, Evaluation)  # noqa: S101 - a capacity's outcome
    return found


def _trial(has: Parts, part: TrialAt) -> Trial:
    found = has[part]
    assert isinstance(found, Trial)  # noqa: S101 - a trial's outcome
    return found


def _told_by_trial(design: Design, context: Context, tried: Sequence[tuple[TrialAt, Trial]]) -> Evaluation:
    """What is said of a design of which no more need be known: of the trial that failed, or of all that held."""
    part, trial = tried[-1]
    if trial.holds:
        lost = any_lost_words(context.spec.failures)
    else:
        lost = f" with {lost_words(design.case, part.lost)}" if part.lost else ""
    if design.rate_only:
        return _asked_to_hold(design, context, trial.holds, lost)
    return _beaten_by_run(design, lost)


def _beaten_by_run(design: Design, lost: str) -> Evaluation:
    """It fails at its rival's rate."""
    assert design.rival is not None  # noqa: S101 - else it would not have been tried
    reason = (
        f"fails at {number(grid_rate(design.rival.k))} requests/s in a simulation{lost}; {design.rival.label} holds"
        f" that{' whichever are' if lost else ''} with no more of any machine or of power"
    )
    return Evaluation(design.design_id, "screened", reason, capacity_high=grid_rate(design.rival.k - 1))


def _asked_to_hold(design: Design, context: Context, holds: bool, lost: str) -> Evaluation:
    """It was asked for the required rate alone."""
    rate = context.spec.rate_req_per_s
    reason = f"{'holds' if holds else 'fails at'} {number(rate)} requests/s in a simulation{lost}" + (
        ", as does a design of its kind with fewer machines" if holds else ""
    )
    most = context.most(design) if holds else grid_rate(grid_below(rate))
    return Evaluation(design.design_id, "screened", reason, capacity_high=most, rate_only=True, held_required=holds)
