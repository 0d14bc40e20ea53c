import numpy as np
import pytest

from simcore.search.offered_load import offered, replication, requests_needed, sample
from simcore.traces import PS_PER_S, Trace
from tests.unit.simcore.runs import case


def long_trace(requests=1000):
    arrivals = np.cumsum(np.tile([1, 3], requests // 2)) * PS_PER_S
    return Trace.of("long", arrivals, np.arange(requests) + 1, np.ones(requests, int))


@pytest.mark.parametrize(("rate", "expected"), [(0.1, 10_000), (83.0, 10_000), (100.0, 12_000), (0.5 + 100, 12_060)])
def test_a_run_has_ten_thousand_requests_or_two_minutes(rate, expected):
    assert requests_needed(rate) == expected


def test_a_short_trace_is_used_whole():
    trace = long_trace()
    assert sample(trace, 1000) is trace
    assert sample(trace, 5000) is trace


@pytest.mark.parametrize("size", [1, 7, 50, 333, 999])
def test_a_sample_spreads_over_the_whole_trace_and_takes_no_request_twice(size):
    found = sample(long_trace(), size)
    picked = found.prompt_tokens - 1
    assert len(found) == size
    assert len(set(picked.tolist())) == size
    assert np.all(np.diff(picked) > 0)
    if size >= 50:
        assert picked[0] == 0
        assert picked[-1] >= 980


def test_a_sample_keeps_each_requests_own_gap():
    trace = long_trace()
    found = sample(trace, 333)
    gaps = np.diff(trace.arrival_ps, prepend=trace.arrival_ps[0])
    assert np.array_equal(np.diff(found.arrival_ps), gaps[found.prompt_tokens - 1][1:])


@pytest.mark.parametrize("arrivals", ["trace", "poisson"])
def test_two_rates_offer_the_same_requests_at_scaled_times(arrivals):
    asked, trace = case(arrivals=arrivals), long_trace()
    slow, fast = (offered(trace, asked, rate, 400, seed=3) for rate in (2.0, 4.0))
    assert np.array_equal(slow.prompt_tokens, fast.prompt_tokens)
    assert np.allclose(slow.arrival_ps, 2 * fast.arrival_ps, atol=2_000_000)


def test_the_rate_of_a_part_is_the_one_asked_for():
    found = offered(long_trace(), case(), 5.0, 400, seed=0)
    assert found.rate_per_s == pytest.approx(5.0)


def test_copies_of_the_trace_are_superposed():
    found = offered(long_trace(), case(arrivals="superpose"), 5.0, 4000, seed=0)
    assert len(found) == 4000
    assert len(set(found.prompt_tokens.tolist())) == 1000


def test_a_very_low_rate_has_fewer_requests_instead_of_years():
    assert len(offered(long_trace(), case(), 1e-4, 1000, seed=0)) == 100


def test_replications_of_a_trace_are_block_bootstraps_but_for_its_own_seed():
    trace = long_trace()
    assert replication(trace, case(), 0) is trace
    assert replication(trace, case(), 1).content_hash() != trace.content_hash()
    assert replication(trace, case(arrivals="poisson"), 1) is trace
