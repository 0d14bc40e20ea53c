"""Closing in on the required rate along one line: the designs that hold it with no machine to spare.

Pure and deterministic. Takes for granted that machines added do not lower the rate held; the results shown are
simulated, never inferred. Between what fails and what holds a design is asked only whether it holds the rate; its
capacity where no fewer machines of the line do. Counts whose fluid bound is under the rate cannot hold it and are not
tried; nor are those that an evaluated design beats (``dominance``), below which the search goes on, nor those that
other machines known to hold the rate make needless. With one pool that is one count; with two all pairs that may come
first under some prices and limits (``boundary``), and in a few directions the best to the last machine (``two_pools``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from simcore.families import Line
from simcore.search import boundary, one_pool, two_pools
from simcore.search.counts import Bounds, Counts, explicit_counts, inside, least
from simcore.search.tried import Proven, Step, Tried, fewest, lacks_capacity
from simcore.spec import StudySpec

MOST_REFINED = 28
"""Designs of one line beside its grid, on the way to the rate in a few directions."""
MOST_WALKED = 200
"""With two pools, beside its grid, the walk along the boundary included."""


def refine(
    line: Line,
    spec: StudySpec,
    bounds: Bounds,
    tried: Mapping[Counts, Tried],
    beside_grid: int,
    proven: Proven,
    most_walked: int = MOST_WALKED,
) -> Step:
    """The next counts to ask for. ``beside_grid``: of those tried, how many are not of the line's grid."""
    if line.reason or explicit_counts(line, spec) or not tried:
        return Step()
    if len(line.pools) == 1:
        return _one_pool(line, spec, bounds, tried, proven, more=beside_grid < MOST_REFINED)
    left = _Left(beside_grid < MOST_REFINED, beside_grid < most_walked, beside_grid < most_walked + MOST_REFINED)
    return _two_pools(line, spec, bounds, tried, proven, left)


@dataclass(frozen=True)
class _Left:
    """What of a line's designs may still be asked."""

    to_grow: bool
    to_walk: bool
    to_close_in: bool


def _one_pool(
    line: Line, spec: StudySpec, bounds: Bounds, tried: Mapping[Counts, Tried], proven: Proven, *, more: bool
) -> Step:
    between = one_pool.between(line, tried, proven, spec.rate_req_per_s) if more else []
    larger = one_pool.larger(tried, spec.rate_req_per_s) if more else []
    at_rate, whole = (_open(line, bounds, proven, found) for found in (between, [*fewest(tried), *larger]))
    return Step(_untried(tried, at_rate), _unsearched(tried, whole))


def _two_pools(
    line: Line,
    spec: StudySpec,
    bounds: Bounds,
    tried: Mapping[Counts, Tried],
    proven: Proven,
    left: _Left,
) -> Step:
    rate, most = spec.rate_req_per_s, spec.goal == "throughput"
    wanted = two_pools.larger(line, bounds, tried, rate, most=most) if left.to_grow else []
    larger = _unsearched(tried, _open(line, bounds, proven, wanted))
    at_rate: tuple[Counts, ...] = ()
    if left.to_walk and not larger and any(found.capacity_req_per_s != 0 for found in tried.values()):
        at_rate = tuple(boundary.between(line, bounds, tried, proven))
    if left.to_close_in and not at_rate:
        at_rate = _untried(tried, _open(line, bounds, proven, two_pools.best(line, tried, proven)))
    known = {counts: not lacks_capacity(tried, counts) for counts in tried}
    # a screened one has no capacity that could be asked for
    able = [counts for counts in fewest(tried) if counts not in proven.told]
    worth: Sequence[Counts] = boundary.worth_capacity(able, known, proven.enough)
    if proven.enough.alike and not worth:
        balanced = _unsearched(tried, map(line.whole, two_pools.balanced(tried, least(line, spec))))
        worth = [counts for counts in balanced if counts not in proven.told]
    return Step(at_rate, (*(counts for counts in worth if inside(line, counts, bounds)), *larger))


def _open(line: Line, bounds: Bounds, proven: Proven, found: Iterable[Counts]) -> tuple[Counts, ...]:
    """Of whole replicas those that keep the limits, and of which nothing is proven."""
    return tuple(
        counts
        for counts in dict.fromkeys(map(line.whole, found))
        if inside(line, counts, bounds) and not proven.cannot(counts) and not proven.beaten(counts)
    )


def _untried(tried: Mapping[Counts, Tried], found: Iterable[Counts]) -> tuple[Counts, ...]:
    return tuple(counts for counts in found if counts not in tried)


def _unsearched(tried: Mapping[Counts, Tried], found: Iterable[Counts]) -> tuple[Counts, ...]:
    return tuple(counts for counts in found if lacks_capacity(tried, counts))
