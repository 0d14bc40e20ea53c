"""Sizing to an interval's lower bound: the fewest machines whose capacity reaches the required rate there too.

Each line that holds the rate by what was simulated is closed in on again, by the same steps (``refine``), with the
lower bound of each design's 90 % interval (``trust.margins``: the simulation's noise and the error of iteration times)
in place of its capacity. Capacities are asked for outright, as the bound follows from a whole evaluation alone. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from simcore.evaluation import Design, Evaluation
from simcore.search.counts import Counts, inside
from simcore.search.refine import Proven, Tried, refine
from simcore.search.replay import Replay
from simcore.trust.margins import margin


def wanted_at_lower_bound(replay: Replay) -> list[Design]:
    """The designs that are lacking; empty where a question is sized to the median, or all is known."""
    if replay.context.spec.size_to != "lower_bound":
        return []
    sure = [_told(replay, place) for place in range(len(replay.context.lines))]
    beside = [0] * len(sure)
    while steps := list(_steps(replay, sure, beside)):
        designs = [replay.context.member(*step) for step in steps]
        if missing := replay.missing(designs):
            return missing
        for (place, counts), design in zip(steps, designs, strict=True):
            beside[place] += counts not in sure[place]
            sure[place][counts] = _sure(replay, design, replay.done[design.design_id])
    return []


def _told(replay: Replay, place: int) -> dict[Counts, Tried]:
    """By what the search has tried: what only holds the rate, with its capacity unknown, has not been asked this."""
    found = {}
    for counts, tried in replay.tried[place].items():
        if tried.capacity_req_per_s is not None:
            design = replay.context.member(place, counts)
            known = replay.done.get(design.design_id)
            is_whole = known is not None and known.status == "evaluated"
            found[counts] = _sure(replay, design, known) if known is not None and is_whole else tried
        elif not tried.holds:
            found[counts] = tried
    return found


def _sure(replay: Replay, design: Design, known: Evaluation) -> Tried:
    if known.status != "evaluated" or not known.capacity_req_per_s:
        return Tried(False, 0.0, known.binding_pool)
    low = margin(design.case, known).low
    rate = replay.context.spec.rate_req_per_s
    return Tried(low >= rate and known.holds(rate), low, known.binding_pool)


def _steps(replay: Replay, sure: list[dict[Counts, Tried]], beside: list[int]) -> Iterator[tuple[int, Counts]]:
    for place, line in enumerate(replay.context.lines):
        bounds = replay.context.bounds[place]
        if any(tried.holds and inside(line, counts, bounds) for counts, tried in replay.tried[place].items()):
            proven = _proven(replay, sure, place)
            step = refine(line, replay.context.spec, bounds, sure[place], beside[place], proven)
            yield from ((place, counts) for counts in {**dict.fromkeys(step.at_rate), **dict.fromkeys(step.whole)})


def _proven(replay: Replay, sure: list[dict[Counts, Tried]], place: int) -> Proven:
    """Beaten: another that surely holds has no more of any machine, and less of one."""
    context = replay.context
    holding = [
        context.machines_of(other, counts)
        for other, tried in enumerate(sure)
        for counts, found in tried.items()
        if found.holds
    ]

    def beaten(counts: Counts) -> bool:
        mine = context.machines_of(place, counts)
        return any((machines <= mine).all() and (machines < mine).any() for machines in holding)

    return Proven(lambda counts: context.bound_of(place, counts) < 0.99 * context.spec.rate_req_per_s, beaten)
