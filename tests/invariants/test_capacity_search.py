"""A capacity, found by a ladder of lengths with runs given up early, is what plain bisection by whole runs finds.

Over random small designs, workloads and SLOs. Feasibility need not be monotone in the rate: then each of several rates
holds where the next does not, and either search finds one of them.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simcore.capacity.find import LEAST_SHARE, find_capacity
from simcore.capacity.probes import Prober
from simcore.fluid.bounds import WorkloadStatistics, capacity_bound
from simcore.search.rate_grid import grid_at_most, grid_rate
from simcore.spec import Case
from simcore.traces import PS_PER_S, Trace
from tests.unit.simcore.capacity.test_give_up import slos
from tests.unit.simcore.runs import case

EXAMPLES = int(os.environ.get("PHASEPLAN_EQUALITY_EXAMPLES", "0"))


@st.composite
def designs(draw: st.DrawFn) -> Case:
    """One or two machines, together or apart."""
    kind = draw(st.sampled_from(["sarathi", "vllm", "vllm_v1", "orca", "splitwise"]))
    roles = ("prefill", "decode") if kind == "splitwise" else ("mixed",)
    pools = [
        {"role": role, "machine": "dgx-h100", "machines": draw(st.integers(1, 2)), "tensor_parallel": 8}
        for role in roles
    ]
    size = draw(st.sampled_from([4, 32]))
    return case(
        scheduler={"kind": kind, "max_batch_size": size},
        pools=pools,
        slo=draw(slos()),
        arrivals=draw(st.sampled_from(["trace", "poisson"])),
    )


@st.composite
def workloads(draw: st.DrawFn) -> Trace:
    """Some hundred requests, in bursts or not."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    requests, shape = draw(st.sampled_from([60, 200, 400])), draw(st.sampled_from([0.3, 1.0]))
    arrivals = np.cumsum(random.gamma(shape, PS_PER_S, requests)).astype(np.int64)
    return Trace.of("random", arrivals, random.integers(1, 900, requests), random.integers(1, 30, requests))


@pytest.fixture(autouse=True)
def short_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short runs of these small workloads."""
    monkeypatch.setattr("simcore.capacity.probes.SHORT_REQUESTS", 20)
    monkeypatch.setattr("simcore.search.offered_load.LEAST_REQUESTS", 150)
    monkeypatch.setattr("simcore.search.offered_load.LEAST_SECONDS", 10)


@settings(
    max_examples=EXAMPLES or 25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    derandomize=not EXAMPLES,
)
@given(designs(), workloads())
def test_a_capacity_is_what_plain_bisection_finds(asked: Case, trace: Trace) -> None:
    found = find_capacity(asked, trace)
    plain = Prober.of(asked, trace, asked.seed)
    bound = capacity_bound(asked, WorkloadStatistics.of(trace))
    lowest, highest = grid_at_most(bound * LEAST_SHARE), grid_at_most(bound)
    low, high = lowest - 1, highest + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if plain.probe(grid_rate(middle)).feasible else (low, middle)
    if found.rate_req_per_s == (grid_rate(low) if low >= lowest else 0.0):
        return
    # not monotone: what was found is such a place too, or none was as the lowest rate fails where a higher one holds
    k = grid_at_most(found.rate_req_per_s) if found.rate_req_per_s else lowest - 1
    assert k < lowest or plain.probe(grid_rate(k)).feasible
    assert k == highest or not plain.probe(grid_rate(k + 1)).feasible
