"""No capacity lies above the fluid bound, found by plain bisection of long runs that knows of no bound.

A run is finite, and its stability test is not infinitely sharp: from the window's first third to its last, requests may
be delayed by ``allowed_s`` more on average. Served in order at a rate above what can be sustained, the delays of those
that wait grow by (rate / sustained - 1) s a second, so a run may pass at up to 1 + allowed_s / (time between the
thirds) / (their share) times the bound. All requests wait for what all need; for decode machines that take no prompts
only those do that have more than one token: where half of the requests have one, 3.3 % too many pass a test for 2 %.
That is all that is allowed here. Runs are long: a short one may hide an overload, as its queue is still filling up in
the first third and is worked off after the last arrival (docs/decisions/0013-pruning-by-proof.md has an example). That
of two pools is long against what fills the memory of one, as then the other's machines turn mixed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simcore.capacity.probes import Probe, Prober
from simcore.fleet import replica_count
from simcore.fluid.bounds import capacity_bound, fluid_bound
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.search.rate_grid import grid_at_most, grid_rate
from simcore.spec import Case, decode_case
from simcore.traces import PS_PER_S, Trace
from simcore.traces.synthetic import SyntheticSpec, generate
from tests.invariants.strategies import CHUNKED, KINDS

REQUESTS, MIX_REQUESTS = 2400, 24_000
"""The latter also for two pools."""
ABOVE = 3.0
"""Searched up to this multiple of the bound."""
LOOSE = {"kind": "absolute", "limits": [{"metric": "e2e_s", "percentile": 50, "limit": 1e5}]}
"""Whatever is stable holds it."""
PLENTY = 10**9
"""Replicas of a pool that shall not bind."""
CHANCE = 1.03
"""A mix's window has its own mean request and its own rate, within so much of the whole trace's."""
EXAMPLES = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@st.composite
def cases(draw: st.DrawFn, kind: str) -> Case:
    """Small clusters on curves that rise with the batch; KV for a few requests or for many."""
    machines = [{"machine": "dgx-h100", "tensor_parallel": 8, "machines": draw(st.integers(1, 3))} for _ in range(2)]
    pools: list[dict[str, Any]] = [{"role": "mixed", **machines[0]}]
    scheduler: dict[str, Any] = {"kind": kind, "max_batch_size": draw(st.sampled_from([2, 8, 64]))}
    if kind in ("splitwise", CHUNKED):
        pools = [{"role": role, **machine} for role, machine in zip(("prefill", "decode"), machines, strict=True)]
        scheduler |= {"kind": "splitwise", "chunked": kind == CHUNKED, "mixed_pool": draw(st.booleans())}
    if kind in ("sarathi", "vllm_v1", CHUNKED):
        scheduler["token_budget"] = draw(st.sampled_from([64, 256, 2048]))
    rising = st.floats(0.0, 0.2)
    base, prefill, decode = 0.01 + draw(rising), draw(rising), draw(rising)
    curve = {
        "source": "curve",
        "tokens": [1, 256, 2048],
        "prefill_s": [base, base + prefill / 4, base + 2 * prefill],
        "decode_s": [base, base + decode, base + 8 * decode],
        "hybrid_s": [1.1 * base, 1.1 * base + prefill / 4, 1.1 * base + 2 * prefill],
        **draw(st.sampled_from([{}, {"attention_s": 1e-8, "context_s": 1e-7, "decode_seq_s": 1e-4}])),
    }
    much = 20_000 if scheduler.get("mixed_pool") else 200_000
    memory = {"kv_tokens": draw(st.sampled_from([700, 2000, much]))}
    return decode_case(
        {"model": "llama2-7b", "pools": pools, "scheduler": scheduler, "latency": curve, "memory": memory, "slo": LOOSE}
    )


@st.composite
def steady(draw: st.DrawFn, requests: int) -> Trace:
    """A few kinds of requests in turn, at equal gaps: every window's mean request is the trace's."""
    lengths = draw(st.lists(st.tuples(st.integers(1, 400), st.integers(1, 60)), min_size=1, max_size=6))
    columns = np.resize(np.array(lengths), (requests, 2))
    return Trace.of("steady", np.arange(requests) * PS_PER_S, columns[:, 0], columns[:, 1])


def bisected(prober: Prober, bound: float) -> Probe | None:
    """The highest rate that holds, for all that the search knows; None where none does."""
    low, high = grid_at_most(bound / 1000), grid_at_most(bound * ABOVE)
    most = len(prober.trace)
    if not prober.probe(grid_rate(low), most).feasible:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if prober.probe(grid_rate(middle), most).feasible else (low, middle)
    return prober.probe(grid_rate(low), most)


def passes_at_most(probe: Probe, statistics: WorkloadStatistics) -> float:
    """The highest rate that the run's stability test may let pass, by this module's argument."""
    case, replicas = probe.case, [replica_count(pool) for pool in probe.case.pools]
    fluid = fluid_bound(case, statistics)
    if len(replicas) == 1:
        return passes(probe, fluid.rate(replicas), 1.0)
    many = probe.load.output_tokens[slice(*probe.inputs.window)] >= 2
    decoding = max(float(many.mean()), 1e-9)
    if case.scheduler.mixed_pool:
        return passes(probe, fluid.rate(replicas), decoding)
    prefill, decode = (fluid.rate(only) for only in ([replicas[0], PLENTY], [PLENTY, replicas[1]]))
    return min(passes(probe, prefill, 1.0), passes(probe, decode, decoding))


def passes(probe: Probe, sustained: float, waiting: float) -> float:
    """The highest rate that may pass where so much can be sustained by what a share of the requests waits for."""
    first, last = probe.inputs.window
    arrivals, third = probe.load.arrival_ps[first:last], (last - first) // 3
    apart_s = (arrivals[-third:].mean() - arrivals[:third].mean()) / PS_PER_S
    return float(sustained * (1 + probe.judged.stability.allowed_s / apart_s / waiting))


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_no_capacity_of_a_random_design_is_above_the_bound(kind: str, data: st.DataObject) -> None:
    asked = data.draw(cases(kind))
    trace = data.draw(steady(MIX_REQUESTS if asked.scheduler.kind == "splitwise" else REQUESTS))
    assert_not_above_the_bound(asked, trace)


def assert_not_above_the_bound(asked: Case, trace: Trace) -> None:
    statistics = WorkloadStatistics.of(trace)
    found = bisected(Prober.of(asked, trace, 0), capacity_bound(asked, statistics))
    if found is not None:
        assert found.rate_req_per_s <= passes_at_most(found, statistics)


def test_only_those_that_decode_wait_for_decode_machines() -> None:
    """Half of the requests have one token: the decode machine is overloaded by 3.3 % where the mean delay grows by
    1.65 %, and not by 4 %."""
    pools = [{"role": role, "machine": "dgx-h100", "tensor_parallel": 8} for role in ("prefill", "decode")]
    scheduler = {"kind": "splitwise", "chunked": True, "token_budget": 64, "max_batch_size": 2, "mixed_pool": False}
    knots = {key: [0.01, 0.01] for key in ("prefill_s", "decode_s", "hybrid_s")}
    curve = {"source": "curve", "tokens": [1, 2048], **knots}
    asked = decode_case({"model": "llama2-7b", "pools": pools, "scheduler": scheduler, "latency": curve, "slo": LOOSE})
    columns = np.resize(np.array([(1, 1), (1, 4)]), (REQUESTS, 2))
    trace = Trace.of("half of one token", np.arange(REQUESTS) * PS_PER_S, columns[:, 0], columns[:, 1])
    statistics = WorkloadStatistics.of(trace)
    bound = capacity_bound(asked, statistics)
    assert bound == pytest.approx(2 / 3 * 200)  # a request has 1.5 steps, two of which take 10 ms together
    found = bisected(Prober.of(asked, trace, 0), bound)
    assert found is not None
    assert 1.02 * bound * 1.01 < found.rate_req_per_s <= passes_at_most(found, statistics) <= 1.0401 * bound


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mix", ["conversation", "coding"])
def test_no_capacity_of_a_real_mix_is_above_the_bound(mix: str, kind: str) -> None:
    machine = {"machine": "dgx-h100", "tensor_parallel": 4}
    pools: list[dict[str, Any]] = [{"role": "mixed", **machine}]
    scheduler: dict[str, Any] = {"kind": kind}
    if kind in ("splitwise", CHUNKED):
        pools = [{"role": role, **machine} for role in ("prefill", "decode")]
        scheduler = {"kind": "splitwise", "chunked": kind == CHUNKED}
    asked = decode_case({"model": "llama2-70b", "pools": pools, "scheduler": scheduler, "slo": LOOSE})
    trace = generate(SyntheticSpec(mix, 10.0, MIX_REQUESTS, seed=3))
    statistics = WorkloadStatistics.of(trace)
    bound = capacity_bound(asked, statistics)
    found = bisected(Prober.of(asked, trace, 0), bound)
    assert found is not None
    assert math.isfinite(bound)
    assert 0.1 * bound < found.rate_req_per_s <= CHANCE * passes_at_most(found, statistics)
