import numpy as np
import pytest

from simcore.slo.stability import stability
from simcore.traces import PS_PER_S

LONE = np.full(9000, 4 * PS_PER_S)


def queue(load, requests=9000, seed=0):
    """Arrivals and waits of one server, a service a second, exponential both (Lindley's recursion)."""
    random = np.random.default_rng(seed)
    gaps, services = random.exponential(1 / load, requests), random.exponential(1.0, requests)
    waits = np.zeros(requests)
    for i in range(1, requests):
        waits[i] = max(0.0, waits[i - 1] + services[i - 1] - gaps[i])
    lone = (services * PS_PER_S).astype(np.int64)
    return (np.cumsum(gaps) * PS_PER_S).astype(np.int64), (waits * PS_PER_S).astype(np.int64), lone


@pytest.mark.parametrize("load", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("seed", range(5))
def test_a_queue_below_its_service_rate_is_stable(load, seed):
    assert stability(*queue(load, seed=seed)).stable


@pytest.mark.parametrize("load", [1.1, 1.5, 10])
@pytest.mark.parametrize("seed", range(5))
def test_a_queue_above_its_service_rate_is_unstable(load, seed):
    assert not stability(*queue(load, seed=seed)).stable


def test_the_growth_is_what_the_overload_adds():
    arrival = np.arange(9000) * PS_PER_S
    found = stability(arrival, (arrival * 0.25).astype(np.int64), LONE)
    assert found.growth_s == pytest.approx(0.25 * 6000)
    assert not found.stable


def test_batches_filling_up_do_not_count_as_growth():
    arrival = np.arange(9000) * PS_PER_S // 100
    delay = np.minimum(arrival // 10, PS_PER_S)
    assert stability(arrival, delay, LONE).stable


def test_too_few_requests_are_not_judged():
    arrival = np.arange(29) * PS_PER_S
    found = stability(arrival, arrival, LONE[:29])
    assert found.stable
    assert not found.judged
