"""A run and its figures take at most 64 bytes a request beyond the trace."""

import tracemalloc

import numpy as np
import pytest

from simcore.engine.compile import compile_case
from simcore.engine.fast import cluster as fast
from simcore.engine.fast.warm import warm_up
from simcore.metrics.summary import summarise
from simcore.slo.objective import objective
from simcore.traces import Trace
from tests.unit.simcore.runs import CURVE, case

REQUESTS = 500_000
MOST_BYTES = 64
FIXED_BYTES = 5 * 2**20
"""Whatever the number of requests: the first gaps, the batches' tables, a piece of the figures at a time."""
SLOS = [
    {"kind": "absolute", "limits": [{"metric": "tbt_s", "percentile": 99, "limit": 1.0}]},
    {"kind": "attainment", "share": 0.9, "ttft_s": 1.0, "tpot_s": 0.1},
]


@pytest.mark.parametrize("slo", SLOS)
def test_bytes_a_request(slo: dict[str, object]) -> None:
    rng = np.random.default_rng(3)
    arrival = np.cumsum(rng.integers(1, 100_000_000_000, REQUESTS))
    requests = Trace.of("many", arrival, rng.integers(1, 400, REQUESTS), rng.integers(1, 60, REQUESTS))
    asked = case(latency={**CURVE, "decode_seq_s": 1e-5, "context_s": 1e-8}, slo=slo)
    goal = objective(asked)
    warm_up()
    tracemalloc.start()
    try:
        inputs = compile_case(asked, requests)
        summary = summarise(asked, inputs, fast.run(inputs), goal)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert summary.finished == REQUESTS
    assert summary.tbt_s.p99 is not None
    assert peak <= FIXED_BYTES + MOST_BYTES * REQUESTS
