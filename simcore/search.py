"""Which counts of machines to try next, along one line of designs.

Pure and deterministic: the same results so far give the same proposals, so a study that was interrupted goes on where
it stopped. Nothing is decided by price (DESIGN.md section 2): the search closes in on every design that holds the
required rate with the fewest machines or the least power, whatever a machine costs.

Two steps: a coarse grid over what the limits leave open, then refinement around the required rate. Refinement takes for
granted that machines added do not lower the rate held; the results shown are simulated, never inferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import ceil, floor

from simcore.evaluation import Evaluation
from simcore.families import Line
from simcore.spec import StudySpec

Counts = tuple[int, ...]
COARSE_SHARES = (0.25, 0.5, 0.75, 1.0)
"""Co-located: of the most machines worth trying."""
SPLIT_TOTALS = (0.6, 0.8, 1.0)
SPLIT_SHARES = (0.35, 0.5, 0.65, 0.8)
"""Split: of the nameplate power worth trying, and of that the prefill pool's part."""
BEYOND_NEED = 3.0
"""Counts up to this multiple of what the work alone needs are worth trying: beyond it machines stand idle."""
OVERSHOOT = 1.03
"""When growing towards the rate, aim a little above it."""
MOST_TRIED = 40
"""Designs of one line; a wider search would not change what is read off a coarse chart."""


@dataclass(frozen=True)
class Bounds:
    """What a line may use: most machines of each pool and of both, most power; and what the work alone needs."""

    most_each: Counts
    most_total: int
    most_kw: float
    need: tuple[float, ...]
    """Machines of each pool that the required rate's work keeps busy, queueing left out."""


def inside(line: Line, counts: Counts, bounds: Bounds) -> bool:
    """Whether the counts keep to the limits."""
    return (
        all(count <= most for count, most in zip(counts, bounds.most_each, strict=True))
        and sum(counts) <= bounds.most_total
        and line.nameplate_w(counts) <= bounds.most_kw * 1000 * (1 + 1e-12)
    )


def proposals(line: Line, spec: StudySpec, bounds: Bounds, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
    """The next counts to evaluate; empty when the line is done."""
    if not tried:
        return coarse(line, spec, bounds)
    if _explicit(line, spec) or len(tried) >= MOST_TRIED:
        return []
    wanted = _refine_one(spec, tried) if len(line.pools) == 1 else _refine_two(line, spec, bounds, tried)
    return [counts for counts in wanted if counts not in tried and inside(line, counts, bounds)]


def coarse(line: Line, spec: StudySpec, bounds: Bounds) -> list[Counts]:
    """The first wave: the user's own grid, or one over what the limits and the need leave open.

    Counts that the user gave are all tried, those over a limit too: their rows say by how much.
    """
    explicit = _explicit(line, spec)
    if explicit:
        return explicit
    grid: list[Counts] = _coarse_one(line, spec, bounds) if len(line.pools) == 1 else _coarse_two(line, spec, bounds)
    return sorted({counts for counts in grid if min(counts) >= 1 and inside(line, counts, bounds)})


def _explicit(line: Line, spec: StudySpec) -> list[Counts]:
    axes = [getattr(spec.counts, pool.role) for pool in line.pools]
    return [] if None in axes else list(product(*axes))


def _coarse_one(line: Line, spec: StudySpec, bounds: Bounds) -> list[Counts]:
    most = min(bounds.most_each[0], bounds.most_total, floor(bounds.most_kw * 1000 / line.nameplate_w((1,)) + 1e-9))
    top = most if spec.goal == "throughput" else min(most, ceil(bounds.need[0] * BEYOND_NEED) + 1)
    return [(max(1, round(top * share)),) for share in COARSE_SHARES]


def _coarse_two(line: Line, spec: StudySpec, bounds: Bounds) -> list[Counts]:
    prefill_w, decode_w = (pool.machine.nameplate_w for pool in line.pools)
    needed_w = bounds.need[0] * prefill_w + bounds.need[1] * decode_w
    top_w = bounds.most_kw * 1000
    if spec.goal != "throughput":
        top_w = min(top_w, max(BEYOND_NEED * needed_w, 2 * (prefill_w + decode_w)))
    top_w = min(top_w, bounds.most_total * max(prefill_w, decode_w))
    grid: list[Counts] = []
    for total, share in product(SPLIT_TOTALS, SPLIT_SHARES):
        prefill = max(1, round(total * share * top_w / prefill_w))
        decode = floor((total * top_w - prefill * prefill_w) / decode_w + 1e-9)
        grid.append((min(prefill, bounds.most_each[0]), min(max(decode, 1), bounds.most_each[1])))
    return grid


def _holding(spec: StudySpec, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
    return sorted(counts for counts, evaluation in tried.items() if evaluation.holds(spec.rate_req_per_s))


def _failing(spec: StudySpec, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
    return sorted(counts for counts, evaluation in tried.items() if not evaluation.holds(spec.rate_req_per_s))


def _refine_one(spec: StudySpec, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
    """Close the gap between the largest count that fails and the smallest that holds, by interpolation."""
    holding, failing = _holding(spec, tried), _failing(spec, tried)
    if not holding:
        largest = max(failing)
        return [(_grown(largest[0], tried[largest].capacity_req_per_s, spec),)]
    high = min(holding)[0]
    low = max((counts[0] for counts in failing if counts[0] < high), default=0)
    if high - low <= 1:
        return []
    held_low = tried[(low,)].capacity_req_per_s if low else 0.0
    held_high = tried[(high,)].capacity_req_per_s
    share = (spec.rate_req_per_s - held_low) / max(held_high - held_low, 1e-9)
    return [(min(max(ceil(low + share * (high - low)), low + 1), high - 1),)]


def _grown(count: int, capacity: float, spec: StudySpec) -> int:
    """Machines that would hold the rate if capacity grew in proportion; the same count where none helps."""
    if capacity <= 0:
        return count
    return max(count + 1, ceil(count * spec.rate_req_per_s / capacity * OVERSHOOT))


def _refine_two(line: Line, spec: StudySpec, bounds: Bounds, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
    holding, failing = _holding(spec, tried), _failing(spec, tried)
    along = _along_the_limit(line, bounds, tried) if not holding or spec.goal == "throughput" else []
    if not holding:
        return _grown_two(spec, tried) + along
    wanted = []
    for weights in _directions(line):
        best = min(holding, key=lambda counts: (sum(w * c for w, c in zip(weights, counts, strict=True)), counts))
        wanted += [_lowered(best, axis, failing) for axis in (0, 1)]
    return sorted({counts for counts in wanted if counts is not None} | set(along))


def _directions(line: Line) -> list[tuple[float, float]]:
    """What to keep small: machines, power, and either pool at the other's expense (prices may favour either)."""
    first, second = (pool.machine.nameplate_w for pool in line.pools)
    return [(1.0, 1.0), (first, second), (2.5, 1.0), (1.0, 2.5)]


def _lowered(counts: Counts, axis: int, failing: list[Counts]) -> Counts | None:
    """Half-way down one pool to the largest count known to fail beside it; None where that is the next one."""
    other = 1 - axis
    beside = [known for known in failing if known[other] >= counts[other] and known[axis] < counts[axis]]
    lowest = max((known[axis] for known in beside), default=0)
    if counts[axis] - lowest <= 1:
        return None
    middle = (counts[axis] + lowest) // 2
    return (middle, counts[1]) if axis == 0 else (counts[0], middle)


def _grown_two(spec: StudySpec, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
    """Nothing holds yet: the best design with more of the pool that binds, both where that is not known."""
    best = max(sorted(tried), key=lambda counts: tried[counts].capacity_req_per_s)
    prefill, decode = (_grown(count, tried[best].capacity_req_per_s, spec) for count in best)
    pool = tried[best].binding_pool
    return [(best[0] if pool == "decode" else prefill, best[1] if pool == "prefill" else decode)]


def _along_the_limit(line: Line, bounds: Bounds, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
    """Bisect the prefill count with the decode pool filled up to the limits, towards where neither pool binds alone."""
    full = [counts for counts in tried if counts[1] >= 1 and _filled(line, bounds, counts[0]) == counts]
    low = max((counts[0] for counts in full if tried[counts].binding_pool == "prefill"), default=0)
    high = min(
        (counts[0] for counts in full if tried[counts].binding_pool == "decode"), default=_most_prefill(line, bounds)
    )
    if high - low <= 1:
        return []
    middle = _filled(line, bounds, (low + high) // 2)
    return [middle] if middle[1] >= 1 else []


def _filled(line: Line, bounds: Bounds, prefill: int) -> Counts:
    """So many prefill machines and as many decode machines as the limits leave room for."""
    first, second = (pool.machine.nameplate_w for pool in line.pools)
    decode = floor((bounds.most_kw * 1000 - prefill * first) / second + 1e-9)
    return prefill, min(decode, bounds.most_each[1], bounds.most_total - prefill)


def _most_prefill(line: Line, bounds: Bounds) -> int:
    """One more than the most prefill machines that leave room for a decode machine."""
    first, second = (pool.machine.nameplate_w for pool in line.pools)
    by_power = floor((bounds.most_kw * 1000 - second) / first + 1e-9)
    return min(by_power, bounds.most_each[0], bounds.most_total - 1) + 1
