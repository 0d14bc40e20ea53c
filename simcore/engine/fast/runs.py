"""Fast-forward: a decode-only micro-batch that goes on unchanged for several iterations is in flight as one event.

The oracle forms it anew at every boundary and finds the same members, as long as nobody finishes, nothing comes to the
replica, and its KV suffices. Iteration j of such a run takes d + j x g, where d is the first one's time and g the time
that one token more of each member's context takes. So its first k iterations end

    T(k) = start + k d + g k (k - 1) / 2,

and everything that the oracle adds up on the way has a closed form in whole numbers. The MicroBatch of a run describes
the iteration that is in progress as far as the run was followed (``start_ps``, ``duration_ps``), and how many are
to come, that one included (``steps``); ``end_ps`` is the end of the last.

A run is *stretched* when it is launched, and *folded* (its first iterations are over) when it ends, or when something
comes to the replica: what does not change the batch at once may change it at the next boundary.
"""

from __future__ import annotations

import math

from simcore.engine.fast import growth
from simcore.engine.fast.energy import add_energy
from simcore.engine.fast.flight_state import MicroBatch, flight_at
from simcore.engine.fast.group import emit_tokens_of_group
from simcore.engine.fast.group_state import group_at
from simcore.engine.fast.iteration_log import log_run
from simcore.engine.fast.jit import inlined, step
from simcore.engine.fast.names import LEAST_KV, ON_DEMAND
from simcore.engine.fast.replica_state import Replica, curve_at, work_at
from simcore.engine.fast.state import Cluster
from simcore.latency.curve import BatchKind

DECODE = int(BatchKind.DECODE)


@inlined
def stretch(cluster: Cluster, replica: Replica, flight: int) -> None:
    """Have a micro-batch that was launched stand for as many iterations as are sure to follow it unchanged."""
    batch = flight_at(cluster, flight)
    if batch.kind != DECODE or replica.stages > 1 or is_watched(cluster):
        return
    group = group_at(cluster, flight)
    steps = growth.steps_in_kv(cluster, replica, group, group.next_finish - group.step)
    if steps > 1:
        batch.steps = steps
        batch.end_ps = boundary_ps(cluster, replica, batch, steps)


@step
def is_watched(cluster: Cluster) -> bool:
    """Whether the router looks at the blocks that a run takes on its way."""
    return cluster.router == LEAST_KV and cluster.reservation == ON_DEMAND


@step
def growth_ps(cluster: Cluster, replica: Replica, batch: MicroBatch) -> int:
    """What an iteration of a run takes longer than the one before."""
    return curve_at(cluster, replica).context_ps * batch.live


@step
def boundary_ps(cluster: Cluster, replica: Replica, batch: MicroBatch, steps: int) -> int:
    """T(k): when so many iterations from the one in progress on are over."""
    growth = growth_ps(cluster, replica, batch)
    return batch.start_ps + steps * batch.duration_ps + growth * (steps * (steps - 1) // 2)


@step
def steps_over(cluster: Cluster, replica: Replica, batch: MicroBatch, now: int) -> int:
    """How many iterations of a run are over by now: the largest k with T(k) <= now, short of the last one.

    The root of the quadratic in floating point, in the form that loses nothing, then put right in whole numbers.
    """
    growth = growth_ps(cluster, replica, batch)
    passed = now - batch.start_ps
    linear = batch.duration_ps - growth / 2
    root = math.sqrt(linear * linear + 2.0 * growth * passed)
    steps = 0 if linear + root <= 0 else int(2.0 * passed / (linear + root))
    steps = max(min(steps, batch.steps - 1), 0)
    while steps > 0 and boundary_ps(cluster, replica, batch, steps) > now:
        steps -= 1
    while steps < batch.steps - 1 and boundary_ps(cluster, replica, batch, steps + 1) <= now:
        steps += 1
    return steps


@step
def fold(cluster: Cluster, replica: Replica, flight: int, steps: int) -> None:
    """So many iterations of a run are over, and the one after them is in progress."""
    if steps == 0:
        return
    batch = flight_at(cluster, flight)
    longer = growth_ps(cluster, replica, batch)
    end = boundary_ps(cluster, replica, batch, steps)
    add_energy(cluster, replica, batch.power_mw, batch.start_ps, end)
    log_run(cluster, replica, batch, end, steps, longer)
    first_end, gap = batch.start_ps + batch.duration_ps, batch.duration_ps + longer
    group = group_at(cluster, flight)
    emit_tokens_of_group(cluster, group, steps, first_end, end, gap, longer)
    growth.grow_in_run(cluster, replica, group, steps)
    count_steps(cluster, replica, batch, steps, longer)
    batch.start_ps = end
    batch.duration_ps += steps * longer
    batch.contexts += steps * batch.live
    batch.steps -= steps


@step
def count_steps(cluster: Cluster, replica: Replica, batch: MicroBatch, steps: int, growth: int) -> None:
    """The iterations after the one that was in progress, as ``micro_batch.count`` counts each."""
    work = work_at(cluster, replica, DECODE)
    more = steps * (steps + 1) // 2
    work.busy_ps += steps * batch.duration_ps + growth * more
    work.iterations += steps
    work.decode_tokens += steps * batch.live
    work.context_tokens += steps * batch.contexts + batch.live * more
    work.padding_tokens += steps * (batch.tokens - batch.live)
