"""A study's search as it went: replayed on the evaluations known, up to the designs that it still lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil

import numpy as np

from simcore.evaluation import Design, Evaluation, Rival
from simcore.families import Line
from simcore.search import waves
from simcore.search.context import Context
from simcore.search.counts import BEYOND_NEED, MOST_MACHINES, Bounds, Counts, inside
from simcore.search.dominance import Held, dominators
from simcore.search.enough import Enough
from simcore.search.holders import Holders
from simcore.search.rate_grid import grid_at_most
from simcore.search.refine import MOST_REFINED, MOST_WALKED, refine
from simcore.search.replications import Standing, by_first_seed, close_designs
from simcore.search.tried import Proven, Step, Tried
from simcore.spec import StudySpec

BEYOND_LIMITS = 4.0
"""Where nothing within the limits will do, at least this multiple of them is tried to say what would be needed."""
LINES_BEYOND_LIMITS = 3
DRAWN = ("drawn_mean", "drawn_p99")


class Replay:
    """The search as it went, on what is known: each step ends with the designs that it still lacks."""

    def __init__(self, context: Context, done: Mapping[str, Evaluation]) -> None:
        found = context.candidates
        self.context, self.done = context, done
        self.several_seeds = len(context.spec.seeds) > 1
        self.known = waves.Known(np.zeros(len(found), bool), np.zeros(len(found)), np.zeros(len(found), bool))
        self.tried: list[dict[Counts, Tried]] = [{} for _ in context.lines]
        """By line, also those beside its candidates."""
        self.beside: list[int] = [0] * len(context.lines)
        """By line, how many were beside its candidates."""
        self.beaten: list[set[Counts]] = [set() for _ in context.lines]
        """By line, those that a run has screened."""

    def candidates(self) -> list[Design]:
        """Each line's measure; then wave after wave of the candidates, each with the lines' next steps towards the
        required rate, so that no wave is small while another could begin."""
        measure = [waves.Wanted(index, -1) for index in waves.first_wave(self.context.candidates)]
        if missing := self._taken(measure, []):
            return missing
        while True:
            wave = waves.next_wave(self.context.candidates, self.known)
            asked = {self._place_of(wanted.index) for wanted in wave}
            steps = [step for step in self._proposed(self._within_limits) if step[:2] not in asked]
            if missing := self._taken(wave, steps):
                return missing
            if not wave and not steps:
                return []

    def _taken(self, wave: Sequence[waves.Wanted], steps: Sequence[tuple[int, Counts, bool]]) -> list[Design]:
        """What is missing of both; noted where nothing is."""
        designs = [self._design(wanted) for wanted in wave]
        asked = [self._asked(*step) for step in steps]
        if missing := self.missing([*designs, *asked]):
            return missing
        for wanted, design in zip(wave, designs, strict=True):
            self._note(wanted.index, by_first_seed(self.done[design.design_id]))
        for step, design in zip(steps, asked, strict=True):
            self._note_refined(*step, by_first_seed(self.done[design.design_id]))
        return []

    def _place_of(self, index: int) -> tuple[int, Counts]:
        """A candidate's line and counts."""
        return int(self.context.candidates.line[index]), self.context.candidates.counts[index]

    @property
    def _within_limits(self) -> dict[int, Bounds]:
        return dict(enumerate(self.context.bounds))

    def missing(self, designs: Sequence[Design]) -> list[Design]:
        """Those of which what is asked is not known; what is known of them goes with them."""
        found = [(design, self.done.get(design.design_id)) for design in designs]
        return [
            design if known is None else replace(design, known=known)
            for design, known in found
            if known is None or not known.answers(design)
        ]

    def _design(self, wanted: waves.Wanted) -> Design:
        design = self.context.design(wanted.index)
        if wanted.rival < 0:
            return design
        k = grid_at_most(float(self.known.capacity[wanted.rival]))
        return replace(design, rival=Rival(self.context.design(wanted.rival).label, k))

    def refined(self) -> list[Design]:
        """All lines at once, step by step, towards the required rate within the limits."""
        return self._refined(self._within_limits)

    def beyond_limits(self) -> list[Design]:
        """The most capable lines where nothing within the limits holds the rate."""
        if any(self._holds_within_limits(place) for place in range(len(self.context.lines))):
            return []
        order = sorted(range(len(self.tried)), key=lambda place: -_most_held(self.tried[place].values()))
        able = [place for place in order[:LINES_BEYOND_LIMITS] if _most_held(self.tried[place].values()) > 0]
        self.beside = [0] * len(self.beside)  # what was walked within the limits leaves room to grow beyond them
        wider = {place: _wider(self.context.lines[place], self.context.bounds[place]) for place in able}
        return self._refined(wider, most_walked=0)

    def replicated(self) -> list[Design]:
        """With several seeds: the close designs by the others too, then again the way to the required rate by what all
        seeds say, until no more designs are close."""
        compared: set[tuple[int, Counts]] = set()
        while self.several_seeds and not compared >= (close := self._close()):
            designs = {at: replace(self.context.member(*at), seeds=self.context.spec.seeds[1:]) for at in sorted(close)}
            if missing := self.missing(list(designs.values())):
                return missing
            for (place, counts), design in designs.items():
                self.tried[place][counts] = self._whole(self.done[design.design_id])
            if missing := self.refined():
                return missing
            compared |= close
        return []

    def also(self) -> list[Design]:
        """Last, what is named beside the search's own (``StudySpec.also``), which changes nothing of it: whether each
        holds the required rate, then what those can hold that do."""
        named = [
            (place, one.counts)
            for one in self.context.spec.also
            for place, line in enumerate(self.context.lines)
            if line.family == one.family and not line.reason
        ]
        if missing := self.missing([self._asked(*at, rate_only=not self._drawn_is_limited) for at in named]):
            return missing
        members = [self.context.member(*at) for at in named]
        return self.missing([member for member in members if self.done[member.design_id].held_required])

    def _close(self) -> set[tuple[int, Counts]]:
        """Of what was evaluated, by the first seed."""
        found = [
            (place, counts, by_first_seed(self.done[self.context.member(place, counts).design_id]))
            for place, tried in enumerate(self.tried)
            for counts in sorted(tried)
            if tried[counts].capacity_req_per_s is not None
        ]
        evaluated = [one for one in found if one[2].status == "evaluated"]
        if self.context.spec.goal == "throughput":
            evaluated = [
                one for one in evaluated if inside(self.context.lines[one[0]], one[1], self.context.bounds[one[0]])
            ]
        standings = [self._standing(*one) for one in evaluated]
        close = close_designs(standings, self.context.spec.rate_req_per_s, self.context.spec.goal == "throughput")
        return {evaluated[index][:2] for index in close}

    def _standing(self, place: int, counts: Counts, found: Evaluation) -> Standing:
        machines = tuple(self.context.machines_of(place, counts).tolist())
        return Standing(place, machines, found.capacity_req_per_s, found.capacity_low, found.capacity_high)

    def _refined(self, within: Mapping[int, Bounds], most_walked: int = MOST_WALKED) -> list[Design]:
        while steps := self._proposed(within, most_walked):
            if missing := self._taken([], steps):
                return missing
        return []

    def _proposed(self, within: Mapping[int, Bounds], most_walked: int = MOST_WALKED) -> list[tuple[int, Counts, bool]]:
        """(line, counts, whether only the rate is asked). Capacities are asked for when their family's lines have all
        come to their fewest machines: some need more than another line."""
        held, alone = self.known.held(self.context.candidates), self._drawn_is_limited
        holders = Holders.of(self.context, [] if alone else self.tried)
        most = min(most_walked, MOST_REFINED) if alone else most_walked
        steps = {
            place: self._step(place, bounds, self._proven(place, held, holders), most)
            for place, bounds in within.items()
        }
        searching = {self.context.lines[place].family for place, step in steps.items() if step.at_rate}
        found = [(place, counts, not alone) for place, step in steps.items() for counts in step.at_rate]
        return found + [
            (place, counts, False)
            for place, step in steps.items()
            if self.context.lines[place].family not in searching
            for counts in step.whole
        ]

    def _step(self, place: int, bounds: Bounds, proven: Proven, most_walked: int) -> Step:
        line, spec = self.context.lines[place], self.context.spec
        return refine(line, spec, bounds, self.tried[place], self.beside[place], proven, most_walked)

    def _asked(self, place: int, counts: Counts, rate_only: bool) -> Design:
        design = self.context.member(place, counts)
        return replace(design, rate_only=True) if rate_only else design

    def _note_refined(self, place: int, counts: Counts, rate_only: bool, evaluation: Evaluation) -> None:
        index = self.context.index.get((place, counts))
        if counts not in self.tried[place] and index is None:
            self.beside[place] += 1
        if rate_only and evaluation.status == "screened" and evaluation.held_required is None:
            self._note_screened(place, counts, evaluation)
        elif rate_only:
            asked = evaluation.held_required
            holds = evaluation.holds(self.context.spec.rate_req_per_s) if asked is None else asked
            self.tried[place][counts] = Tried(holds, None)
        elif index is not None:
            self._note(index, evaluation)
        else:
            self.tried[place][counts] = self._whole(evaluation)

    def _whole(self, evaluation: Evaluation) -> Tried:
        rate = self.context.spec.rate_req_per_s
        return Tried(evaluation.holds(rate), evaluation.capacity_req_per_s, evaluation.binding_pool)

    def _proven(self, place: int, held: Held, holders: Holders) -> Proven:
        context, enough = self.context, holders.enough(place)

        def beaten(counts: Counts) -> bool:
            if counts in self.beaten[place]:
                return True
            if len(counts) == 2:
                return not enough.may_matter(*counts)
            machines = context.machines_of(place, counts)[None]
            bound = np.array([context.bound_of(place, counts)])
            return holders.family_needs_less(place, counts) or bool((dominators(machines, bound, held) >= 0)[0])

        return self.proven(place, beaten, enough)

    def proven(self, place: int, beaten: Callable[[Counts], bool], enough: Enough) -> Proven:
        """With what the bounds and what has been run say of a line's counts."""
        context = self.context
        return Proven(
            partial(context.cannot, place), beaten, partial(context.fewest_able, place), self.beaten[place], enough
        )

    @property
    def _drawn_is_limited(self) -> bool:
        """Drawn power is known of whole evaluations only."""
        limits = self.context.spec.limits
        return limits.power_limit_kw is not None and limits.power_kind in DRAWN

    def _note(self, index: int, evaluation: Evaluation) -> None:
        known = self.known
        place, counts = self._place_of(index)
        known.evaluated[index] = True
        if evaluation.status == "screened":
            known.capacity[index] = evaluation.capacity_high
            self._note_screened(place, counts, evaluation)
            return
        self.tried[place][counts] = self._whole(evaluation)
        known.capacity[index] = self._surely_held(evaluation) if evaluation.status == "evaluated" else 0.0
        known.dominates[index] = _keeps_drawn_limit(self.context.spec, evaluation)

    def _surely_held(self, evaluation: Evaluation) -> float:
        """What others are held to: with several seeds what chance leaves of it, as those that come near are compared by
        the other seeds."""
        return evaluation.capacity_low if self.several_seeds else evaluation.capacity_req_per_s

    def _note_screened(self, place: int, counts: Counts, evaluation: Evaluation) -> None:
        """Below the required rate it fails, as far as can be told how near; else it need not be tried."""
        if evaluation.capacity_high < 0.99 * self.context.spec.rate_req_per_s:
            self.tried[place][counts] = Tried(False, evaluation.capacity_high)
        else:
            self.beaten[place].add(counts)

    def _holds_within_limits(self, place: int) -> bool:
        line, bounds = self.context.lines[place], self.context.bounds[place]
        return any(found.holds and inside(line, counts, bounds) for counts, found in self.tried[place].items())


def _keeps_drawn_limit(spec: StudySpec, evaluation: Evaluation) -> bool:
    """Drawn power is known of evaluated designs only: where it is limited, one that draws too much at the rate that
    will be served screens nobody."""
    limits, whole = spec.limits, evaluation.with_all
    runs = (whole.at_required, whole.at_capacity)
    run = next(filter(None, runs if spec.goal != "throughput" else runs[::-1]), None)
    if limits.power_limit_kw is None or limits.power_kind not in DRAWN or run is None:
        return True
    return (run.mean_w if limits.power_kind == "drawn_mean" else run.p99_w) <= limits.power_limit_kw * 1000


def _most_held(tried: Iterable[Tried]) -> float:
    return max((found.capacity_req_per_s or 0.0 for found in tried), default=0.0)


def _wider(line: Line, bounds: Bounds) -> Bounds:
    """Room enough to find what holds the rate: a multiple of the limits, or of what the work needs if that is more; no
    more than is searched."""
    need = [count * BEYOND_NEED + 1 for count in bounds.need]
    kw = sum(count * pool.machine.nameplate_w for count, pool in zip(need, line.pools, strict=True)) / 1000
    return replace(
        bounds,
        most_each=tuple(ceil(max(most * BEYOND_LIMITS, sum(need))) for most in bounds.most_each),
        most_total=min(ceil(max(bounds.most_total * BEYOND_LIMITS, sum(need))), MOST_MACHINES),
        most_kw=max(bounds.most_kw * BEYOND_LIMITS, kw),
    )
