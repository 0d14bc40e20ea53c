"""A run that is given up could not have held its SLO, by either engine."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.capacity.give_up import wait_limits
from simcore.engine.compile import compile_case
from simcore.engine.fast import cluster as fast
from simcore.engine.oracle import cluster as oracle
from simcore.metrics.waited import window_latencies
from simcore.slo.objective import check, objective
from simcore.traces import PS_PER_S, Trace
from tests.unit.simcore.runs import CURVE, case, trace

METRICS = ("ttft_s", "tpot_s", "e2e_s", "queue_s")


@st.composite
def slos(draw):
    kind = draw(st.sampled_from(["absolute", "slowdown", "attainment"]))
    if kind == "slowdown":
        multiplier = draw(st.sampled_from([0.5, 1.0, 3.0]))
        return {"kind": kind, "reference": "dgx-h100", "reference_latency": CURVE, "multiplier": multiplier}
    if kind == "attainment":
        return {
            "kind": kind,
            "share": draw(st.sampled_from([0.5, 0.9, 0.99])),
            "ttft_s": draw(st.sampled_from([0.1, 0.3, 1.0])),
            "tpot_s": draw(st.sampled_from([0.02, 0.04, 0.1])),
        }
    chosen = draw(st.lists(st.sampled_from(METRICS), min_size=1, max_size=3, unique=True))
    limits = [
        {
            "metric": metric,
            "percentile": draw(st.sampled_from([50, 90, 99, 99.9, 100])),
            "limit": draw(st.sampled_from([0.02, 0.05, 0.1, 0.3, 1.0])),
        }
        for metric in chosen
    ]
    return {"kind": kind, "limits": limits}


@st.composite
def questions(draw):
    """A case, its requests, and the window."""
    kind = draw(st.sampled_from(["sarathi", "vllm", "vllm_v1", "orca", "request_level", "splitwise"]))
    machines = [{"machine": "dgx-h100", "machines": draw(st.integers(1, 2)), "tensor_parallel": 8} for _ in "pd"]
    roles = ("prefill", "decode") if kind == "splitwise" else ("mixed",)
    pools = [{"role": role, **machine} for role, machine in zip(roles, machines, strict=False)]
    asked = case(
        scheduler={"kind": kind, "max_batch_size": draw(st.sampled_from([2, 8]))}, pools=pools, slo=draw(slos())
    )
    requests = draw(st.integers(1, 60))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    rate = draw(st.sampled_from([1.0, 5.0, 20.0, 100.0]))
    arrivals = np.cumsum(random.exponential(PS_PER_S / rate, requests)).astype(np.int64)
    load = Trace.of("random", arrivals, random.integers(1, 900, requests), random.integers(1, 30, requests))
    return asked, load, (requests // 10, requests - requests // 10)


@settings(max_examples=60, deadline=None)
@given(questions())
def test_what_is_given_up_does_not_hold(question):
    asked, load, window = question
    goal = objective(asked)
    whole = compile_case(asked, load, window)
    limits = wait_limits(goal, load, window)
    run = oracle.run(whole)
    limited = dataclasses.replace(whole, wait_limits=limits)
    stopped, fast_stopped = oracle.run(limited), fast.run(limited)
    assert fast_stopped.gave_up == stopped.gave_up
    outcome = check(goal, window_latencies(whole, run, window))
    if stopped.gave_up:
        assert not outcome.met
        assert np.array_equal(stopped.requests.status, fast_stopped.requests.status)
        assert np.array_equal(stopped.requests.prefill_replica, fast_stopped.requests.prefill_replica)
        assert stopped.busy_until_ps <= run.busy_until_ps
    else:
        for name, column in dataclasses.asdict(run.requests).items():
            assert np.array_equal(column, getattr(stopped.requests, name)), name
            assert np.array_equal(column, getattr(fast_stopped.requests, name)), name
        # misses of gaps aside, every miss of a limit over requests that all finished is found
        assert outcome.met or asked.slo.kind == "attainment"


def test_a_queue_that_grows_ends_the_run_soon():
    asked = case(slo={"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 90, "limit": 1.0}]})
    load = trace([0.01 * i for i in range(1000)], [100] * 1000, [50] * 1000)
    window = (100, 900)
    inputs = compile_case(asked, load, window)
    limited = dataclasses.replace(inputs, wait_limits=wait_limits(objective(asked), load, window))
    stopped = fast.run(limited)
    assert stopped.gave_up
    assert stopped.busy_until_ps < fast.run(inputs).busy_until_ps / 3


@pytest.mark.parametrize(("late", "given_up"), [(10, False), (11, True)])
def test_a_p90_allows_a_tenth_of_the_window(late, given_up):
    """One request a second on a server that takes 0.1 s; the last ones come at once and wait, all but the first."""
    asked = case(
        scheduler={"kind": "request_level", "max_batch_size": 1},
        slo={"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 90, "limit": 0.1}]},
    )
    times = [*map(float, range(99 - late)), *[200.0] * (late + 1)]
    load = trace(times, [10] * 100, [1] * 100)
    window = (0, 100)
    limited = dataclasses.replace(
        compile_case(asked, load, window), wait_limits=wait_limits(objective(asked), load, window)
    )
    assert oracle.run(limited).gave_up == given_up
