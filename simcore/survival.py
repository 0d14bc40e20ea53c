"""Machines lost at once that must be survived (``StudySpec.failures``): the ways to lose them, what is left of a
design, and what its evaluations with and without them say together.

Machines of a pool are alike, so a loss is a number a pool. Each lost machine takes all its replicas with it; where a
replica spans machines each takes another replica, the worst case. A pool of which nothing is left serves nothing. A
design with no fewer machines in any pool holds no less (docs/decisions/0012), so what is left after fewer losses holds
no less than after all, and the least over all ways to lose is monotone in the counts, too: all that the search proves
of capacities is true of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement

from simcore.evaluation import Evaluation, Loss
from simcore.fleet import carried, pool_machines, spanned
from simcore.spec import Case
from simcore.words import counted, listed

Lost = tuple[int, ...]
"""Machines of each pool; empty: none."""


def ways_to_lose(pools: int, failures: int) -> tuple[Lost, ...]:
    """All ways in which so many machines may be missing from so many pools; none where none are lost."""
    if not failures:
        return ()
    drawn = combinations_with_replacement(range(pools), failures)
    return tuple(tuple(places.count(place) for place in range(pools)) for places in drawn)


def evaluated_cases(pools: int, failures: int) -> int:
    """How many cases an evaluation simulates: with all machines, and what is left in each way to lose some."""
    return 1 + len(ways_to_lose(pools, failures))


def machines_left(machines: int, lost: int, span: int) -> int:
    """Of a pool whose replicas span so many machines, those that still serve; 0 or less: none."""
    return (machines // span - lost) * span if lost else machines


def left(case: Case, lost: Lost) -> Case | None:
    """The case without the lost machines; None where a pool has none left."""
    if not any(lost):
        return case
    counts = _counts_left(case, lost)
    if min(counts) <= 0:
        return None
    pools = (
        replace(pool, machines=count, replicas=None) if gone else pool
        for pool, count, gone in zip(case.pools, counts, lost, strict=True)
    )
    return replace(case, pools=tuple(pools))


def _counts_left(case: Case, lost: Lost) -> list[int]:
    pairs = zip(case.pools, lost, strict=True)
    return [machines_left(pool_machines(pool), gone, spanned(pool)) for pool, gone in pairs]


def likely_worst_first(case: Case, ways: Iterable[Lost]) -> list[Lost]:
    """The ways to lose, that of the largest part of a pool first: a run that fails spares the others."""
    replicas = [max(carried(pool), 1) for pool in case.pools]
    each = [carried(pool) / pool_machines(pool) if spanned(pool) == 1 else 1.0 for pool in case.pools]

    def part(lost: Lost) -> float:
        return max(count * per / of for count, per, of in zip(lost, each, replicas, strict=True))

    return sorted(ways, key=lambda lost: (-part(lost), lost))


def together(whole: Evaluation, losses: Sequence[Loss]) -> Evaluation:
    """What a design can do whichever machines are lost: the least of what it holds with all of them and in each way to
    lose some. Its figures are those of the worst; ``whole`` and ``losses`` keep them all, with what was spent."""
    if whole.status != "evaluated" or not losses:
        return whole
    parts = [*(loss.evaluation for loss in losses), whole]
    place = min(range(len(parts)), key=lambda place: parts[place].capacity_req_per_s)
    worst = parts[place]
    return replace(
        worst,
        design_id=whole.design_id,
        status="evaluated",
        reason="",
        capacity_low=min(part.capacity_low for part in parts),
        capacity_high=min(part.capacity_high for part in parts),
        warnings=tuple(dict.fromkeys(warning for part in parts for warning in part.warnings)),
        simulations=sum(part.simulations for part in parts),
        requests_simulated=sum(part.requests_simulated for part in parts),
        events=sum(part.events for part in parts),
        cpu_s=sum(part.cpu_s for part in parts),
        engine_version=whole.engine_version,
        key=whole.key,
        replications=worst.replications or whole.replications,
        whole=whole,
        losses=tuple(losses),
        lost=losses[place].lost if place < len(losses) else (),
    )


def surviving(case: Case, failures: int, evaluated: Callable[[Case], Evaluation]) -> Evaluation:
    """What a case can do whichever machines are lost, each smaller one evaluated anew."""
    whole = evaluated(case)
    if whole.status != "evaluated":
        return whole
    rests = {lost: left(case, lost) for lost in likely_worst_first(case, ways_to_lose(len(case.pools), failures))}
    losses = (Loss(lost, nothing_left(case, lost) if rest is None else evaluated(rest)) for lost, rest in rests.items())
    return together(whole, list(losses))


def nothing_left(case: Case, lost: Lost) -> Evaluation:
    """Of a loss that takes a pool whole."""
    gone = [pool.role for pool, count in zip(case.pools, _counts_left(case, lost), strict=True) if count <= 0]
    roles: list[str] = [role for role in gone if role != "mixed"]
    reason = f"no {listed(roles)} machine is left" if roles else "no machine is left"
    return Evaluation("", "infeasible", reason, binding_pool=gone[0])


def lost_words(case: Case, lost: Lost) -> str:
    """``1 decode machine lost``, ``1 prefill and 1 decode machine lost``; ``2 machines lost`` of a single pool."""
    if len(case.pools) == 1:
        return f"{counted(sum(lost), 'machine')} lost"
    roles = [(pool.role, count) for pool, count in zip(case.pools, lost, strict=True) if count]
    if len(roles) == 1:
        return f"{counted(roles[0][1], f'{roles[0][0]} machine')} lost"
    machines = "machine" if roles[-1][1] == 1 else "machines"
    return f"{listed([f'{count} {role}' for role, count in roles])} {machines} lost"


def any_lost_words(failures: int) -> str:
    """`` with any 1 machine lost``; nothing where none must be survived."""
    return f" with any {counted(failures, 'machine')} lost" if failures else ""
