"""Cases, and runs written by hand: what metrics read of an engine, without one."""

from typing import Any

import numpy as np

from simcore.engine.compile import compile_case
from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import FINISHED, NEVER, CountedGaps, ReplicaResults, RequestResults, RunResult
from simcore.spec import Case, decode_case
from simcore.traces import PS_PER_S, Trace

CURVE = {
    "source": "curve",
    "tokens": [1, 1000],
    "prefill_s": [0.1, 0.1],
    "decode_s": [0.02, 0.02],
    "hybrid_s": [0.1, 0.1],
}
"""Every prefill takes 0.1 s, every decode 0.02 s, whatever the batch."""


def case(**changes: Any) -> Case:
    """One DGX-H100 running Llama-2-7B at TP8 on ``CURVE``, judged by TTFT alone."""
    plain = {
        "model": "llama2-7b",
        "pools": [{"role": "mixed", "machine": "dgx-h100", "machines": 1, "tensor_parallel": 8}],
        "scheduler": {"kind": "sarathi"},
        "latency": CURVE,
        "slo": {"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 99, "limit": 1.0}]},
    }
    return decode_case({**plain, **changes})


def trace(arrival_s: list[float], prompt: list[int], output: list[int]) -> Trace:
    return Trace.of("by hand", [round(t * PS_PER_S) for t in arrival_s], prompt, output)


def inputs_of(asked: Case, requests: Trace, window: tuple[int, int] | None = None) -> ClusterInputs:
    return compile_case(asked, requests, window)


def ps(seconds: list[float]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([NEVER if t == NEVER else round(t * PS_PER_S) for t in seconds], np.int64)


def run_result(
    started: list[float],
    first: list[float],
    finish: list[float],
    gaps: dict[float, int] | None = None,
    status: list[int] | None = None,
    energy_j: list[float] | None = None,
    replicas: dict[str, Any] | None = None,
) -> RunResult:
    """A run on one replica: absolute seconds, -1 for never; ``gaps``: seconds -> how often."""
    size, gaps = len(started), gaps or {}
    zeros = np.zeros(size, np.int64)
    states = np.array(status or [FINISHED] * size, np.int64)
    requests = RequestResults(
        states, ps(started), ps(first), ps(finish), zeros, np.where(ps(started) < 0, NEVER, 0),
        np.where(ps(started) < 0, NEVER, 0), zeros,
    )  # fmt: skip
    return RunResult(
        requests,
        replica_results(**(replicas or {})),
        CountedGaps(ps(sorted(gaps)), np.array([gaps[gap] for gap in sorted(gaps)], np.int64)),
        np.array([round(j * 1e9) for j in energy_j or []], np.int64),
        int(max(ps(finish).max(initial=0), 0)),
        int(max(ps(finish).max(initial=0), 0)),
        events=0,
    )


def replica_results(**given: Any) -> ReplicaResults:
    """One replica's counters, 0 where not given."""
    alone = ("blocked_ps", "transfer_wait_ps", "nic_busy_ps", "kv_peak_tokens", "energy_nj")
    nothing = {name: 0 if name in alone else [0, 0, 0] for name in ReplicaResults.__dataclass_fields__}
    columns = {**nothing, "bubble_ps": [[0, 0, 0, 0]], **given}
    return ReplicaResults(**{name: np.array([column], np.int64) for name, column in columns.items()})
