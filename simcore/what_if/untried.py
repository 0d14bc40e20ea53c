"""Designs that no study tried and that may come first, where a question is changed, or as it was asked.

The search never drops a design by price: what it screens is beaten at any prices (docs/decisions/0013), so a price, a
budget or a lower limit on ratings brings back nothing that was screened. But of a line's counts it tries those near the
required rate, and no others: all that just hold it where those are not too many (``simcore.search.boundary``), but at
another rate other counts do, and beyond the limits none were looked for. Counts that were not tried are told by those
that were: with no more machines in any pool than counts that fail they fail, with no fewer than counts that hold they
hold and are beaten. What is left between may come first where it uses less of what the goal compares than the answer,
keeps the limits, and may hold the rate by its fluid bound; and so may what holds the rate by one run alone.

Electricity is paid for what is drawn, which no proof from machines bounds: with a tariff, or a limit on drawn power,
what was screened counts too, with the power that its machines draw idle at the least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import floor, inf

from simcore import fleet
from simcore.answer.measure import measure_of
from simcore.answer.result import StudyResult
from simcore.economics.energy import energy_usd_per_hour
from simcore.economics.hourly import HOURS_PER_MONTH
from simcore.evaluation import Design, Evaluation
from simcore.families import Line, PoolChoice
from simcore.power import idle_w
from simcore.search.context import Context
from simcore.search.cost import TRIAL_RUNS, predicted_cpu_s
from simcore.search.counts import MOST_MACHINES, Counts, explicit_counts
from simcore.spec import PriceBook, StudySpec
from simcore.what_if.changes import WhatIf

MOST_DESIGNS = 400
"""Named one by one; more are counted."""
MOST_COUNTED = 5_000
DRAWN = ("drawn_mean", "drawn_p99")
JUST_UNDER = 1 - 1e-9


@dataclass(frozen=True)
class Untried:
    """What may come first and was never simulated."""

    designs: tuple[Design, ...] = ()
    """Least of what the goal compares first; at most ``MOST_DESIGNS``."""
    count: int = 0
    """How many there are; ``MOST_COUNTED`` stands for that or more."""
    cpu_s: float = 0.0
    """What one run of each takes, about."""
    nothing_holds: bool = False
    """No design tried holds the rate, which is above the study's: larger ones, which were not looked for, may."""

    def __bool__(self) -> bool:
        return bool(self.count) or self.nothing_holds


@dataclass(frozen=True)
class _Pool:
    """What a machine of a pool uses of each thing that is limited or compared."""

    choice: PoolChoice
    figure: float
    uses: tuple[float, ...]


@dataclass
class _Told:
    """What is known of a line's counts at the rate."""

    failing: list[Counts] = field(default_factory=list)
    holding: list[Counts] = field(default_factory=list)
    beaten: set[Counts] = field(default_factory=set)
    """Or cannot run: told of these counts alone."""
    never: bool = False
    """With any counts a limit is missed by requests that are all but alone."""
    unsearched: list[Counts] = field(default_factory=list)
    """They hold the rate by one run, and their capacity was not searched."""


def untried(context: Context, found: WhatIf) -> Untried:
    """The designs that may come before the answer under the changes; ``context``: the study's own, as it was asked.

    Nothing is said where the most is asked for (goal ``throughput``), and nothing of another SLO, which must be
    simulated.
    """
    if not _is_told(found):
        return Untried()
    nothing_holds = found.result.winner is None and not _any_holds(found.result) and not _never_holds(context, found)
    members = sorted(_open(context, found), key=lambda member: member[0])
    designs = tuple(context.member(place, counts) for _, place, counts in members[:MOST_DESIGNS])
    cpu_s = sum(predicted_cpu_s(design.case, context.statistics, TRIAL_RUNS) for design in designs)
    return Untried(designs, len(members), cpu_s * len(members) / max(len(designs), 1), nothing_holds)


def count_untried(context: Context, found: WhatIf) -> int:
    """How many ``untried`` finds."""
    return len(_open(context, found)) if _is_told(found) else 0


def _is_told(found: WhatIf) -> bool:
    return found.result.spec.goal != "throughput" and not found.simulates


def _open(context: Context, found: WhatIf) -> list[tuple[float, int, Counts]]:
    """(least figure, line, counts) of each, in no order."""
    result = found.result
    winner, bounded = result.winner, min(_limits(result.spec)) < inf
    if winner is None and not bounded:
        return []
    best = inf if winner is None else measure_of(result).figure(winner) * JUST_UNDER
    return list(islice(_members(context, result, _told(context, found), best), MOST_COUNTED))


def _any_holds(result: StudyResult) -> bool:
    """Whether a design tried holds the rate, limits aside."""
    rate = result.spec.rate_req_per_s
    return any(result.holds(name, rate) for name in result.evaluations)


def _never_holds(context: Context, found: WhatIf) -> bool:
    """Whether of each line that can run it is known that no counts hold any rate."""
    told = zip(context.lines, _told(context, found), strict=True)
    return all(line.reason or known.never for line, known in told)


def _members(
    context: Context, result: StudyResult, told: Sequence[_Told], best: float
) -> Iterator[tuple[float, int, Counts]]:
    """(least figure, line, counts) of all that may come first."""
    for place, line in enumerate(context.lines):
        if line.reason or told[place].never or explicit_counts(line, context.spec):  # where counts are given, no others
            continue
        pools = [_pool(pool, result.spec, result.book) for pool in line.pools]
        most = [*_limits(result.spec), best]
        for counts in _between(context, place, pools, most, told[place], result.spec.rate_req_per_s):
            if _keeps_counts(line, counts, result.spec):
                yield sum(pool.figure * count for pool, count in zip(pools, counts, strict=True)), place, counts


def _between(
    context: Context, place: int, pools: Sequence[_Pool], most: Sequence[float], told: _Told, rate: float
) -> Iterator[Counts]:
    """Counts of a line that neither fail nor hold by what is known, within ``most`` of each use."""
    unsearched = [counts for counts in told.unsearched if not _has_less(told.holding, counts)]
    firsts: Iterable[Counts] = ((),) if len(pools) == 1 else ((n,) for n in range(1, _most(pools[0], most) + 1))
    for first in firsts:
        left = [limit - pools[0].uses[i] * first[0] if first else limit for i, limit in enumerate(most)]
        low = 1 + max((counts[-1] for counts in told.failing if counts[:-1] >= first), default=0)
        high = min((counts[-1] - 1 for counts in told.holding if counts[:-1] <= first), default=MOST_MACHINES)
        high = min(high, _most(pools[-1], left))
        low = _first_that_may(context, place, first, low, high, rate)
        yield from (counts for last in range(low, high + 1) if (counts := (*first, last)) not in told.beaten)
        most_last = _most(pools[-1], left)
        yield from (counts for counts in unsearched if counts[:-1] == first and counts[-1] <= most_last)


def _has_less(holding: Sequence[Counts], counts: Counts) -> bool:
    """Whether another that holds the rate has no more in any pool."""
    return any(other != counts and all(o <= c for o, c in zip(other, counts, strict=True)) for other in holding)


def _first_that_may(context: Context, place: int, first: Counts, low: int, high: int, rate: float) -> int:
    """The fewest of the last pool whose bound reaches the rate: it grows with machines."""
    while low <= high:
        middle = (low + high) // 2
        if context.bound_of(place, (*first, middle)) < 0.99 * rate:
            low = middle + 1
        else:
            high = middle - 1
    return low


def _most(pool: _Pool, left: Sequence[float]) -> int:
    """Machines of the pool that what is left of each use allows."""
    by_use = (limit / use for limit, use in zip(left, pool.uses, strict=True) if use > 0 and limit < inf)
    on_hand = inf if pool.choice.on_hand is None else pool.choice.on_hand
    return max(0, floor(min(min(by_use, default=inf), on_hand, MOST_MACHINES) + 1e-9))


def _pool(pool: PoolChoice, spec: StudySpec, book: PriceBook) -> _Pool:
    """What a machine uses, in the order of ``_limits``, and of what the goal compares."""
    machine, usd = pool.machine, float(book.price(pool.machine.id).usd_per_hour)
    if book.usd_per_kwh:
        usd += float(energy_usd_per_hour(idle_w(machine), spec.pue, book.usd_per_kwh))
    rated = {"nameplate": machine.nameplate_w, "provisioned": machine.provisioned()}
    watts = rated.get(spec.limits.power_kind, idle_w(machine))  # drawn: no less than this
    compared = {"power": watts, "machines": 1.0}.get(spec.goal, usd)
    return _Pool(pool, compared, (usd, watts, 1.0, compared))


def _limits(spec: StudySpec) -> tuple[float, ...]:
    """Of dollars an hour, watts and machines."""
    limits = spec.limits
    usd = inf if limits.usd_per_month is None else limits.usd_per_month / HOURS_PER_MONTH * (1 + 1e-12)
    watts = inf if limits.power_limit_kw is None else limits.power_limit_kw * 1000 * (1 + 1e-12)
    return usd, watts, inf if limits.machines is None else float(limits.machines)


def _keeps_counts(line: Line, counts: Counts, spec: StudySpec) -> bool:
    """Whole replicas; and limits that do not add up pool by pool: racks, and machines on hand that both pools share."""
    if line.whole(counts) != counts:
        return False
    on_hand = line.pools[0].on_hand
    alike = len({pool.machine.id for pool in line.pools}) < len(line.pools)
    if alike and on_hand is not None and sum(counts) > on_hand:
        return False
    racks = None if spec.limits.racks is None else fleet.racks(line.design(counts).case)
    return racks is None or racks <= (spec.limits.racks or 0)


def _told(context: Context, found: WhatIf) -> list[_Told]:
    """By line."""
    places = {_kind(line.family, line.scheduler, line.pools): place for place, line in enumerate(context.lines)}
    told = [_Told() for _ in context.lines]
    for name, design in found.result.designs.items():
        place = places.get(_kind(design.family, design.case.scheduler, design.case.pools))
        if place is not None:
            counts = tuple(fleet.pool_machines(pool) for pool in design.case.pools)
            _note(told[place], counts, name, found)
    return told


def _kind(family: str, scheduler: object, pools: Iterable[object]) -> tuple[object, ...]:
    """What the designs of one line have in common."""
    return family, scheduler, tuple((p.role, p.tensor_parallel, p.pipeline_parallel) for p in pools)  # type: ignore[attr-defined]


def _note(told: _Told, counts: Counts, design_id: str, found: WhatIf) -> None:
    evaluation = found.result.evaluations[design_id]
    if evaluation.status == "evaluated":
        told.never |= evaluation.misses_alone
        holds = found.result.holds(design_id, found.result.spec.rate_req_per_s)
        (told.holding if holds else told.failing).append(counts)
    elif evaluation.status == "infeasible":
        told.beaten.add(counts)
    elif evaluation.status == "screened":
        _note_screened(told, counts, evaluation, found)


def _note_screened(told: _Told, counts: Counts, evaluation: Evaluation, found: WhatIf) -> None:
    """What holds a rate holds all below it, what fails at one fails at all above."""
    rate, asked = found.result.spec.rate_req_per_s, found.base.spec.rate_req_per_s
    failed = evaluation.rate_only and not evaluation.held_required
    is_median = found.result.spec.size_to == "median"
    if evaluation.rate_only and evaluation.held_required and rate <= asked and is_median:
        told.holding.append(counts)
        told.unsearched.append(counts)
    elif evaluation.capacity_high < 0.99 * rate or (failed and rate >= asked):
        told.failing.append(counts)
    elif not evaluation.rate_only and is_median and not _counts_drawn(found):
        told.beaten.add(counts)


def _counts_drawn(found: WhatIf) -> bool:
    """Whether drawn watts decide: no proof from machines says what is drawn."""
    limits = found.result.spec.limits
    limited = limits.power_limit_kw is not None and limits.power_kind in DRAWN
    return bool(found.result.book.usd_per_kwh) or limited
