"""What becomes of requests when machines fail in the middle of a run, and how long until those that arrive are served
as before.

The same requests as in a run at the rate. When so many of them have arrived (``FAILS_AFTER``) the last machines of a
pool fail, for the rest of the run (``simcore/engine/oracle/availability.py``: what was on them is queued again).
Measured are the requests that arrive from then on, up to 90 %.

Recovered: from when on, in every ten seconds of arrivals, no more requests are late than a limit allows, beyond chance
(``allowed`` x n + 3 standard deviations + 1). Late is beyond the limit at a metric's highest percentile; of an
attainment, beyond either. TBT over gaps is no request's and is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.capacity.probes import Prober
from simcore.catalogue import resolve_machine
from simcore.detail.late import Late, late_by_metric
from simcore.fleet import replica_count, spanned
from simcore.latency.curve import PS_PER_S
from simcore.metrics.waited import window_latencies
from simcore.simulation import EngineName, simulate
from simcore.slo.latencies import Latencies
from simcore.spec import AvailabilitySpec, Case, PoolSpec, encode
from simcore.traces import Trace

FAILS_AFTER, MEASURED_TO = 0.3, 0.9
"""Shares of the requests."""
STRETCH_S = 10
CHANCE = 3.0


def failure(
    case: Case, trace: Trace, rate_req_per_s: float, pool: int, machines: int, name: EngineName = "fast"
) -> dict[str, Any]:
    """A run at the rate in which so many machines of the pool (by its place) fail. SpecError where it cannot run."""
    probe = Prober.of(case, trace, case.seed, name).probe(rate_req_per_s)
    load = probe.load
    first, last = int(FAILS_AFTER * len(load)), int(MEASURED_TO * len(load))
    at_ps = int(load.arrival_ps[first])
    failing = _failing(case, pool, lost_replicas(case.pools[pool], machines), at_ps / PS_PER_S)
    done = simulate(failing, load, probe.goal, (first, last), name)
    latencies = window_latencies(done.inputs, done.run, (first, last))
    return {
        "lost_replicas": lost_replicas(case.pools[pool], machines),
        "met": done.summary.feasible,
        "stable": done.summary.stability.stable,
        "limits": [encode(limit) for limit in done.summary.slo.limits],
        "measured_s": (int(load.arrival_ps[last - 1]) - at_ps) / PS_PER_S,
        "requests": last - first,
        "recovered_s": recovered_s(at_ps, latencies, late_by_metric(probe.goal, latencies, done.summary.slo.limits)),
    }


def lost_replicas(pool: PoolSpec, machines: int) -> int:
    """Replicas that so many failed machines take with them at worst: a replica is lost with any machine that it spans,
    and each machine may be of another one."""
    if spanned(pool) > 1:
        return min(machines, replica_count(pool))
    per_machine = resolve_machine(pool.machine).accelerators // (pool.tensor_parallel * pool.pipeline_parallel)
    return min(machines * per_machine, replica_count(pool))


def _failing(case: Case, place: int, lost: int, at_s: float) -> Case:
    """The last replicas of the pool fail."""
    pool, count = case.pools[place], replica_count(case.pools[place])
    changes = tuple(AvailabilitySpec("failed", at_s, replica) for replica in range(count - lost, count))
    pools = tuple(replace(pool, availability=changes) if i == place else other for i, other in enumerate(case.pools))
    return replace(case, pools=pools)


def recovered_s(failed_ps: int, latencies: Latencies, late: Iterable[Late]) -> float | None:
    """Seconds from the failure on; None where it has not recovered by the last stretch, or nothing says."""
    second = (latencies.arrival_ps - failed_ps) // PS_PER_S
    seconds = int(second[-1]) + 1
    ends = [_last_bad(second, seconds, which, allowed) for which, allowed in late]
    if not ends or any(end >= seconds for end in ends):
        return None
    return float(max(ends))


def _last_bad(second: NDArray[np.int64], seconds: int, late: NDArray[np.bool_], allowed: float) -> int:
    """The end of the last stretch in which too many were late; 0 where there is none."""
    arrived = _stretches(np.bincount(second, minlength=seconds))
    missed = _stretches(np.bincount(second[late], minlength=seconds))
    most = allowed * arrived + CHANCE * np.sqrt(allowed * arrived) + 1
    bad = np.flatnonzero(missed > most)
    return int(bad[-1]) + min(STRETCH_S, seconds) if len(bad) else 0


def _stretches(by_second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums over every stretch of ten seconds, or of all there are."""
    upto = np.concatenate([[0], np.cumsum(by_second)])
    size = min(STRETCH_S, len(by_second))
    sums: NDArray[np.int64] = upto[size:] - upto[:-size]
    return sums
