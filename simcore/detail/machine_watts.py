"""What each machine draws, second by second, from the micro-batches that the engine logs.

A micro-batch draws its stage's power above idle (``ReplicaInputs.power_mw``, by its kind and tokens) from its start to
its end, on the machines of its replica; host and idle accelerators draw theirs all the time. Its sum over all machines
is the run's own drawn power.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simcore.catalogue import resolve_machine
from simcore.engine.inputs import ClusterInputs, ReplicaInputs
from simcore.engine.outputs import IterationLog
from simcore.fleet import pool_machines, spanned
from simcore.latency.curve import PS_PER_S
from simcore.power import idle_w
from simcore.spec import Case, PoolSpec

MW_PER_W = 1000
Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


def machine_watts(case: Case, inputs: ClusterInputs, log: IterationLog, seconds: tuple[int, int]) -> list[Float64]:
    """By pool: [machine, second] over the whole seconds [first, last) of the run, which the log covers."""
    above = replica_watts(inputs, log, seconds)
    found = []
    for index, pool in enumerate(case.pools):
        members = [place for place, replica in enumerate(inputs.replicas) if replica.pool == index]
        found.append(_on_machines(pool, above[members]) + idle_w(resolve_machine(pool.machine)))
    return found


def replica_watts(inputs: ClusterInputs, log: IterationLog, seconds: tuple[int, int]) -> Float64:
    """[replica, second]: watts above idle."""
    first, last = seconds
    watts = np.zeros((len(inputs.replicas), last - first))
    drawn_w = _drawn_w(inputs, log)
    begins = np.maximum(log.start_ps // PS_PER_S, first)
    ends = np.minimum(-(-log.end_ps // PS_PER_S), last)
    spans = np.maximum(ends - begins, 0)  # seconds that each touches
    row = np.repeat(np.arange(len(spans)), spans)
    second = begins[row] + np.arange(len(row)) - np.repeat(np.cumsum(spans) - spans, spans)
    within = np.minimum(log.end_ps[row], (second + 1) * PS_PER_S) - np.maximum(log.start_ps[row], second * PS_PER_S)
    np.add.at(watts, (log.replica[row], second - first), drawn_w[row] * within / PS_PER_S)
    return watts


def _drawn_w(inputs: ClusterInputs, log: IterationLog) -> Float64:
    """Above idle, of each micro-batch while it runs; replicas of a pool draw alike."""
    drawn = np.zeros(len(log.replica))
    pools = np.array([replica.pool for replica in inputs.replicas])[log.replica]
    alike: dict[int, ReplicaInputs] = {replica.pool: replica for replica in inputs.replicas}
    for pool, replica in alike.items():
        for kind, knots in enumerate(replica.power_mw):
            rows = (pools == pool) & (log.kind == kind)
            drawn[rows] = np.interp(log.tokens[rows], replica.power_tokens, knots) / MW_PER_W
    return drawn


def _on_machines(pool: PoolSpec, replicas: Float64) -> Float64:
    """Replicas fill machines in order; one that spans several draws from each alike."""
    machine, count = resolve_machine(pool.machine), pool_machines(pool)
    if (span := spanned(pool)) > 1:
        place = np.arange(len(replicas) * span)
        return _placed(np.repeat(replicas, span, axis=0) / span, place, count)
    per_machine = machine.accelerators // (pool.tensor_parallel * pool.pipeline_parallel)
    return _placed(replicas, np.arange(len(replicas)) // per_machine, count)


def _placed(watts: Float64, machine: Int64, count: int) -> Float64:
    total = np.zeros((count, watts.shape[1]))
    np.add.at(total, machine, watts)
    return total
