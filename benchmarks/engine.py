"""How fast the compiled engine is, in CPU time: a scheduler's nanoseconds an event and requests a CPU-second, its
speed-up over the oracle, and what compiling costs cold and cached. An event is an arrival, a micro-batch or a transfer.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from simcore.engine.compile import compile_case
from simcore.engine.fast import cluster as fast
from simcore.engine.fast.warm import warm_up
from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle import cluster as oracle
from simcore.engine.outputs import RunResult
from simcore.spec import decode_case
from simcore.traces.synthetic import SyntheticSpec, generate

REQUESTS, ORACLE_REQUESTS, BEST_OF = 10_000, 500, 5

Case = tuple[dict[str, object], float]


def one_replica(kind: str) -> dict[str, object]:
    """BLOOM-176B on one DGX H100, Splitwise's measurements."""
    pool = {"role": "mixed", "machine": "dgx-h100", "machines": 1, "tensor_parallel": 8}
    return {"model": "bloom-176b", "pools": [pool], "scheduler": {"kind": kind}, "latency": {"source": "measured"}}


def many_machines(kind: str, machines: dict[str, int], **options: object) -> dict[str, object]:
    """The same on a cluster: so many DGX H100 a role."""
    pools = [{"role": role, "machine": "dgx-h100", "machines": n, "tensor_parallel": 8} for role, n in machines.items()]
    scheduler = {"kind": kind, **options}
    return {"model": "bloom-176b", "pools": pools, "scheduler": scheduler, "latency": {"source": "measured"}}


CASES: dict[str, Case] = {
    "sarathi, 1 machine, 1.5 requests/s": (one_replica("sarathi"), 1.5),
    "vllm, 1 machine, 1.5 requests/s": (one_replica("vllm"), 1.5),
    "vllm_v1, 1 machine, 1.5 requests/s": (one_replica("vllm_v1"), 1.5),
    "orca, 1 machine, 1.5 requests/s": (one_replica("orca"), 1.5),
    "request_level, 1 machine, 0.4 requests/s": (one_replica("request_level"), 0.4),
    "splitwise_baseline, 20 machines, 30 requests/s": (many_machines("splitwise_baseline", {"mixed": 20}), 30.0),
    "splitwise, 12 + 8 machines, 35 requests/s": (many_machines("splitwise", {"prefill": 12, "decode": 8}), 35.0),
    "splitwise, 25 + 15 machines, 70 requests/s": (many_machines("splitwise", {"prefill": 25, "decode": 15}), 70.0),
    "splitwise chunked and sent by chunk, 25 + 15 machines, 70 requests/s": (
        {
            **many_machines("splitwise", {"prefill": 25, "decode": 15}, chunked=True, token_budget=1024),
            "kv_transfer": {"mode": "chunkwise"},
        },
        70.0,
    ),
}


def main() -> None:
    """Print one line of JSON a figure."""
    report(benchmark="calibration loop", cpu_s=best_of(calibration_loop)[0])
    compile_times()
    warm_up()
    for name, (case, rate) in CASES.items():
        report(benchmark="engine", case=name, **speed(inputs_of(case, rate, REQUESTS)))
        report(benchmark="oracle", case=name, **speed_up(inputs_of(case, rate, ORACLE_REQUESTS)))


def report(**figures: object) -> None:
    """One line; numbers to four digits."""
    rounded = {name: float(f"{value:.4g}") if isinstance(value, float) else value for name, value in figures.items()}
    print(json.dumps(rounded), flush=True)


def inputs_of(case: dict[str, object], rate: float, requests: int) -> ClusterInputs:
    """A case on the conversation mix."""
    trace = generate(SyntheticSpec("conversation", rate_req_per_s=rate, requests=requests))
    return compile_case(decode_case(case), trace)


def speed(inputs: ClusterInputs) -> dict[str, object]:
    """CPU time of the best of some runs, an event and a request; how loaded the machines were."""
    cpu_s, run = best_of(lambda: fast.run(inputs))
    count = events(inputs, run)
    stages = sum(replica.stages for replica in inputs.replicas)
    busy = float(run.replicas.busy_ps.sum()) / (run.end_ps * stages)
    return {"cpu_s": cpu_s, "events": count, "ns_per_event": cpu_s / count * 1e9,
            "requests_per_cpu_s": len(inputs.arrival_ps) / cpu_s, "busy": busy}  # fmt: skip


def speed_up(inputs: ClusterInputs) -> dict[str, object]:
    """Against the oracle, on fewer requests."""
    ours, _ = best_of(lambda: fast.run(inputs))
    theirs, _ = best_of(lambda: oracle.run(inputs), runs=1)
    return {"cpu_s": theirs, "speed_up": theirs / ours}


def events(inputs: ClusterInputs, run: RunResult) -> int:
    """Arrivals, micro-batches and transfers."""
    sent = (run.requests.prefill_replica != run.requests.decode_replica) & (inputs.output_tokens > 1)
    return len(inputs.arrival_ps) + int(run.replicas.iterations.sum()) + int(np.count_nonzero(sent))


def best_of(work: Callable[[], RunResult | None], runs: int = BEST_OF) -> tuple[float, RunResult]:
    """The least CPU time, and a result."""
    times = []
    result = None
    for _ in range(runs):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result  # type: ignore[return-value]


def calibration_loop() -> None:
    """Plain Python of a fixed length, so that machines can be compared."""
    total = 0
    for i in range(5_000_000):
        total += i & 7


def compile_times() -> None:
    """CPU time of a process that makes the engine ready: with an empty cache, then with what that left."""
    with tempfile.TemporaryDirectory() as folder:
        for state in ("cold", "cached"):
            report(benchmark="engine ready", cache=state, cpu_s=warm_process_cpu_s(folder))


def warm_process_cpu_s(folder: str) -> float:
    """CPU time of ``warm_up`` in a process of its own, imports included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", "from simcore.engine.fast.warm import warm_up; warm_up()"]
    root = Path(__file__).resolve().parents[1]
    subprocess.run(command, env={**os.environ, "PHASEPLAN_VAR": folder}, cwd=root, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
