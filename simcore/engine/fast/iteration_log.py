"""The micro-batches of a stretch of time, one after another: what each was and when. Off unless it is asked for.

A run of iterations (``runs.py``) is one row, which is written out after the simulation; the table does not grow while
compiled code works. Rows that it has no room for are counted, and the run is simulated once more with room for them:
engines give the same bits each time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.flight_state import MicroBatch
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import Int64, row_of, table
from simcore.engine.fast.memory import Memory
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.state import Cluster
from simcore.engine.outputs import IterationLog, log_in_order

FIRST_ROWS = 65_536


class LoggedRun:
    """Iterations of one batch, one after another; mostly one."""

    replica: int
    start_ps: int
    end_ps: int
    """Of the last."""
    kind: int
    tokens: int
    decodes: int
    steps: int
    duration_ps: int
    """Of the first of several, and"""
    growth_ps: int
    """how much longer each takes than the one before."""


logged_row = row_of(LoggedRun)


@step
def log_iteration(cluster: Cluster, replica: Replica, batch: MicroBatch, now: int) -> None:
    """A micro-batch that ends now."""
    log_run(cluster, replica, batch, now, 1, 0)


@step
def log_run(cluster: Cluster, replica: Replica, batch: MicroBatch, end_ps: int, steps: int, growth_ps: int) -> None:
    """The first so many iterations of a run."""
    if batch.start_ps >= cluster.log_until_ps or end_ps <= cluster.log_from_ps:
        return
    if cluster.log_rows < cluster.log_room:
        row = logged_row(cluster.log, cluster.log_rows)
        row.replica, row.kind, row.tokens, row.decodes = replica.index, batch.kind, batch.tokens, batch.live
        row.start_ps, row.end_ps, row.steps = batch.start_ps, end_ps, steps
        row.duration_ps, row.growth_ps = batch.duration_ps, growth_ps
    cluster.log_rows += 1


def put_log(memory: Memory, log_ps: tuple[int, int], rows: int) -> None:
    """Room for the log of one run; none where none is asked for."""
    room = rows if log_ps[1] > log_ps[0] else 0
    memory.put("log", table(LoggedRun, room))
    memory.fix("log_room", room)
    memory.fix("log_from_ps", log_ps[0])
    memory.fix("log_until_ps", log_ps[1] if room else -1)


def log_of(memory: Memory) -> IterationLog:
    """One entry an iteration, as the oracle has them."""
    rows = memory.tables["log"][: memory.get("log_rows")]
    starts_ps, ends_ps, row = _steps_of(rows)
    under_way = (starts_ps < memory.get("log_until_ps")) & (ends_ps > memory.get("log_from_ps"))
    of_row = {name: np.array(rows[name], np.int64)[row] for name in ("replica", "kind", "tokens", "decodes")}
    columns = of_row | {"start_ps": starts_ps, "end_ps": ends_ps}
    return log_in_order(**{name: column[under_way] for name, column in columns.items()})


def _steps_of(rows: NDArray[Any]) -> tuple[Int64, Int64, Int64]:
    """Start and end of each iteration, and the row that it is of: iteration j begins T(j) after the first
    (``runs.py``)."""
    row = np.repeat(np.arange(len(rows)), rows["steps"])
    step_of = np.arange(len(row)) - np.repeat(np.cumsum(rows["steps"]) - rows["steps"], rows["steps"])
    start, duration, growth = (rows[name][row] for name in ("start_ps", "duration_ps", "growth_ps"))

    def boundary_ps(steps: Int64) -> Int64:
        passed: Int64 = start + steps * duration + growth * (steps * (steps - 1) // 2)
        return passed

    single = rows["steps"][row] == 1
    ends = np.where(single, rows["end_ps"][row], boundary_ps(step_of + 1))
    return boundary_ps(step_of), ends, row
