"""How much a cluster works off, so that a case can be asked for at a share of it."""

from __future__ import annotations

import json
from functools import cache

import numpy as np

from benchmarks.cases import BenchCase
from simcore.engine.compile import compile_case
from simcore.engine.fast import cluster as fast
from simcore.fluid.bounds import WorkloadStatistics, capacity_bound
from simcore.latency.curve import PS_PER_S
from simcore.spec import decode_case
from simcore.traces import Trace
from simcore.traces.arrivals import MOST_REQUESTS
from simcore.traces.synthetic import SyntheticSpec, generate

OFFERED = 10_000


def trace_of(bench: BenchCase) -> Trace:
    """Poisson arrivals of the case's mix at its load; what is too long to be generated at once by parts, each with a
    seed of its own."""
    sizes = [min(MOST_REQUESTS, bench.requests - done) for done in range(0, bench.requests, MOST_REQUESTS)]
    rate = rate_of(bench)
    parts = [generate(SyntheticSpec(bench.mix, rate, size, seed=seed)) for seed, size in enumerate(sizes)]
    ends = np.cumsum([0, *(part.arrival_ps[-1] for part in parts[:-1])])
    return Trace.of(
        f"{bench.mix} mix",
        np.concatenate([part.arrival_ps + end for part, end in zip(parts, ends, strict=True)]),
        np.concatenate([part.prompt_tokens for part in parts]),
        np.concatenate([part.output_tokens for part in parts]),
    )


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
