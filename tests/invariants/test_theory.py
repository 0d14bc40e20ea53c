"""The oracle against queueing theory and closed forms."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle.cluster import run
from simcore.latency.curve import PS_PER_S, IterationCurve
from tests.clusters import cluster, replica, scheduler

SERVICE_PS = PS_PER_S // 10
CONSTANT = IterationCurve((1,), (SERVICE_PS,), (SERVICE_PS,), (SERVICE_PS,), 0, 0, 0, 0)
CURVE = IterationCurve((1, 100, 1000), (900, 1000, 9100), (500, 800, 3500), (1000, 1300, 9900), 3 << 10, 70, 11, 13)
BATCHES = 20
STUDENT_T_19 = 3.88
"""99.9 % two-sided, 19 degrees of freedom: the seeds below are fixed, so a run that holds once holds always."""


def poisson(rate_per_s: float, requests: int, seed: int) -> np.ndarray:
    gaps = np.random.default_rng(seed).exponential(1 / rate_per_s, requests)
    return np.round(np.cumsum(gaps) * PS_PER_S).astype(np.int64)


def constant_service(load: float, servers: int, requests: int, seed: int) -> ClusterInputs:
    """One request at a time a replica, one iteration each: D = 0.1 s. Round robin splits nothing: one replica only."""
    inputs = cluster(scheduler("vllm", max_batch_size=1), [(0, 16, 1)] * requests, [replica(curve=CONSTANT)] * servers)
    return dataclasses.replace(inputs, arrival_ps=poisson(load * servers * PS_PER_S / SERVICE_PS, requests, seed))


def batch_means(values: np.ndarray) -> tuple[float, float]:
    """Mean and half width of its confidence interval, from the means of equal batches (the first is warm-up)."""
    means = np.array([batch.mean() for batch in np.array_split(values, BATCHES + 1)[1:]])
    return float(means.mean()), STUDENT_T_19 * float(means.std(ddof=1)) / BATCHES**0.5


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_waits_under_constant_service_are_those_of_m_d_1(load: float) -> None:
    inputs = constant_service(load, 1, 42_000, seed=1)
    waits = (run(inputs).requests.first_scheduled_ps - inputs.arrival_ps) / SERVICE_PS
    mean, half = batch_means(waits)
    assert abs(mean - load / (2 * (1 - load))) <= half
    assert half < 0.25 * mean


@pytest.mark.parametrize("servers", [1, 3])
def test_the_share_of_time_busy_is_the_offered_load(servers: int) -> None:
    inputs = constant_service(0.6, servers, 20_000, seed=2)
    result = run(inputs)
    assert result.replicas.busy_ps.sum() == 20_000 * SERVICE_PS
    assert result.replicas.busy_ps.sum() / (servers * result.end_ps) == pytest.approx(0.6, rel=0.03)


def lone_sarathi_ps(curve: IterationCurve, prompt: int, output: int, budget: int) -> tuple[int, int]:
    """First token and finish of a request alone: chunks of the budget, then decodes, by the curve's formula."""
    chunks = [(min(budget, prompt - done), done) for done in range(0, prompt, budget)]
    first = sum(curve.iteration_ps([chunk], []) for chunk in chunks)
    return first, first + sum(curve.iteration_ps([], [prompt + k]) for k in range(output - 1))


@pytest.mark.parametrize(("prompt", "output"), [(1, 1), (1, 9), (256, 2), (257, 40), (900, 17)])
def test_a_lone_request_takes_what_the_curve_says(prompt: int, output: int) -> None:
    asked, machine = [(3, prompt, output)], [replica(curve=CURVE)]
    for kind, budget in (("sarathi", 256), ("vllm", 10_000), ("splitwise_baseline", 10_000)):
        result = run(cluster(scheduler(kind, token_budget=budget), asked, machine)).requests
        first, finish = lone_sarathi_ps(CURVE, prompt, output, budget)
        assert result.first_token_ps.tolist() == [3000 + first]
        assert result.finish_ps.tolist() == [3000 + finish]


def test_stages_in_a_row_take_one_request_s_time_each() -> None:
    machine = [replica(curve=CURVE, stages=4)]
    result = run(cluster(scheduler("vllm"), [(0, 300, 5)], machine)).requests
    first, finish = lone_sarathi_ps(CURVE, 300, 5, 10_000)
    assert result.first_token_ps.tolist() == [4 * first]
    assert result.finish_ps.tolist() == [4 * finish]
