"""Sizing to an interval's lower bound: the fewest machines whose capacity reaches the required rate there too.

Each line that holds the rate by what was simulated is closed in on again, by the same steps (``refine``), with the
lower bound of each design's 90 % interval (``trust.margins``: the simulation's noise and the error of iteration times)
in place of its capacity. Capacities are asked for outright, as the bound follows from a whole evaluation alone. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from simcore.evaluation import Design, Evaluation
from simcore.search.counts import Counts, inside
from simcore.search.holders import Holders
from simcore.search.refine import refine
from simcore.search.replay import Replay
from simcore.search.tried import Proven, Tried
from simcore.trust.margins import margin

MOST_WALKED = 60
"""Designs of one line beside those that the search has tried: each is a whole evaluation."""


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
    holders = Holders.of(replay.context, sure)
    for place, line in enumerate(replay.context.lines):
        bounds = replay.context.bounds[place]
        if any(tried.holds and inside(line, counts, bounds) for counts, tried in replay.tried[place].items()):
            proven = _proven(replay, holders, place)
            step = refine(line, replay.context.spec, bounds, sure[place], beside[place], proven, MOST_WALKED)
            yield from ((place, counts) for counts in {**dict.fromkeys(step.at_rate), **dict.fromkeys(step.whole)})


def _proven(replay: Replay, holders: Holders, place: int) -> Proven:
    """Beaten: another that surely holds has no more of any machine, and less of one."""
    enough, told = holders.enough(place, families_apart=False), replay.beaten[place]

    def beaten(counts: Counts) -> bool:
        needless = not enough.may_matter(*counts) if len(counts) == 2 else holders.need_less(place, counts)
        return counts in told or needless

    return replay.proven(place, beaten, enough)
