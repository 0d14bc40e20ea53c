"""Two pools: towards the pairs of counts that hold the required rate with the fewest machines, the least power, or
little of either pool, to the last machine. What lies between those is walked by ``boundary``, which for large pools is
coarser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simcore.families import Line
from simcore.search.counts import Bounds, Counts, filled, most_prefill
from simcore.search.tried import Proven, Tried, failing, grown, holding, lacks_capacity

SPREAD = 4
"""Parts into which the pairs of as many machines in all are cut by the first ones looked at."""


def best(line: Line, tried: Mapping[Counts, Tried], proven: Proven) -> list[Counts]:
    """In each direction the best pair so far with less of one pool; none where that is all known to fail."""
    held, failed = holding(tried), failing(tried)
    wanted: list[Counts | None] = []
    for weights in _directions(line) if held else ():
        least = min(held, key=lambda counts: (sum(w * c for w, c in zip(weights, counts, strict=True)), counts))
        wanted += [_lowered(least, axis, failed, proven) for axis in (0, 1)]
    return sorted({counts for counts in wanted if counts is not None})


def larger(line: Line, bounds: Bounds, tried: Mapping[Counts, Tried], rate: float, *, most: bool) -> list[Counts]:
    """Where nothing holds the rate yet, or the ``most`` is asked for, pairs that fill the limits best; in the first
    case also the best so far with more of the pool that binds."""
    if holding(tried):
        return _along_the_limit(line, bounds, tried) if most else []
    return [*_grown(rate, tried), *_along_the_limit(line, bounds, tried)]


def balanced(tried: Mapping[Counts, Tried], least: Counts = (1, 1)) -> list[Counts]:
    """Where both pools have the same machines: of the pairs of the fewest in all that hold the rate, towards the one
    that holds most: some that are spread evenly, then those next to the best. ``least``: of either pool."""
    known = {counts: found.held_req_per_s for counts, found in tried.items() if found.holds and found.held_req_per_s}
    if not known:
        return []
    total, failed = min(map(sum, known)), failing(tried)
    able = [first for first in range(least[0], total - least[1] + 1) if not _is_under(failed, (first, total - first))]
    best = max((counts for counts in known if sum(counts) == total), key=lambda counts: (known[counts], counts))[0]
    spread = [able[len(able) * part // SPREAD] for part in range(1, SPREAD)]
    for firsts in (spread, [first for first in (best - 1, best + 1) if first in able]):
        if wanted := [pair for first in firsts if lacks_capacity(tried, pair := (first, total - first))]:
            return list(dict.fromkeys(wanted))
    return []


def _is_under(failed: Sequence[Counts], counts: Counts) -> bool:
    return any(first >= counts[0] and second >= counts[1] for first, second in failed)


def _directions(line: Line) -> list[tuple[float, float]]:
    """What to keep small: machines, power, and either pool at the other's expense (prices may favour either)."""
    first, second = (pool.machine.nameplate_w for pool in line.pools)
    return [(1.0, 1.0), (first, second), (2.5, 1.0), (1.0, 2.5)]


def _lowered(counts: Counts, axis: int, failed: list[Counts], proven: Proven) -> Counts | None:
    """Half-way down one pool to the largest count known to fail beside it; None where that is the next one."""
    other = 1 - axis
    beside = [known for known in failed if known[other] >= counts[other] and known[axis] < counts[axis]]
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


def _grown(rate_req_per_s: float, tried: Mapping[Counts, Tried]) -> list[Counts]:
    """Nothing holds yet: the best design with more of the pool that binds, both where that is not known."""
    most = max(sorted(tried), key=lambda counts: tried[counts].held_req_per_s)
    prefill, decode = (grown(count, tried[most].held_req_per_s, rate_req_per_s) for count in most)
    pool = tried[most].binding_pool
    return [(most[0] if pool == "decode" else prefill, most[1] if pool == "prefill" else decode)]


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
