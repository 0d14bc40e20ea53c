"""A study's search as it went: replayed on the evaluations known, up to the designs that it still lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import ceil

import numpy as np

from simcore import search
from simcore.counts import BEYOND_NEED, Bounds, Counts, inside
from simcore.dominance import dominators
from simcore.evaluation import Design, Evaluation
from simcore.families import Line
from simcore.refine import Proven, refine
from simcore.spec import StudySpec
from simcore.study_context import Context

BEYOND_LIMITS = 4.0
"""Where nothing within the limits will do, at least this multiple of them is tried to say what would be needed."""
LINES_BEYOND_LIMITS = 3
DRAWN = ("drawn_mean", "drawn_p99")


class Replay:
    """The search as it went, on what is known: each step ends with the designs that it still lacks."""

    def __init__(self, context: Context, done: Mapping[str, Evaluation]) -> None:
        found = context.candidates
        self.context, self.done = context, done
        self.known = search.Known(np.zeros(len(found), bool), np.zeros(len(found)), np.zeros(len(found), bool))
        self.tried: list[dict[Counts, Evaluation]] = [{} for _ in context.lines]
        """By line, also those beside its candidates."""
        self.beside: list[int] = [0] * len(context.lines)
        """By line, how many were beside its candidates."""

    def candidates(self) -> list[Design]:
        """Wave after wave of the candidates."""
        while wave := search.next_wave(self.context.candidates, self.known):
            designs = [self.context.design(index) for index in wave]
            if missing := [design for design in designs if design.design_id not in self.done]:
                return missing
            for index, design in zip(wave, designs, strict=True):
                self._note(index, self.done[design.design_id])
        return []

    def refined(self) -> list[Design]:
        """All lines at once, step by step, towards the required rate within the limits."""
        return self._refined(dict(enumerate(self.context.bounds)))

    def beyond_limits(self) -> list[Design]:
        """The most capable lines where nothing within the limits holds the rate."""
        if any(self._holds_within_limits(place) for place in range(len(self.context.lines))):
            return []
        order = sorted(range(len(self.tried)), key=lambda place: -_most_held(self.tried[place].values()))
        able = [place for place in order[:LINES_BEYOND_LIMITS] if _most_held(self.tried[place].values()) > 0]
        return self._refined({place: _wider(self.context.lines[place], self.context.bounds[place]) for place in able})

    def _refined(self, within: Mapping[int, Bounds]) -> list[Design]:
        while wave := [(place, counts) for place, bounds in within.items() for counts in self._proposed(place, bounds)]:
            designs = [self.context.lines[place].design(counts) for place, counts in wave]
            if missing := [design for design in designs if design.design_id not in self.done]:
                return missing
            for (place, counts), design in zip(wave, designs, strict=True):
                self.tried[place][counts] = self.done[design.design_id]
                self.beside[place] += 1
        return []

    def _proposed(self, place: int, bounds: Bounds) -> list[Counts]:
        context = self.context
        line, tried = context.lines[place], self.tried[place]
        return refine(line, context.spec, bounds, tried, self.beside[place], self._proven(place))

    def _proven(self, place: int) -> Proven:
        held = self.known.held(self.context.candidates)
        rate = self.context.spec.rate_req_per_s

        def beaten(counts: Counts) -> bool:
            machines = self.context.machines_of(place, counts)[None]
            return bool((dominators(machines, np.array([self.context.bound_of(place, counts)]), held) >= 0)[0])

        # What is held is known to 1 %: the rate itself is simulated (Evaluation.holds).
        return Proven(lambda counts: self.context.bound_of(place, counts) < 0.99 * rate, beaten)

    def _note(self, index: int, evaluation: Evaluation) -> None:
        found, known = self.context.candidates, self.known
        self.tried[int(found.line[index])][found.counts[index]] = evaluation
        known.evaluated[index] = True
        known.capacity[index] = evaluation.capacity_req_per_s if evaluation.status == "evaluated" else 0.0
        known.dominates[index] = _keeps_drawn_limit(self.context.spec, evaluation)

    def _holds_within_limits(self, place: int) -> bool:
        line, bounds, rate = self.context.lines[place], self.context.bounds[place], self.context.spec.rate_req_per_s
        return any(e.holds(rate) and inside(line, counts, bounds) for counts, e in self.tried[place].items())


def _keeps_drawn_limit(spec: StudySpec, evaluation: Evaluation) -> bool:
    """Drawn power is known of evaluated designs only: where it is limited, one that draws too much screens nobody."""
    limits, run = spec.limits, evaluation.at_required or evaluation.at_capacity
    if limits.power_limit_kw is None or limits.power_kind not in DRAWN or run is None:
        return True
    return (run.mean_w if limits.power_kind == "drawn_mean" else run.p99_w) <= limits.power_limit_kw * 1000


def _most_held(evaluations: Iterable[Evaluation]) -> float:
    return max((evaluation.capacity_req_per_s for evaluation in evaluations), default=0.0)


def _wider(line: Line, bounds: Bounds) -> Bounds:
    """Room enough to find what holds the rate: a multiple of the limits, or of what the work needs if that is more."""
    need = [count * BEYOND_NEED + 1 for count in bounds.need]
    kw = sum(count * pool.machine.nameplate_w for count, pool in zip(need, line.pools, strict=True)) / 1000
    return replace(
        bounds,
        most_each=tuple(ceil(max(most * BEYOND_LIMITS, sum(need))) for most in bounds.most_each),
        most_total=ceil(max(bounds.most_total * BEYOND_LIMITS, sum(need))),
        most_kw=max(bounds.most_kw * BEYOND_LIMITS, kw),
    )
