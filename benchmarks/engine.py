"""How fast the compiled engine is, in CPU time of one core: requests a CPU-second and nanoseconds an event of each
case, with and without the figures made of a run; and how much faster than the oracle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.cases import BenchCase
from benchmarks.load import trace_of
from benchmarks.measure import BEST_OF, best_of, report
from simcore.engine.compile import compile_case
from simcore.engine.fast import cluster as fast
from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle import cluster as oracle
from simcore.engine.outputs import RunResult
from simcore.simulation import simulate
from simcore.slo.objective import objective
from simcore.spec import decode_case

ORACLE_REQUESTS = 1000


def speeds(cases: Iterable[BenchCase], runs: int = BEST_OF) -> None:
    """A line a case; a case that is compared with another one tells their ratio as well."""
    ns_per_event: dict[str, float] = {}
    for bench in cases:
        figures = speed(bench, runs)
        ns_per_event[bench.name] = figures["ns_per_event"]
        if bench.plain in ns_per_event:
            figures["ns_per_event_over_plain"] = ns_per_event[bench.name] / ns_per_event[bench.plain]
        report("engine", case=bench.name, **figures)


def speed(bench: BenchCase, runs: int) -> dict[str, Any]:
    """A whole simulation (case compiled, requests simulated, every figure made), and the engine's part of it."""
    case, trace = decode_case(bench.case), trace_of(bench)
    goal, inputs = objective(case), compile_case(case, trace)
    engine_s, run = best_of(lambda: fast.run(inputs), runs)
    whole_s, _ = best_of(lambda: simulate(case, trace, goal), runs)
    requests = len(trace)
    return {
        "requests": requests,
        "rate_req_per_s": trace.rate_per_s,
        "busy": busy(inputs, run),
        "preemptions": int(run.requests.preemptions.sum()),
        "cpu_s": whole_s,
        "engine_cpu_s": engine_s,
        "requests_per_cpu_s": requests / whole_s,
        "events": run.events,
        "events_per_request": run.events / requests,
        "ns_per_event": whole_s / run.events * 1e9,
        "engine_ns_per_event": engine_s / run.events * 1e9,
    }


def busy(inputs: ClusterInputs, run: RunResult) -> float:
    """Share of the stages' time, to the last finish."""
    stages = sum(replica.stages for replica in inputs.replicas)
    return float(run.replicas.busy_ps.sum()) / (run.end_ps * stages)


def speed_ups(cases: Iterable[BenchCase], requests: int = ORACLE_REQUESTS) -> None:
    """Time a request of the oracle, on fewer requests, over the compiled engine's."""
    for bench in cases:
        ours, _ = best_of(partial(fast.run, inputs_of(bench)))
        theirs, _ = best_of(partial(oracle.run, inputs_of(replace(bench, requests=requests))), runs=1)
        figures = {"oracle_requests": requests, "oracle_requests_per_cpu_s": requests / theirs}
        report("oracle", case=bench.name, **figures, speed_up=theirs / requests / (ours / bench.requests))


def inputs_of(bench: BenchCase) -> ClusterInputs:
    """The case as the engines take it."""
    return compile_case(decode_case(bench.case), trace_of(bench))
