"""The parts of which a design's evaluation is made: in which order they are simulated, and what they say together.

Each part is stored under a key of its own. Whoever evaluates a design, from nothing or from what a store has of it,
asks ``next_part`` until nothing is lacking, and then ``told``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from simcore.evaluation import Design, Evaluation, RateRun, Trial
from simcore.search.context import Context
from simcore.search.rate_grid import grid_below, grid_rate
from simcore.search.replications import merged
from simcore.words import number


@dataclass(frozen=True)
class TrialAt:
    """Whether the design holds a rate: one run, given up as soon as it cannot."""

    rate_req_per_s: float


@dataclass(frozen=True)
class CapacityUnder:
    """What the design can hold under a seed."""

    seed: int


@dataclass(frozen=True)
class RunAt:
    """How the design does at the required rate: one run to its end."""

    rate_req_per_s: float


Part = TrialAt | CapacityUnder | RunAt
Outcome = Trial | Evaluation | RateRun
"""Of a part: of a ``TrialAt`` a Trial, of a ``CapacityUnder`` an Evaluation, of a ``RunAt`` a RateRun."""


@dataclass(frozen=True)
class Parts:
    """What is known of a design."""

    trial: Trial | None = None
    capacities: Mapping[int, Evaluation] = field(default_factory=dict)
    """By seed."""
    run: RateRun | None = None

    @classmethod
    def of(cls, found: Iterable[tuple[Part, Outcome]]) -> Parts:
        """All that was found of one design."""
        parts = cls()
        for part, outcome in found:
            parts = parts.having(part, outcome)
        return parts

    def having(self, part: Part, outcome: Outcome) -> Parts:
        """With one more."""
        if isinstance(outcome, Trial):
            return replace(self, trial=outcome)
        if isinstance(outcome, RateRun):
            return replace(self, run=outcome)
        assert isinstance(part, CapacityUnder)  # noqa: S101 - an Evaluation is a capacity's
        return replace(self, capacities={**self.capacities, part.seed: outcome})


def next_part(design: Design, context: Context, has: Parts) -> Part | None:
    """What a work item lacks next; None where all that it asks is known.

    Other seeds are asked of what the study's first has told. Else first whether the design holds a rate, where it is to
    be tried at one; then what it can hold, unless the trial says enough; then how it does at the required rate, where
    that says more. An infeasible design has no run, and one that a trial settles no capacity, also where another study
    knows it: the same question, the same answer.
    """
    if design.seeds:
        return next((CapacityUnder(seed) for seed in design.seeds if seed not in has.capacities), None)
    rate = trial_rate(design, context)
    if rate is not None and has.trial is None:
        return TrialAt(rate)
    if has.trial is not None and _settles(design, has.trial):
        return None
    found, required = has.capacities.get(design.case.seed), context.spec.rate_req_per_s
    if found is None:
        return CapacityUnder(design.case.seed)
    return RunAt(required) if has.run is None and found.wants_run(required) else None


def possible_parts(design: Design, context: Context) -> list[Part]:
    """All that ``next_part`` may ask of a work item."""
    if design.seeds:
        return [CapacityUnder(seed) for seed in design.seeds]
    rate = trial_rate(design, context)
    tried: list[Part] = [] if rate is None else [TrialAt(rate)]
    return [*tried, CapacityUnder(design.case.seed), RunAt(context.spec.rate_req_per_s)]


def told(design: Design, context: Context, has: Parts) -> Evaluation:
    """What a study keeps of a work item of which nothing is lacking."""
    if design.seeds:
        assert design.known is not None  # noqa: S101 - only what the first seed has told is asked for again
        return merged(design.known, context.spec.seeds, [has.capacities[seed] for seed in design.seeds])
    if has.trial is not None and _settles(design, has.trial):
        return _told_by_trial(design, context, has.trial)
    mine = has.capacities[design.case.seed].of(design)
    if has.run is not None and mine.wants_run(context.spec.rate_req_per_s):
        mine = mine.with_required(has.run)
    return mine if has.trial is None else mine.with_trial(has.trial)


def trial_rate(design: Design, context: Context) -> float | None:
    """The rate that a work item is tried at before anything else is asked of it."""
    if design.rate_only:
        return context.spec.rate_req_per_s
    return None if design.rival is None else grid_rate(design.rival.k)


def _settles(design: Design, tried: Trial) -> bool:
    """Whether a trial says all that need be known of a design; one that cannot run is told by its capacity."""
    return tried.simulations > 0 and (design.rate_only or not tried.holds)


def _told_by_trial(design: Design, context: Context, tried: Trial) -> Evaluation:
    """What is said of a design of which no more need be known."""
    if design.rate_only:
        return _asked_to_hold(design, context, tried).with_trial(tried)
    return _beaten_by_run(design).of(design).with_trial(tried)


def _beaten_by_run(design: Design) -> Evaluation:
    """It fails at its rival's rate."""
    assert design.rival is not None  # noqa: S101 - else it would not have been tried
    reason = (
        f"fails at {number(grid_rate(design.rival.k))} requests/s in a simulation; {design.rival.label} holds that"
        " with no more of any machine or of power"
    )
    return Evaluation(design.design_id, "screened", reason, capacity_high=grid_rate(design.rival.k - 1))


def _asked_to_hold(design: Design, context: Context, tried: Trial) -> Evaluation:
    """It was asked for the required rate alone."""
    rate = context.spec.rate_req_per_s
    reason = f"{'holds' if tried.holds else 'fails at'} {number(rate)} requests/s in a simulation" + (
        ", as does a design of its kind with fewer machines" if tried.holds else ""
    )
    most = context.most(design) if tried.holds else grid_rate(grid_below(rate))
    return Evaluation(
        design.design_id, "screened", reason, capacity_high=most, rate_only=True, held_required=tried.holds
    )
