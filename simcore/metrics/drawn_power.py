"""Power that all machines of a case drew in a run, idle and host included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simcore.catalogue import resolve_machine
from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import RunResult
from simcore.fleet import pool_machines
from simcore.latency.curve import PS_PER_S
from simcore.power import idle_w as machine_idle_w
from simcore.slo.distribution import exact_sum, mean_of, percentile
from simcore.slo.latencies import Float64
from simcore.spec import Case

NJ_PER_J = 1_000_000_000


@dataclass(frozen=True)
class DrawnPower:
    """Energy of the whole run; watts over the window's time."""

    energy_j: float
    """First arrival to the end of the last iteration: the last finish, unless requests are left over."""
    mean_w: float
    p99_w: float
    """Of 1 s averages of the cluster."""
    idle_w: float
    """All machines with nothing to do."""


def idle_w(case: Case) -> float:
    """Host and idle accelerators of all machines of all pools, used by a replica or not."""
    return sum(pool_machines(pool) * machine_idle_w(resolve_machine(pool.machine)) for pool in case.pools)


def drawn_power(case: Case, inputs: ClusterInputs, run: RunResult, window: tuple[int, int] | None) -> DrawnPower:
    """Idle power for the run's duration and, on top, what the engine counted above idle, second by second.

    ``window`` None: mean = energy / (first arrival to the end of the run), and the seconds from the one of the first
    arrival to the last whole one. A window: the whole seconds between its first and last arrival (all of the run where
    there is none).
    """
    idle = idle_w(case)
    start_ps, end_ps = int(inputs.arrival_ps[0]), max(run.busy_until_ps, int(inputs.arrival_ps[0]))
    duration_s = (end_ps - start_ps) / PS_PER_S
    above_j = exact_sum(run.energy_by_second_nj) / NJ_PER_J
    energy_j = idle * duration_s + above_j
    mean_w = energy_j / duration_s if duration_s else idle
    if window is None:
        seconds = _seconds_w(run, start_ps // PS_PER_S, end_ps // PS_PER_S)
    else:
        arrivals = inputs.arrival_ps[slice(*window)]
        seconds = _seconds_w(run, -(-int(arrivals[0]) // PS_PER_S), int(arrivals[-1]) // PS_PER_S)
        mean_w = idle + mean_of(seconds) if len(seconds) else mean_w
    return DrawnPower(energy_j, mean_w, idle + percentile(seconds, 99) if len(seconds) else mean_w, idle)


def _seconds_w(run: RunResult, start_s: int, end_s: int) -> Float64:
    """Watts above idle of the whole seconds [start, end); a second beyond the last entry drew none."""
    known = run.energy_by_second_nj[start_s:end_s]
    return np.concatenate([known, np.zeros(max(end_s - start_s - len(known), 0), np.int64)]) / NJ_PER_J
