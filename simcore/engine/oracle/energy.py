"""Energy above idle, in nanojoules: milliwatts times whole microseconds, summed exactly."""

from __future__ import annotations

from bisect import bisect_left

from simcore.engine.oracle.state import Cluster, MicroBatch, Replica

PS_PER_US = 1_000_000
US_PER_S = 1_000_000


def add_batch_energy(cluster: Cluster, replica: Replica, batch: MicroBatch, now: int) -> None:
    """All stages of a micro-batch that ends, as far as they have come by now."""
    power = power_mw(replica.inputs.power_tokens, replica.inputs.power_mw[batch.kind], batch.tokens)
    for start in batch.starts_ps:
        add_energy(cluster, replica, power, start, min(start + batch.duration_ps, now))


def add_energy(cluster: Cluster, replica: Replica, power: int, start_ps: int, end_ps: int) -> None:
    """One stage's work from start to end, both floored to whole us; split at seconds for the cluster's series."""
    start, end = start_ps // PS_PER_US, max(start_ps, end_ps) // PS_PER_US
    replica.counters.energy_nj += power * (end - start)
    series = cluster.energy_by_second_nj
    while start < end:
        second = start // US_PER_S
        until = min(end, (second + 1) * US_PER_S)
        series.extend([0] * (second + 1 - len(series)))
        series[second] += power * (until - start)
        start = until


def power_mw(knots: tuple[int, ...], values: tuple[int, ...], tokens: int) -> int:
    """Linear between knots, rounded down to a whole mW; flat beyond both ends."""
    if tokens <= knots[0]:
        return values[0]
    if tokens >= knots[-1]:
        return values[-1]
    high = bisect_left(knots, tokens)
    low = high - 1
    rise, run = values[high] - values[low], knots[high] - knots[low]
    return values[low] + rise * (tokens - knots[low]) // run
