"""Energy above idle, in nanojoules: milliwatts times whole microseconds, summed exactly."""

from __future__ import annotations

import numpy as np

from simcore.engine.fast.curve import between, knot_tokens, knot_value, segment
from simcore.engine.fast.flight_state import flight_at, start_on
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import Int64, numbers, quotient
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.state import Cluster
from simcore.engine.inputs import ReplicaInputs

PS_PER_US = 1_000_000
US_PER_S = 1_000_000
PS_PER_S = PS_PER_US * US_PER_S

Power = tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]


def power_of(replica: ReplicaInputs) -> Power:
    """What replicas with equal power share."""
    return replica.power_tokens, replica.power_mw


def power_knot_array(powers: list[Power]) -> Int64:
    """The knots of all powers one after another: tokens, then mW in prefill, decode and hybrid."""
    knots = [zip(tokens, *mw, strict=True) for tokens, mw in powers]
    return np.array([number for power in knots for knot in power for number in knot], np.int64)


@step
def power_mw(knots: int, first: int, count: int, kind: int, tokens: int) -> int:
    """Linear between knots, rounded down to a whole mW; flat beyond both ends."""
    last = first + count - 1
    if tokens <= knot_tokens(knots, first):
        return knot_value(knots, first, kind)
    if tokens >= knot_tokens(knots, last):
        return knot_value(knots, last, kind)
    return between(knots, segment(knots, first, count, tokens), kind, tokens)


@step
def add_energy(cluster: Cluster, replica: Replica, power: int, start_ps: int, end_ps: int) -> None:
    """One stage's work from start to end, both floored to whole us; split at seconds for the cluster's series."""
    start, end = quotient(start_ps, PS_PER_US), quotient(max(start_ps, end_ps), PS_PER_US)
    replica.energy_nj += power * (end - start)
    second = quotient(start, US_PER_S)
    while start < end:
        until = min(end, (second + 1) * US_PER_S)
        numbers(cluster.energy_by_second_nj)[second] += power * (until - start)
        start, second = until, second + 1
        cluster.seconds = max(cluster.seconds, second)


@step
def add_batch_energy(cluster: Cluster, replica: Replica, flight: int, now: int) -> None:
    """All stages of a micro-batch that ends, as far as they have come by now (only now is its last second certain to be
    in the series)."""
    batch = flight_at(cluster, flight)
    for stage in range(replica.stages):
        start = start_on(cluster, flight, batch, stage)
        add_energy(cluster, replica, batch.power_mw, start, min(start + batch.duration_ps, now))
