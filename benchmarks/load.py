"""How much a cluster works off, so that a case can be asked for at a share of it."""

from __future__ import annotations

import json
from functools import cache

import numpy as np

from benchmarks.cases import BenchCase
from simcore.engine.compile import compile_case
from simcore.engine.fast import cluster as fast
from simcore.fluid import WorkloadStatistics, capacity_bound
from simcore.latency.curve import PS_PER_S
from simcore.spec import decode_case
from simcore.traces import Trace
from simcore.traces.synthetic import SyntheticSpec, generate

OFFERED = 10_000


def trace_of(bench: BenchCase) -> Trace:
    """Poisson arrivals of the case's mix at its load."""
    return generate(SyntheticSpec(bench.mix, rate_req_per_s=rate_of(bench), requests=bench.requests))


def rate_of(bench: BenchCase) -> float:
    """The case's load of what its cluster works off."""
    saturation = saturation_req_per_s(json.dumps(bench.saturates or bench.case), bench.mix)
    return bench.load_percent / 100 * bench.copies * saturation


@cache
def saturation_req_per_s(case_json: str, mix: str) -> float:
    """Saturation throughput: requests finished a second, over the middle eight tenths of the finishes, where requests
    arrive at the fluid bound, which no cluster keeps up with."""
    case = decode_case(json.loads(case_json))
    bound = capacity_bound(case, WorkloadStatistics.of(generate(SyntheticSpec(mix, requests=OFFERED))))
    trace = generate(SyntheticSpec(mix, rate_req_per_s=bound, requests=OFFERED))
    finish_ps = np.sort(fast.run(compile_case(case, trace)).requests.finish_ps)
    first, last = OFFERED // 10, OFFERED * 9 // 10
    return (last - first) * PS_PER_S / float(finish_ps[last] - finish_ps[first])
