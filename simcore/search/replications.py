"""Which designs are worth simulating again with other seeds, and what all seeds say together.

All designs are simulated with the first seed. Of two designs whose intervals do not reach each other that one seed says
which is better; of two that are close chance may have said it, and they are compared over all seeds, which are the same
for both. No price is asked. Docs: docs/decisions/0015-replications.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simcore.evaluation import Evaluation, Loss, Replication
from simcore.survival import together

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Standing:
    """An evaluated design among those that it competes with, by the first seed."""

    kind: Hashable
    """Designs of one kind differ by counts alone: of these more machines hold more, whatever chance says."""
    machines: tuple[int, ...]
    """How many of each machine of the study."""
    capacity: float
    low: float
    high: float


def close_designs(standings: Sequence[Standing], rate_req_per_s: float, most_wins: bool = False) -> list[int]:
    """Places of the designs that chance may have put wrongly; ``most_wins``: the most capable one is the answer.

    The required rate lies within a design's interval, and no design surely holds it with no more of any machine:
    whether it is an answer is open. Two designs of different kinds, one with no more of any machine, reach each other,
    and no third surely beats either: which of them is on a frontier is open, at any price. Where the most capable wins,
    also those that reach it. A design surely beats another that uses no less of any machine where its interval lies
    above the other's.
    """
    held = [place for place, one in enumerate(standings) if one.capacity > 0]
    if not held:
        return []
    low, high = (np.array([getattr(standings[place], name) for place in held]) for name in ("low", "high"))
    no_more = _no_more_machines(np.array([standings[place].machines for place in held]))
    beaten = _by_any(no_more & (low[:, None] > high[None, :]))
    surely = _by_any(no_more & (low >= rate_req_per_s)[:, None])
    answers = (low < rate_req_per_s) & (rate_req_per_s <= high) & ~surely
    kinds = [standings[place].kind for place in held]
    apart = np.array([[first != second for second in kinds] for first in kinds])
    reach = (high[:, None] >= low[None, :]) & (high[None, :] >= low[:, None])
    pairs = no_more & apart & reach & ~beaten[:, None] & ~beaten[None, :]
    doubts = [answers, _by_any(pairs), _by_any(pairs.T)]
    if most_wins:
        best = max(range(len(held)), key=lambda i: (standings[held[i]].capacity, -i))
        reaches = high >= low[best]
        doubts.append(reaches & (reaches.sum() > 1))
    return [held[i] for i in np.flatnonzero(np.logical_or.reduce(doubts))]


def _no_more_machines(machines: NDArray[np.int64]) -> Mask:
    """[a, b]: a uses no more of any machine than b."""
    return np.asarray((machines[:, None] <= machines[None, :]).all(axis=2), bool)


def _by_any(pairs: Mask) -> Mask:
    """[b]: whether any a stands so to b."""
    return np.asarray(pairs.any(axis=0), bool)


def merged(first: Evaluation, seeds: Sequence[int], others: Sequence[Evaluation]) -> Evaluation:
    """What a design holds over all seeds: the median capacity with its run, from the least to the most; all that was
    spent. How it does at the required rate stays the first seed's."""
    every = [first, *others]
    ordered = sorted(every, key=lambda one: one.capacity_req_per_s)
    median = ordered[(len(ordered) - 1) // 2]
    return replace(
        first,
        capacity_req_per_s=median.capacity_req_per_s,
        capacity_low=ordered[0].capacity_req_per_s,
        capacity_high=ordered[-1].capacity_req_per_s,
        binding_limit=median.binding_limit,
        binding_pool=median.binding_pool,
        at_capacity=median.at_capacity,
        around=median.around,
        warnings=tuple(dict.fromkeys(warning for one in every for warning in one.warnings)),
        simulations=sum(one.simulations for one in every),
        requests_simulated=sum(one.requests_simulated for one in every),
        events=sum(one.events for one in every),
        cpu_s=sum(one.cpu_s for one in every),
        replications=tuple(_replication(seed, one) for seed, one in zip(seeds, every, strict=True)),
    )


def _replication(seed: int, found: Evaluation) -> Replication:
    return Replication(
        seed, found.capacity_req_per_s, found.capacity_low, found.capacity_high, found.binding_limit, found.binding_pool
    )


def by_first_seed(found: Evaluation) -> Evaluation:
    """As it was known before its other seeds: what the search goes by, whatever has been replicated since."""
    if not found.replications:
        return found
    if found.whole is not None:
        losses = [Loss(loss.lost, by_first_seed(loss.evaluation)) for loss in found.losses]
        first_of_all = together(by_first_seed(found.whole), losses)
        return replace(first_of_all, held_required=found.held_required, replications=())
    first = found.replications[0]
    return replace(
        found,
        capacity_req_per_s=first.capacity_req_per_s,
        capacity_low=first.low_req_per_s,
        capacity_high=first.high_req_per_s,
        binding_limit=first.binding_limit,
        binding_pool=first.binding_pool,
        replications=(),
    )
