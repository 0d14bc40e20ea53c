"""Energy above idle, in nanojoules: milliwatts times whole microseconds, summed exactly."""

from __future__ import annotations

import numpy as np

from simcore.engine.fast.curve import segment
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import Int64
from simcore.engine.fast.state import Cluster, Replica
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
    return np.ascontiguousarray(np.concatenate([np.array([tokens, *mw], np.int64) for tokens, mw in powers], axis=1))


@step
def power_mw(knots: Int64, first: int, count: int, kind: int, tokens: int) -> int:
    """Linear between knots, rounded down to a whole mW; flat beyond both ends."""
    last = first + count - 1
    if tokens <= knots[0, first]:
        return int(knots[1 + kind, first])
    if tokens >= knots[0, last]:
        return int(knots[1 + kind, last])
    high = segment(knots, first, count, tokens)
    start, value = int(knots[0, high - 1]), int(knots[1 + kind, high - 1])
    rise, run = int(knots[1 + kind, high]) - value, int(knots[0, high]) - start
    return value + rise * (tokens - start) // run


@step
def add_energy(cluster: Cluster, replica: Replica, power: int, start_ps: int, end_ps: int) -> None:
    """One stage's work from start to end, each floored to a whole us; split at whole seconds for the cluster's series."""
    start, end = start_ps // PS_PER_US, end_ps // PS_PER_US
    replica.energy_nj += power * (end - start)
    while start < end:
        second = start // US_PER_S
        until = min(end, (second + 1) * US_PER_S)
        cluster.energy_by_second_nj[second] += power * (until - start)
        cluster.progress[0].seconds = max(cluster.progress[0].seconds, second + 1)
        start = until


@step
def add_batch_energy(cluster: Cluster, replica: Replica, flight: int) -> None:
    """All stages of a micro-batch that ends: only now is its last second certain to be in the series."""
    batch = cluster.flights[replica.index, flight]
    for stage in range(replica.stages):
        start = int(cluster.stage_start_ps[replica.index, flight, stage])
        add_energy(cluster, replica, batch.power_mw, start, start + batch.duration_ps)
