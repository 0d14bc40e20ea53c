"""Memory that a run takes, as the peak resident size of a process of its own.

    python -m benchmarks.memory CASE.json COLUMNS.npz [--whole]     runs one and prints its peak and CPU time

Bytes a request are the peak at a million requests less the peak at ten thousand, over the difference in requests, less
the trace's own arrays: what is the same whatever the number of requests (Python, the compiled engine) cancels.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import FEW, MILLION, REQUESTS, BenchCase
from benchmarks.load import trace_of
from benchmarks.measure import report
from simcore.engine.compile import compile_case
from simcore.simulation import engine, simulate
from simcore.slo.objective import objective
from simcore.spec import decode_case
from simcore.traces import Trace

COLUMNS = ("arrival_ps", "prompt_tokens", "output_tokens", "cached_prompt_tokens", "max_output_tokens")
STATUS = Path("/proc/self/status")
ROOT = Path(__file__).resolve().parents[1]


def main(cases: Iterable[BenchCase], quick: bool) -> None:
    """Two lines a case: the engine alone, and with every figure made."""
    for bench in cases:
        for whole in (False, True):
            small, big = (measured(replace(bench, requests=n), whole) for n in (FEW, REQUESTS if quick else MILLION))
            requests = big["requests"] - small["requests"]
            beyond = (big["peak_bytes"] - small["peak_bytes"] - (big["trace_bytes"] - small["trace_bytes"])) / requests
            what = "simulation" if whole else "engine"
            report("memory", case=bench.name, of=what, **big, bytes_per_request_beyond_trace=beyond)


def large(bench: BenchCase) -> None:
    """One run, its time and its memory."""
    figures = measured(bench, whole=True)
    speed = figures["requests"] / figures["cpu_s"]
    report("large", case=bench.name, **figures, requests_per_cpu_s=speed)


def measured(bench: BenchCase, whole: bool) -> dict[str, Any]:
    """The case in a fresh process, which is given its trace as a file and so never generates one."""
    with tempfile.TemporaryDirectory() as folder:
        case, columns = Path(folder) / "case.json", Path(folder) / "columns.npz"
        case.write_text(json.dumps(bench.case))
        trace = trace_of(bench)
        np.savez(columns, **{name: getattr(trace, name) for name in COLUMNS})
        command = [sys.executable, "-m", "benchmarks.memory", str(case), str(columns), *(["--whole"] if whole else [])]
        printed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    figures: dict[str, Any] = json.loads(printed)
    return figures


def run_here(case_file: Path, columns_file: Path, whole: bool) -> dict[str, float]:
    """Run it in this process. The engine has come from the cache before the clock starts."""
    case = decode_case(json.loads(case_file.read_text()))
    with np.load(columns_file) as columns:
        trace = Trace("benchmark", *(columns[name] for name in COLUMNS))
    goal = objective(case)
    simulate(case, trace.first(100), goal)
    start = time.thread_time()
    if whole:
        simulate(case, trace, goal)
    else:
        engine("fast")(compile_case(case, trace))
    cpu_s = time.thread_time() - start
    return {
        "requests": len(trace),
        "cpu_s": cpu_s,
        "peak_bytes": peak_bytes(),
        "trace_bytes": sum(getattr(trace, name).nbytes for name in COLUMNS),
    }


def peak_bytes() -> int:
    """Of this program alone: getrusage's figure on Linux is also that of the program that started it."""
    if STATUS.exists():
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", type=Path)
    parser.add_argument("columns", type=Path)
    parser.add_argument("--whole", action="store_true", help="make every figure of the run as well")
    given = parser.parse_args()
    print(json.dumps(run_here(given.case, given.columns, given.whole)))
