"""Which machine counts of a line are candidates: the user's own, every one that matters, or a coarse grid.

Pure. Nothing is decided by price (DESIGN.md section 2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import ceil, floor
from operator import ge

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
MOST_MACHINES = 10_000
"""Larger designs are not searched, whatever limits allow: at the rates that they hold a study would take hours."""
CO_LOCATED_STEP, SPLIT_STEP = 4, 64
"""``counts.every``: each count up to this, from there on in steps of this part of the count: a finer step would change
the capacity by less than the next design of the chart."""


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


def grid(line: Line, spec: StudySpec, bounds: Bounds) -> list[Counts]:
    """The line's candidates; at least its smallest member, which stands for a line that cannot run or fit.

    Counts that the user gave are all candidates, those over a limit too: their rows say by how much.
    """
    smallest = [least(line, spec)]
    if line.reason:
        return smallest
    explicit = explicit_counts(line, spec)
    if explicit:
        return explicit
    if spec.counts.every:
        found = _every_one(line, spec, bounds) if len(line.pools) == 1 else _every_two(line, spec, bounds)
    else:
        found = _coarse_one(line, spec, bounds) if len(line.pools) == 1 else _coarse_two(line, spec, bounds)
    able = {line.whole(counts) for counts in found if min(counts) >= 1}
    enough = (counts for counts in able if all(map(ge, counts, smallest[0])))
    return sorted(counts for counts in enough if inside(line, counts, bounds)) or smallest


def least(line: Line, spec: StudySpec) -> Counts:
    """A replica in each pool, whichever machines are lost that must be survived."""
    return tuple((1 + spec.failures) * pool.span for pool in line.pools)


def explicit_counts(line: Line, spec: StudySpec) -> list[Counts]:
    """All combinations of the counts that the user gave; none where a pool has no counts given."""
    axes = [getattr(spec.counts, pool.role) for pool in line.pools]
    return [] if None in axes else list(product(*axes))


def filled(line: Line, bounds: Bounds, prefill: int) -> Counts:
    """So many prefill machines and as many decode machines as the limits leave room for."""
    first, second = (pool.machine.nameplate_w for pool in line.pools)
    decode = floor((bounds.most_kw * 1000 - prefill * first) / second + 1e-9)
    return prefill, min(decode, bounds.most_each[1], bounds.most_total - prefill)


def most_prefill(line: Line, bounds: Bounds) -> int:
    """One more than the most prefill machines that leave room for a decode machine."""
    first, second = (pool.machine.nameplate_w for pool in line.pools)
    by_power = floor((bounds.most_kw * 1000 - second) / first + 1e-9)
    return min(by_power, bounds.most_each[0], bounds.most_total - 1) + 1


def _most_one(line: Line, spec: StudySpec, bounds: Bounds) -> int:
    most = min(bounds.most_each[0], bounds.most_total, floor(bounds.most_kw * 1000 / line.nameplate_w((1,)) + 1e-9))
    return most if spec.goal == "throughput" else min(most, ceil(bounds.need[0] * BEYOND_NEED) + 1)


def _most_w(line: Line, spec: StudySpec, bounds: Bounds) -> float:
    """Nameplate power worth trying for two pools."""
    prefill_w, decode_w = (pool.machine.nameplate_w for pool in line.pools)
    needed_w = bounds.need[0] * prefill_w + bounds.need[1] * decode_w
    top_w = bounds.most_kw * 1000
    if spec.goal != "throughput":
        top_w = min(top_w, max(BEYOND_NEED * needed_w, 2 * (prefill_w + decode_w)))
    return min(top_w, bounds.most_total * max(prefill_w, decode_w))


def _coarse_one(line: Line, spec: StudySpec, bounds: Bounds) -> list[Counts]:
    top = _most_one(line, spec, bounds)
    return [(max(1, round(top * share)),) for share in COARSE_SHARES]


def _coarse_two(line: Line, spec: StudySpec, bounds: Bounds) -> list[Counts]:
    prefill_w, decode_w = (pool.machine.nameplate_w for pool in line.pools)
    top_w = _most_w(line, spec, bounds)
    found: list[Counts] = []
    for total, share in product(SPLIT_TOTALS, SPLIT_SHARES):
        prefill = max(1, round(total * share * top_w / prefill_w))
        decode = floor((total * top_w - prefill * prefill_w) / decode_w + 1e-9)
        found.append((min(prefill, bounds.most_each[0]), min(max(decode, 1), bounds.most_each[1])))
    return found


def _every_one(line: Line, spec: StudySpec, bounds: Bounds) -> list[Counts]:
    return [(count,) for count in stepped(_most_one(line, spec, bounds), CO_LOCATED_STEP)]


def _every_two(line: Line, spec: StudySpec, bounds: Bounds) -> list[Counts]:
    """For every prefill count as many decode machines as there is room for."""
    within = Bounds(bounds.most_each, bounds.most_total, _most_w(line, spec, bounds) / 1000, bounds.need)
    return [filled(line, within, prefill) for prefill in stepped(most_prefill(line, within) - 1, SPLIT_STEP)]


def stepped(most: int, step: int) -> Iterable[int]:
    """1, 2, 3, … up to ``step``, then ever wider apart; the last is ``most``."""
    count = 1
    while count < most:
        yield count
        count += max(1, count // step)
    if most >= 1:
        yield most
