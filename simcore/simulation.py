"""One run of a case on a trace, measured; by either engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from simcore.clock import check_clock
from simcore.engine.compile import compile_case
from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import RunResult
from simcore.metrics.summary import Summary, summarise
from simcore.slo.objective import Objective
from simcore.spec import Case
from simcore.traces import Trace

EngineName = Literal["fast", "oracle"]
Engine = Callable[[ClusterInputs], RunResult]


@dataclass(frozen=True)
class Simulation:
    """A run with what it was made of."""

    inputs: ClusterInputs
    run: RunResult
    summary: Summary
    wall_s: float
    """The engine alone."""


def engine(name: EngineName) -> Engine:
    """The engine of that name; ``fast`` is compiled on first use."""
    if name == "oracle":
        from simcore.engine.oracle import cluster as oracle

        return oracle.run
    from simcore.engine.fast import cluster as fast

    return fast.run


def simulate(
    case: Case, trace: Trace, goal: Objective, window: tuple[int, int] | None = None, name: EngineName = "fast"
) -> Simulation:
    """Run the case on the trace as it is and measure ``window`` (default: all requests). SpecError, TraceError."""
    inputs = compile_case(case, trace, window)
    check_clock(inputs)
    run_engine = engine(name)
    start = time.perf_counter()
    run = run_engine(inputs)
    wall_s = time.perf_counter() - start
    return Simulation(inputs, run, summarise(case, inputs, run, goal, window), wall_s)


def middle(requests: int) -> tuple[int, int]:
    """The window of capacity: the middle 10 to 90 % of arrivals."""
    return requests // 10, requests - requests // 10
