"""Closing in on the required rate along one line: the designs that hold it with the fewest machines or the least power.

Pure and deterministic. Takes for granted that machines added do not lower the rate held; the results shown are
simulated, never inferred. Counts whose fluid bound is under the rate cannot hold it and are not tried; nor are those
that an evaluated design beats (``dominance``), below which the search goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil

from simcore.counts import Bounds, Counts, explicit_counts, filled, inside, most_prefill
from simcore.evaluation import Evaluation
from simcore.families import Line
from simcore.spec import StudySpec

OVERSHOOT = 1.03
"""When growing towards the rate, aim a little above it."""
MOST_REFINED = 28
"""Designs of one line beside its grid; a wider search would not change what is read off a chart."""


@dataclass(frozen=True)
class Proven:
    """What is known of counts without simulating them."""

    cannot: Callable[[Counts], bool]
    """They do not hold the required rate."""
    beaten: Callable[[Counts], bool]
    """An evaluated design holds more with no more of any machine."""


def refine(
    line: Line,
    spec: StudySpec,
    bounds: Bounds,
    tried: Mapping[Counts, Evaluation],
    beside_grid: int,
    proven: Proven,
) -> list[Counts]:
    """The next counts to evaluate; empty when the line is done. ``beside_grid``: of those tried, how many are not of
    the line's grid."""
    if line.reason or explicit_counts(line, spec) or beside_grid >= MOST_REFINED or not tried:
        return []
    one = len(line.pools) == 1
    wanted = _refine_one(spec, tried, proven) if one else _refine_two(line, spec, bounds, tried, proven)
    return [
        counts
        for counts in wanted
        if counts not in tried
        and inside(line, counts, bounds)
        and not proven.cannot(counts)
        and not proven.beaten(counts)
    ]


def _holding(spec: StudySpec, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
    return sorted(counts for counts, evaluation in tried.items() if evaluation.holds(spec.rate_req_per_s))


def _failing(spec: StudySpec, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
    return sorted(counts for counts, evaluation in tried.items() if not evaluation.holds(spec.rate_req_per_s))


def _refine_one(spec: StudySpec, tried: Mapping[Counts, Evaluation], proven: Proven) -> list[Counts]:
    """Close the gap between the largest count that fails and the smallest that holds, by interpolation."""
    holding, failing = _holding(spec, tried), _failing(spec, tried)
    if not holding:
        largest = max(failing)
        return [(_grown(largest[0], tried[largest].capacity_req_per_s, spec),)]
    high = min(holding)[0]
    low = max((counts[0] for counts in failing if counts[0] < high), default=0)
    held_low = tried[(low,)].capacity_req_per_s if low else 0.0
    held_high = tried[(high,)].capacity_req_per_s
    share = (spec.rate_req_per_s - held_low) / max(held_high - held_low, 1e-9)
    guess = ceil(low + share * (high - low))
    while low + 1 < high and proven.cannot((low + 1,)):
        low += 1
    while low + 1 < high and proven.beaten((high - 1,)):
        high -= 1
    return [] if high - low <= 1 else [(min(max(guess, low + 1), high - 1),)]


def _grown(count: int, capacity: float, spec: StudySpec) -> int:
    """Machines that would hold the rate if capacity grew in proportion; the same count where none helps."""
    if capacity <= 0:
        return count
    return max(count + 1, ceil(count * spec.rate_req_per_s / capacity * OVERSHOOT))


def _refine_two(
    line: Line, spec: StudySpec, bounds: Bounds, tried: Mapping[Counts, Evaluation], proven: Proven
) -> list[Counts]:
    holding, failing = _holding(spec, tried), _failing(spec, tried)
    along = _along_the_limit(line, bounds, tried) if not holding or spec.goal == "throughput" else []
    if not holding:
        return _grown_two(spec, tried) + along
    wanted = []
    for weights in _directions(line):
        best = min(holding, key=lambda counts: (sum(w * c for w, c in zip(weights, counts, strict=True)), counts))
        wanted += [_lowered(best, axis, failing, proven) for axis in (0, 1)]
    return sorted({counts for counts in wanted if counts is not None} | set(along))


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


def _grown_two(spec: StudySpec, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
    """Nothing holds yet: the best design with more of the pool that binds, both where that is not known."""
    best = max(sorted(tried), key=lambda counts: tried[counts].capacity_req_per_s)
    prefill, decode = (_grown(count, tried[best].capacity_req_per_s, spec) for count in best)
    pool = tried[best].binding_pool
    return [(best[0] if pool == "decode" else prefill, best[1] if pool == "prefill" else decode)]


def _along_the_limit(line: Line, bounds: Bounds, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
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
