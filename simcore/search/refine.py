"""Closing in on the required rate along one line: the designs that hold it with the fewest machines or the least power.

Pure and deterministic. Takes for granted that machines added do not lower the rate held; the results shown are
simulated, never inferred. Between what fails and what holds a design is asked only whether it holds the rate; its
capacity where no fewer machines of the line do. Counts whose fluid bound is under the rate cannot hold it and are not
tried; nor are those that an evaluated design beats (``dominance``), below which the search goes on, nor those with more
machines than another design of the family needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from simcore.families import Line
from simcore.search.counts import Bounds, Counts, explicit_counts, filled, inside, most_prefill
from simcore.spec import StudySpec

OVERSHOOT = 1.03
"""When growing towards the rate, aim a little above it."""
MOST_REFINED = 28
"""Designs of one line beside its grid; a wider search would not change what is read off a chart."""


@dataclass(frozen=True)
class Tried:
    """What is known of counts that were simulated."""

    holds: bool
    """The required rate."""
    capacity_req_per_s: float | None
    """None where that was not asked."""
    binding_pool: str = ""


@dataclass(frozen=True)
class Proven:
    """What is known of counts without simulating them."""

    cannot: Callable[[Counts], bool]
    """They do not hold the required rate."""
    beaten: Callable[[Counts], bool]
    """An evaluated design holds more with no more of any machine, or one of the family holds the rate with fewer."""


@dataclass(frozen=True)
class Step:
    """The next counts of a line to ask for; both empty when it is done."""

    at_rate: tuple[Counts, ...] = ()
    """Whether they hold the required rate."""
    whole: tuple[Counts, ...] = ()
    """What they can hold."""


def refine(
    line: Line,
    spec: StudySpec,
    bounds: Bounds,
    tried: Mapping[Counts, Tried],
    beside_grid: int,
    proven: Proven,
) -> Step:
    """The next counts to ask for. ``beside_grid``: of those tried, how many are not of the line's grid."""
    if line.reason or explicit_counts(line, spec) or not tried:
        return Step()
    more = beside_grid < MOST_REFINED

    def open_(found: Iterable[Counts]) -> tuple[Counts, ...]:
        return tuple(counts for counts in found if _is_open(line, bounds, counts, proven))

    def whole(found: Iterable[Counts]) -> Iterable[Counts]:
        return dict.fromkeys(map(line.whole, found))

    holding = _holding(tried)
    between = _between(line, spec, tried, proven) if more and holding else []
    grown = _grown_line(line, spec, bounds, tried) if more else []
    fewest = [counts for counts in _fewest(holding) if tried[counts].capacity_req_per_s is None]
    return Step(
        open_(counts for counts in whole(between) if counts not in tried),
        open_([*fewest, *(counts for counts in whole(grown) if _lacks_capacity(tried, counts))]),
    )


def _is_open(line: Line, bounds: Bounds, counts: Counts, proven: Proven) -> bool:
    return inside(line, counts, bounds) and not proven.cannot(counts) and not proven.beaten(counts)


def _lacks_capacity(tried: Mapping[Counts, Tried], counts: Counts) -> bool:
    return counts not in tried or tried[counts].capacity_req_per_s is None


def _holding(tried: Mapping[Counts, Tried]) -> list[Counts]:
    return sorted(counts for counts, found in tried.items() if found.holds)


def _failing(tried: Mapping[Counts, Tried]) -> list[Counts]:
    return sorted(counts for counts, found in tried.items() if not found.holds)


def _fewest(holding: list[Counts]) -> list[Counts]:
    """Those of which no other holds the rate with no more in any pool: at some price each is the cheapest."""
    return [
        counts
        for counts in holding
        if not any(other != counts and all(o <= c for o, c in zip(other, counts, strict=True)) for other in holding)
    ]


def _between(line: Line, spec: StudySpec, tried: Mapping[Counts, Tried], proven: Proven) -> list[Counts]:
    """Between counts that fail and counts that hold."""
    return _between_one(spec, tried, proven) if len(line.pools) == 1 else _between_two(line, tried, proven)


def _grown_line(line: Line, spec: StudySpec, bounds: Bounds, tried: Mapping[Counts, Tried]) -> list[Counts]:
    """Larger counts, where nothing holds yet; with two pools, those that fill the limits best."""
    nothing = not _holding(tried)
    if len(line.pools) == 1:
        largest = max(tried)
        return [(_grown(largest[0], _held(tried[largest]), spec),)] if nothing else []
    along = _along_the_limit(line, bounds, tried) if nothing or spec.goal == "throughput" else []
    return [*_grown_two(spec, tried), *along] if nothing else along


def _held(found: Tried) -> float:
    return found.capacity_req_per_s or 0.0


def _between_one(spec: StudySpec, tried: Mapping[Counts, Tried], proven: Proven) -> list[Counts]:
    """Close the gap between the largest count that fails and the smallest that holds: first where the capacities known
    say, then ever further from there."""
    high = min(_holding(tried))[0]
    low = max((counts[0] for counts in _failing(tried) if counts[0] < high), default=0)
    while low + 1 < high and proven.cannot((low + 1,)):
        low += 1
    while low + 1 < high and proven.beaten((high - 1,)):
        high -= 1
    if high - low <= 1:
        return []
    guess = _interpolated(spec, tried)
    further = 2 * low + 1 - guess if guess <= low else 2 * high - 1 - guess if guess >= high else guess
    return [(min(max(further, low + 1), high - 1),)]


def _interpolated(spec: StudySpec, tried: Mapping[Counts, Tried]) -> int:
    """The count that just holds the rate, by the line between the nearest two of known capacity."""
    known = [(counts[0], found.capacity_req_per_s, found.holds) for counts, found in tried.items()]
    fails = [(count, held) for count, held, holds in known if held is not None and not holds]
    above = [(count, held) for count, held, holds in known if held is not None and holds]
    (high, held_high) = min(above, default=(min(_holding(tried))[0], spec.rate_req_per_s))
    (low, held_low) = max((one for one in fails if one[0] < high), default=(0, 0.0))
    share = (spec.rate_req_per_s - held_low) / max(held_high - held_low, 1e-9)
    return ceil(low + share * (high - low))


def _grown(count: int, capacity: float, spec: StudySpec) -> int:
    """Machines that would hold the rate if capacity grew in proportion; the same count where none helps."""
    if capacity <= 0:
        return count
    return max(count + 1, ceil(count * spec.rate_req_per_s / capacity * OVERSHOOT))


def _between_two(line: Line, tried: Mapping[Counts, Tried], proven: Proven) -> list[Counts]:
    holding, failing = _holding(tried), _failing(tried)
    wanted = []
    for weights in _directions(line):
        best = min(holding, key=lambda counts: (sum(w * c for w, c in zip(weights, counts, strict=True)), counts))
        wanted += [_lowered(best, axis, failing, proven) for axis in (0, 1)]
    return sorted({counts for counts in wanted if counts is not None})


def _directions(line: Line) -> list[tuple[float, float]]:
    """What to keep small: machines, power, and either pool at the other's expense (prices may favour either)."""
    first, second = (pool.machine.nameplate_w for pool in line.pools)
    return [(1.0, 1.0), (first, second), (2.5, 1.0), (1.0, 2.5)]


def _lowered(counts: Counts, axis: int, failing: list[Counts], proven: Proven) -> Counts | None:
    """Half-way down one pool to the largest count known to fail beside it; None where that is the next one."""
    other = 1 - axis
    beside = [known for known in failing if known[other] >= counts[other] and known[axis] < counts[axis]]
    lowest = max((known[axis] for known in beside), default=0)
    while counts[axis] - lowest > 1:
        middle = (counts[axis] + lowest) // 2
        found = (middle, counts[1]) if axis == 0 else (counts[0], middle)
        if proven.cannot(found):
            lowest = middle
        elif proven.beaten(found):
            counts = found
        else:
            return found
    return None


def _grown_two(spec: StudySpec, tried: Mapping[Counts, Tried]) -> list[Counts]:
    """Nothing holds yet: the best design with more of the pool that binds, both where that is not known."""
    best = max(sorted(tried), key=lambda counts: _held(tried[counts]))
    prefill, decode = (_grown(count, _held(tried[best]), spec) for count in best)
    pool = tried[best].binding_pool
    return [(best[0] if pool == "decode" else prefill, best[1] if pool == "prefill" else decode)]


def _along_the_limit(line: Line, bounds: Bounds, tried: Mapping[Counts, Tried]) -> list[Counts]:
    """Bisect the prefill count with the decode pool filled up to the limits, towards where neither pool binds alone."""
    full = [counts for counts in tried if counts[1] >= 1 and filled(line, bounds, counts[0]) == counts]
    low = max((counts[0] for counts in full if tried[counts].binding_pool == "prefill"), default=0)
    high = min(
        (counts[0] for counts in full if tried[counts].binding_pool == "decode"), default=most_prefill(line, bounds)
    )
    if high - low <= 1:
        return []
    middle = filled(line, bounds, (low + high) // 2)
    return [middle] if middle[1] >= 1 else []
